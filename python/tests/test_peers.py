"""The benchmark beside other libraries: what is measured, not how long it takes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "peers.py"
    spec = importlib.util.spec_from_file_location("peers", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "peers", module)
    spec.loader.exec_module(module)
    return module


class Clock:
    """Time that passes only where a contestant works."""

    def __init__(self) -> None:
        self.now = 0.0

    def contestant(self, seconds: float) -> Callable[[], np.ndarray]:
        left = [1000.0]  # what only the first call does

        def call() -> np.ndarray:
            self.now += seconds + (left.pop() if left else 0.0)
            return np.ones(3)

        return call


def test_nobodys_first_call_counts(peers: ModuleType) -> None:
    clock = Clock()
    case = peers.Case(
        "median",
        clock.contestant(1.0),
        {"ByzFL": clock.contestant(20.0), "Flower": clock.contestant(30.0)},
        {"ByzFL": 20, "Flower": 40},
    )
    seconds = peers.measure(case, 1, lambda: clock.now)
    assert seconds == {"boba": 1.0, "ByzFL": 20.0, "Flower": 30.0}
    line = peers.line(case, seconds, True)
    assert "20000, 20 x |" in line and "30000, 30 x (aim missed)" in line


def test_results_that_differ_stop_it(peers: ModuleType) -> None:
    case = peers.Case("mean", lambda: np.ones(3), {"NumPy": lambda: np.full(3, 1.001)}, {})
    with pytest.raises(SystemExit, match=r"mean: boba and NumPy differ by 0.001"):
        peers.measure(case, 1, lambda: 0.0)


def test_contestants_compute_the_same(peers: ModuleType) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 300)).astype(np.float32)
    for case in peers.cases(rows, 3):
        assert peers.measure(case, 1, lambda: 0.0).keys() == {"boba", *case.peers}
