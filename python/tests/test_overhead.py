"""What Python adds to a call of the engine: the least of many, on any machine."""

from __future__ import annotations

import time

import numpy as np

import boba


def least_overhead(rule: boba.Rule, updates: object, repeats: int) -> tuple[float, float]:
    """The smallest time outside the engine, and the smallest inside."""
    outside, inside = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = rule.aggregate(updates)
        outside.append(time.perf_counter() - begin - result.seconds)
        inside.append(result.seconds)
        del result  # its memory is given back between the calls, not in the next one
    return min(outside), min(inside)


def test_a_small_round_costs_below_50_microseconds() -> None:
    rows = np.random.default_rng(0).normal(size=(10, 1000)).astype(np.float32)
    for updates in (rows, list(rows)):
        outside, _ = least_overhead(boba.Krum(f=2), updates, 500)
        assert outside < 50e-6


def test_a_large_round_costs_below_2_percent() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 1_000_000)).astype(np.float32)
    # The cheapest rule on a matrix, and a robust one on rows that are each looked at.
    for rule, updates, repeats in ((boba.Average(), rows, 30), (boba.Krum(f=10), list(rows), 5)):
        outside, inside = least_overhead(rule, updates, repeats)
        assert outside < 0.02 * inside
