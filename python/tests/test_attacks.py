"""Attacks against their definitions, and the shapes of what they forge."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import boba


def test_inner_product_manipulation(rows: np.ndarray) -> None:
    forged = boba.InnerProductManipulation(gamma=2.5)(rows)
    np.testing.assert_allclose(forged, -2.5 * rows.mean(0), rtol=1e-4, atol=1e-6)


def test_a_little_is_enough(rows: np.ndarray) -> None:
    expected = rows.mean(0) + 1.5 * rows.std(0, ddof=1)
    forged = boba.ALittleIsEnough(z=1.5, sign="plus")(rows)
    np.testing.assert_allclose(forged, expected, rtol=1e-4, atol=1e-5)
    quantile = boba.ALittleIsEnough()(rows, byzantine=4)
    away = (rows.mean(0) - quantile) / rows.std(0, ddof=1)
    assert np.ptp(away) < 1e-3 and 0 < away.mean() < 2


def test_sign_flipping(rows: np.ndarray) -> None:
    np.testing.assert_array_equal(boba.SignFlipping(scale=2)(rows), -2 * rows[0])
    np.testing.assert_array_equal(boba.SignFlipping().forge(rows, 13)[12], -rows[1])
    np.testing.assert_allclose(boba.SignFlipping(of="mean")(rows), -rows.mean(0), atol=1e-6)


def test_constants_and_copies(rows: np.ndarray) -> None:
    assert (boba.Zero()(rows) == 0).all()
    assert np.isnan(boba.NaN()(rows)).all() and np.isinf(boba.Inf()(rows)).all()
    np.testing.assert_array_equal(boba.Mimic(client=3)(rows), rows[3])


def test_gaussian_draws_by_seed_and_round(rows: np.ndarray) -> None:
    attack = boba.Gaussian(sigma=3, mean=10)
    forged = attack.forge(np.zeros((1, 100_000)), 2, seed=5, round=1)
    assert abs(forged.mean() - 10) < 0.1 and abs(forged.std() - 3) < 0.1
    np.testing.assert_array_equal(forged, attack.forge(np.zeros((1, 100_000)), 2, seed=5, round=1))
    assert (forged[0] != forged[1]).any()
    assert (attack(rows, seed=1) != attack(rows, seed=2)).any()
    assert (attack(rows, round=1) != attack(rows, round=2)).any()
    on_parameters = boba.Gaussian(sigma=200, on="parameters")
    np.testing.assert_allclose(
        on_parameters(rows, learning_rate=0.5), boba.Gaussian(sigma=400)(rows), rtol=1e-6
    )


def test_distances_of_minmax_and_minsum(rows: np.ndarray) -> None:
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    forged = boba.MinMax()(rows)
    assert np.linalg.norm(rows - forged, axis=1).max() == pytest.approx(distances.max(), rel=1e-3)
    forged = boba.MinSum()(rows)
    sums = (distances**2).sum(1).max()
    assert (np.linalg.norm(rows - forged, axis=1) ** 2).sum() == pytest.approx(sums, rel=1e-3)


def test_forged_rows_are_of_the_kind_of_the_honest(rows: np.ndarray) -> None:
    before = rows.copy()
    attack = boba.InnerProductManipulation()
    assert attack.forge(rows, 3).shape == (3, 257)
    assert attack.forge(rows, 3).dtype == rows.dtype
    assert attack.forge(rows, 0).shape == (0, 257)
    listed = attack.forge(list(rows), 2)
    assert isinstance(listed, list) and [row.shape for row in listed] == [(257,)] * 2
    tensor = attack.forge(torch.from_numpy(rows), 2)
    assert isinstance(tensor, torch.Tensor) and tensor.shape == (2, 257)
    layers = [[row[:57].reshape(3, 19), row[57:]] for row in rows]
    forged = attack.forge(layers, 2)
    assert [layer.shape for layer in forged[1]] == [(3, 19), (200,)]
    assert attack(rows[:, :256].reshape(11, 16, 16)).shape == (16, 16)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: boba.Mimic(client=9)(np.ones((3, 4))), ValueError, "client"),
        (lambda: boba.Mimic()(np.empty((0, 4))), ValueError, "mimic"),
        (lambda: boba.Gaussian(on="parameters")(np.ones((3, 4))), ValueError, "learning rate"),
        (
            lambda: boba.InnerProductManipulation()(np.full((3, 4), np.nan)),
            ValueError,
            "row 0 has NaN",
        ),
        (lambda: boba.Zero().forge(np.ones((3, 4)), -1), ValueError, "byzantine=-1"),
        (lambda: boba.SignFlipping()(np.ones((3, 4)), 0), ValueError, "byzantine=0: a call gives"),
        (lambda: boba.attack(5), TypeError, "^attack is int; it is a spec such as "),
        (lambda: boba.attack(["ipm"]), TypeError, "^attack is list; it is a spec such as "),
        (lambda: boba.attack("ipm\udc80"), ValueError, "^attack is not valid text"),
        (lambda: boba.Zero()(np.ones((3, 4), int)), TypeError, "honest is int64"),
        (lambda: boba.attack("ipm(tau=1)"), ValueError, "no option tau; options are: gamma"),
    ],
)
def test_what_cannot_be_forged(make: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        make()  # type: ignore[operator]


def test_an_attack_on_a_rule(rows: np.ndarray) -> None:
    forged = boba.InnerProductManipulation(gamma=10).forge(rows, 2)
    result = boba.MultiKrum(f=2).aggregate(np.vstack([rows, forged]))
    assert not result.accepted[11:].any()
