"""Every rule and attack that ByzFL has too gives its numbers, with the matching options."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch

import boba

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that it imports
    import byzfl

N, F = 21, 4
# ByzFL scores with one neighbour more than the definition.
NEIGHBOURS = N - F - 1

PAIRS: list[tuple[str, Callable[..., object], Callable[..., object]]] = [
    ("average", boba.Average(), byzfl.Average()),
    ("median", boba.Median(), byzfl.Median()),
    ("trmean", boba.TrMean(f=F), byzfl.TrMean(f=F)),
    ("trmean-0", boba.TrMean(), byzfl.TrMean()),
    ("krum", boba.Krum(f=F, neighbours=NEIGHBOURS), byzfl.Krum(f=F)),
    ("multikrum", boba.MultiKrum(f=F, neighbours=NEIGHBOURS), byzfl.MultiKrum(f=F)),
    ("geomed", boba.GeometricMedian(steps=3, nu=0.1), byzfl.GeometricMedian(nu=0.1, T=3)),
    ("geomed-nu", boba.GeometricMedian(steps=2, nu=16), byzfl.GeometricMedian(nu=16.0, T=2)),
    ("geomed-exact", boba.GeometricMedian(), byzfl.GeometricMedian(nu=1e-9, T=300)),
    ("ipm", boba.InnerProductManipulation(gamma=2), byzfl.InnerProductManipulation(tau=2.0)),
    ("alie", boba.ALittleIsEnough(z=1.5, sign="plus"), byzfl.ALittleIsEnough(tau=1.5)),
    ("signflip", boba.SignFlipping(of="mean"), byzfl.SignFlipping()),
    ("mimic", boba.Mimic(client=5), byzfl.Mimic(epsilon=5)),
    ("inf", boba.Inf(), byzfl.Inf()),
    ("gaussian", boba.Gaussian(mean=3, sigma=0), byzfl.Gaussian(mu=3.0, sigma=0.0)),
]


def relative(a: np.ndarray, b: np.ndarray) -> float:
    if np.array_equal(a, b):  # infinities among them
        return 0.0
    wide = np.asarray(b, np.float64)
    return float(np.linalg.norm(np.asarray(a, np.float64) - wide) / np.linalg.norm(wide))


@pytest.mark.parametrize(
    ("ours", "theirs"), [pair[1:] for pair in PAIRS], ids=[p[0] for p in PAIRS]
)
@pytest.mark.parametrize("kind", ["float64", "float32", "list", "torch"])
@pytest.mark.parametrize("seed", range(3))
def test_agreement(
    ours: Callable[..., object], theirs: Callable[..., object], kind: str, seed: int
) -> None:
    rows = np.random.default_rng(seed).normal(0.3, 1, size=(N, 500))
    if kind in ("float32", "torch"):
        rows = rows.astype(np.float32)  # ByzFL turns every tensor into float32
    given = {"list": list(rows), "torch": torch.from_numpy(rows)}.get(kind, rows)
    peers = {"list": list(rows.copy()), "torch": torch.from_numpy(rows.copy())}
    expected = theirs(peers.get(kind, rows.copy()))
    assert relative(np.asarray(ours(given)), np.asarray(expected)) < 1e-6


def test_even_numbers_of_clients() -> None:
    rows = np.random.default_rng(9).normal(size=(20, 300))
    assert relative(boba.Median()(rows), byzfl.Median()(rows)) < 1e-6


def test_random_attacks_agree_in_distribution() -> None:
    rows = np.zeros((3, 100_000))
    np.random.seed(1)
    ours = boba.Gaussian(mean=-1, sigma=2)(rows, seed=1)
    theirs = byzfl.Gaussian(mu=-1.0, sigma=2.0)(rows)
    assert abs(ours.mean() - theirs.mean()) < 0.05 and abs(ours.std() - theirs.std()) < 0.05


def test_buckets_of_one_and_of_all() -> None:
    rows = np.random.default_rng(9).normal(size=(6, 30))
    means = byzfl.Bucketing(s=6)(rows.copy())
    whole = boba.Bucketing(s=6) | boba.Average()
    assert relative(whole(rows), means[0]) < 1e-6
    # 7 clients in buckets of 3: both keep the last one as a bucket of its own.
    seven = np.random.default_rng(8).normal(size=(7, 30))
    assert len(byzfl.Bucketing(s=3)(seven.copy())) == 3
    keep = (boba.Bucketing(s=3, remainder="keep") | boba.Average()).aggregate(seven)
    assert len({client.bucket for client in keep.clients}) == 3
    assert keep.weights is not None and keep.weights.max() == pytest.approx(1 / 3)


def test_names_are_those_of_byzfl() -> None:
    shared = {type(pair[2]).__name__ for pair in PAIRS} | {"Bucketing"}
    assert all(hasattr(boba, name) for name in shared)
    theirs = {
        name
        for module in map(
            sys.modules.get, ("byzfl.aggregators.aggregators", "byzfl.attacks.attacks")
        )
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    # What both have is compared above; a class that boba gains has to join the list.
    assert {name for name in theirs if hasattr(boba, name)} <= shared


def test_what_byzfl_gets_wrong() -> None:
    rows = np.random.default_rng(3).normal(size=(5, 20))
    rows[2] = np.nan
    assert np.isnan(byzfl.Median()(rows)).all()
    assert np.isfinite(boba.Median()(rows)).all()
    big = 10 * np.ones((3, 4))
    before = big.copy()
    byzfl.Clipping(c=1.0)(big)
    assert not np.array_equal(big, before)  # it writes into the caller's array
