"""Rules against their definitions in plain NumPy, and what must hold for all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import boba

PROBING = ("selfrej", "avgrej", "zeno", "bygars")


def close(a: np.ndarray, b: np.ndarray) -> None:
    tolerance = 1e-12 if a.dtype == np.float64 else 1e-5
    assert np.linalg.norm(a - b) <= tolerance * np.linalg.norm(b)


def krum_scores(rows: np.ndarray, neighbours: int) -> np.ndarray:
    wide = rows.astype(np.float64)
    distances = ((wide[:, None] - wide[None]) ** 2).sum(-1)
    return np.sort(distances, 1)[:, 1 : neighbours + 1].sum(1)


def test_average(rows: np.ndarray) -> None:
    close(boba.Average()(rows), rows.mean(0, dtype=np.float64).astype(rows.dtype))


def test_median_and_its_conventions(rows: np.ndarray) -> None:
    np.testing.assert_array_equal(boba.Median()(rows), np.median(rows, 0))
    even = rows[:10]
    close(boba.Median()(even), np.median(even, 0))
    np.testing.assert_array_equal(boba.Median(even="lower")(even), np.sort(even, 0)[4])


@pytest.mark.parametrize("f", [0, 1, 5])
def test_trimmed_mean(rows: np.ndarray, f: int) -> None:
    close(boba.TrMean(f)(rows), np.sort(rows, 0)[f : len(rows) - f].mean(0))
    assert boba.TrimmedMean is boba.TrMean


@pytest.mark.parametrize("f", [0, 2, 4])
def test_krum_and_multikrum(rows: np.ndarray, f: int) -> None:
    scores = krum_scores(rows, len(rows) - f - 2)
    result = boba.Krum(f=f).aggregate(rows)
    np.testing.assert_array_equal(result.vector, rows[scores.argmin()])
    np.testing.assert_allclose([c.score for c in result.clients], scores, rtol=1e-5)
    kept = np.argsort(scores)[: len(rows) - f]
    result = boba.MultiKrum(f=f).aggregate(rows)
    close(result.vector, rows[kept].mean(0))
    assert set(np.flatnonzero(result.accepted)) == set(kept)
    close(boba.MultiKrum(f=f, m=3)(rows), rows[np.argsort(scores)[:3]].mean(0))


def test_geometric_median_is_a_minimum(rows: np.ndarray) -> None:
    median = boba.GeometricMedian()(rows).astype(np.float64)
    away = median - rows
    pull = (away / np.linalg.norm(away, axis=1, keepdims=True)).sum(0)
    assert np.linalg.norm(pull) < 1e-4


def test_fltrust(rows: np.ndarray) -> None:
    server = rows[:3] + 1
    s = np.average(server, axis=0, weights=[1, 2, 3]).astype(np.float64)
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    trust = np.maximum(0, rows @ s / norms / np.linalg.norm(s))
    expected = (trust / norms * np.linalg.norm(s)) @ rows / trust.sum()
    given = boba.FLTrust().aggregate(rows, server=server, server_counts=[1, 2, 3])
    close(given.vector, expected.astype(rows.dtype))
    np.testing.assert_allclose([c.trust for c in given.clients], trust, atol=1e-6)


def test_boba_finds_the_attackers_and_the_label_mixes() -> None:
    rng = np.random.default_rng(5)
    classes = rng.normal(size=(4, 500))
    mixes = rng.dirichlet([0.3] * 4, size=20)
    honest = mixes @ classes + 0.01 * rng.normal(size=(20, 500))
    updates = np.vstack([honest, -10 * honest[:3]])
    server = classes + 0.01 * rng.normal(size=classes.shape)
    result = boba.aggregate(updates, "boba(f=3)", server=server)
    assert list(result.accepted) == [True] * 20 + [False] * 3
    found = np.array([client.label_mix for client in result.clients[:20]])
    np.testing.assert_allclose(found, mixes, atol=0.05)
    assert result.subspace is not None and result.subspace.dimension == 3
    mean = honest.mean(0)
    assert np.linalg.norm(result.vector - mean) < 0.05 * np.linalg.norm(mean)
    again = boba.Boba(f=3)(updates, server=list(server))
    np.testing.assert_array_equal(again, result.vector)


def test_stages(rows: np.ndarray) -> None:
    half = boba.Average() | boba.ServerMix(lambda_=0.5)
    close(half(rows, server=rows[:2]), (rows.mean(0) + rows[:2].mean(0)) / 2)
    buckets = boba.Bucketing(s=2) | boba.Krum(f=1)
    seeds = [buckets.aggregate(rows, seed=seed).vector for seed in range(6)]
    assert len({vector.tobytes() for vector in seeds}) > 1
    np.testing.assert_array_equal(seeds[3], buckets(rows, seed=3))
    assert len({buckets(rows, round=k).tobytes() for k in range(6)}) > 1
    chosen = buckets.aggregate(rows, seed=3)
    pair = np.flatnonzero(chosen.weights)
    assert len(pair) == 2
    close(chosen.vector, rows[pair].mean(0))


def specs() -> list[str]:
    return [
        name + ("(f=2)" if "f" in made().options else "")
        for name, made in boba.rules().items()
        if name not in PROBING
    ]


@pytest.mark.parametrize("spec", specs())
def test_the_result_does_not_depend_on_threads(spec: str) -> None:
    rows = np.random.default_rng(1).normal(size=(16, 300_000)).astype(np.float32)
    server = rows[:3]
    one = boba.aggregate(rows, spec, server=server, seed=1, threads=1)
    for threads in (2, 3, 0):
        other = boba.aggregate(list(rows), spec, server=server, seed=1, threads=threads)
        assert one.vector.tobytes() == other.vector.tobytes()
        assert list(one.clients.to_dict()) == list(other.clients.to_dict())


@pytest.mark.parametrize("spec", specs())
def test_weights_give_the_vector(spec: str, rows: np.ndarray) -> None:
    result = boba.aggregate(rows, spec, server=rows[:3])
    if result.weights is None:
        assert all(client.weight is None for client in result.clients)
        return
    expected = result.weights @ rows.astype(np.float64)
    if len(result.server_weights):
        expected = expected + result.server_weights @ rows[:3].astype(np.float64)
    close(result.vector, expected.astype(rows.dtype))


def test_admits_says_what_a_rule_needs() -> None:
    boba.Krum(f=2).admits(5)
    with pytest.raises(ValueError, match="krum needs n - f - 2 >= 1; got n=4, f=2"):
        boba.Krum(f=2).admits(4)
    with pytest.raises(ValueError, match="boba"):
        boba.Boba(f=2).admits(20)
    boba.Boba(f=2).admits(20, classes=4, length=100)


def test_parts_of_server_gradients() -> None:
    assert boba.Krum(f=2).server_parts == 1
    halves = boba.Boba(f=2, p_min="auto", parts=2)
    assert halves.server_parts == 2
    assert boba.rule(f"bucketing(s=2) | {halves.spec}").server_parts == 2
    with pytest.raises(ValueError, match=r"got 7, not a multiple of 2$"):
        halves.admits(20, classes=7)
    rng = np.random.default_rng(1)
    corners = rng.normal(size=(4, 60))
    updates = rng.dirichlet([1] * 4, size=20) @ corners
    noise = 0.1 * rng.normal(size=(4, 60))
    server = np.stack([corners + noise, corners - noise], axis=1).reshape(8, 60)
    np.testing.assert_allclose(
        halves(updates, server=server), boba.Boba(f=2)(updates, server=corners), rtol=1e-9
    )


def test_exhaustive_subsets_agree_with_boba_es() -> None:
    rng = np.random.default_rng(2)
    classes = rng.normal(size=(3, 60))
    honest = rng.dirichlet([1] * 3, size=8) @ classes + 0.01 * rng.normal(size=(8, 60))
    updates = np.vstack([honest, rng.normal(size=(2, 60)) * 5])
    losses = {}
    for subset in itertools.combinations(range(10), 8):
        part = updates[list(subset)]
        values = np.linalg.svd(part - part.mean(0), compute_uv=False)
        losses[subset] = (values[2:] ** 2).sum()
    best = min(losses, key=losses.__getitem__)
    result = boba.BobaES(f=2).aggregate(updates, server=classes)
    assert [client.index for client in result.clients if client.in_fit] == list(best)
