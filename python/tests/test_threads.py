"""Several threads of Python aggregate at once: the interpreter's lock is free meanwhile."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import boba


def test_python_goes_on_while_the_engine_works() -> None:
    # One call that takes long; were the lock held, the counter could not move during it.
    rows = np.random.default_rng(0).normal(size=(120, 400_000)).astype(np.float32)
    ticks: list[float] = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        begin = time.perf_counter()
        result = boba.aggregate(rows, "krum(f=5)", threads=1)
        end = time.perf_counter()
    finally:
        done.set()
        counter.join()
    inside = [tick for tick in ticks if begin < tick < end]
    assert result.seconds > 0.02
    assert len(inside) > 5


def test_two_calls_overlap() -> None:
    # Each waits for the other inside its oracle: with the lock held they would never meet.
    meeting = threading.Barrier(2, timeout=30)

    class Oracle:
        def loss(self, w: np.ndarray) -> float:
            meeting.wait()
            return float(w @ w)

    rows = np.eye(3)

    def run(_: int) -> np.ndarray:
        return boba.aggregate(
            rows, "zeno(f=1)", model=np.zeros(3), learning_rate=0.1, oracle=Oracle()
        ).vector

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    np.testing.assert_array_equal(first, second)


def test_many_threads_agree() -> None:
    rng = np.random.default_rng(4)
    rounds = [rng.normal(size=(12, 20_000)).astype(np.float32) for _ in range(4)]
    rules = [boba.Krum(f=2), boba.Median(), boba.GeometricMedian(), boba.Average()]
    expected = [[rule(rows) for rows in rounds] for rule in rules]

    def work(seed: int) -> bool:
        order = np.random.default_rng(seed)
        for _ in range(40):
            i, k = order.integers(4), order.integers(4)
            if not np.array_equal(rules[i](rounds[k], threads=1 + seed % 3), expected[i][k]):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
