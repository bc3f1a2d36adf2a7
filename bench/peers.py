"""Times boba's Python package beside ByzFL, Flower and NumPy, on the same arrays.

    build/python-venv/bin/python bench/peers.py [--n N] [--d D] [--f F] [--repeats R] [--clock cpu]

Each repeat runs all contestants of a rule one after the other, so that what else the machine does
meets them alike; the table has the medians, and the results are compared. Aims: 20 times ByzFL for
Krum, Multi-Krum and the median, 10 times for the trimmed mean and the geometric median; 10 times
Flower; at most 1.2 times NumPy's mean.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

import boba

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that ByzFL imports
    import byzfl
from flwr.server.strategy import aggregate as flower

Call = Callable[[], Any]


@dataclass
class Case:
    """A rule and who else computes it; the aim is the least ratio to each."""

    name: str
    ours: Call
    peers: dict[str, Call]
    aims: dict[str, float]


def cases(rows: np.ndarray[Any, Any], f: int) -> list[Case]:
    """Gives the rules that peers have too, with the options that make the results equal."""
    n = len(rows)
    replies = [([row], 1) for row in rows]

    def flower_call(function: Callable[..., Any], *arguments: Any) -> Call:
        return lambda: function(replies, *arguments)[0]

    def byzfl_call(rule: Callable[[np.ndarray[Any, Any]], Any]) -> Call:
        return lambda: rule(rows)

    def call(rule: boba.Rule) -> Call:
        return lambda: rule(rows)

    near = n - f - 1  # ByzFL counts one neighbour more than the definition
    return [
        Case("average", call(boba.Average()), {"NumPy": lambda: rows.mean(0)}, {"NumPy": 1 / 1.2}),
        Case(
            "median",
            call(boba.Median()),
            {"ByzFL": byzfl_call(byzfl.Median()), "Flower": flower_call(flower.aggregate_median)},
            {"ByzFL": 20, "Flower": 10},
        ),
        Case(
            f"trimmed mean, f={f}",
            call(boba.TrMean(f=f)),
            {
                "ByzFL": byzfl_call(byzfl.TrMean(f=f)),
                "Flower": flower_call(flower.aggregate_trimmed_avg, f / n),
            },
            {"ByzFL": 10, "Flower": 10},
        ),
        Case(
            f"Krum, f={f}",
            call(boba.Krum(f=f, neighbours=near)),
            {"ByzFL": byzfl_call(byzfl.Krum(f=f))},
            {"ByzFL": 20},
        ),
        Case(
            f"Krum, f={f}, n - f - 2 neighbours",
            call(boba.Krum(f=f)),
            {"Flower": flower_call(flower.aggregate_krum, f, 0)},
            {"Flower": 10},
        ),
        Case(
            f"Multi-Krum, f={f}",
            call(boba.MultiKrum(f=f, neighbours=near)),
            {"ByzFL": byzfl_call(byzfl.MultiKrum(f=f))},
            {"ByzFL": 20},
        ),
        Case(
            "geometric median, 3 steps",
            call(boba.GeometricMedian(steps=3)),
            {"ByzFL": byzfl_call(byzfl.GeometricMedian())},
            {"ByzFL": 10},
        ),
        Case("geometric median, exact", call(boba.GeometricMedian()), {}, {}),
    ]


def measure(case: Case, repeats: int, clock: Callable[[], float]) -> dict[str, float]:
    """Gives the median seconds of each contestant, in turns."""
    contestants = {"boba": case.ours, **case.peers}
    for call in contestants.values():
        call()  # what only the first call does is nobody's speed
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        results = {}
        for name, call in contestants.items():
            # A quick call gets more turns: its median is worth as much as a slow one's.
            for _ in range(7 if name in ("boba", "NumPy") else 1):
                begin = clock()
                results[name] = call()
                seconds[name].append(clock() - begin)
        for name, result in results.items():
            wide = np.asarray(result, np.float64)
            off = np.linalg.norm(results["boba"] - wide) / np.linalg.norm(wide)
            if not off < 1e-4:
                raise SystemExit(f"{case.name}: boba and {name} differ by {off:.2g}")
    return {name: statistics.median(values) for name, values in seconds.items()}


def line(case: Case, seconds: dict[str, float], aims: bool) -> str:
    """Writes a line of the table, and where an aim was missed."""
    cells = [case.name, f"{1e3 * seconds['boba']:.1f}"]
    for name in ("ByzFL", "Flower", "NumPy"):
        if name in seconds:
            ratio = seconds[name] / seconds["boba"]
            missed = " (aim missed)" if aims and ratio < case.aims[name] else ""
            cells.append(f"{1e3 * seconds[name]:.0f}, {ratio:.3g} x{missed}")
        else:
            cells.append("")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100, help="clients")
    parser.add_argument("--d", type=int, default=1_000_000, help="numbers in an update")
    parser.add_argument("--f", type=int, default=10, help="Byzantine clients tolerated")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: processor time of all threads, for machines busy with other work",
    )
    asked = parser.parse_args()
    clock = time.perf_counter if asked.clock == "wall" else time.process_time
    rows = np.random.default_rng(0).standard_normal((asked.n, asked.d), dtype=np.float32)
    rows += np.float32(0.1)
    peers = ", ".join(f"{name} {version(name)}" for name in ("byzfl", "flwr", "numpy"))
    versions = f"boba {boba.__version__}, {peers}"
    print(f"n = {asked.n}, d = {asked.d:,}, float32, {asked.clock} time, medians")
    print(f"{versions}, Python {platform.python_version()}\n")
    print("| rule | boba, ms | ByzFL, ms | Flower, ms | NumPy, ms |\n|---|---:|---:|---:|---:|")
    for case in cases(rows, asked.f):
        seconds = measure(case, asked.repeats, clock)
        print(line(case, seconds, asked.clock == "wall"), flush=True)


if __name__ == "__main__":
    main()
