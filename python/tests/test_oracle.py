"""The probing rules ask an object of Python for loss and gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import boba

W = np.array([3.0, -2.0, 1.0])


class Quadratic:
    """The loss |w - centre|^2 / 2."""

    def __init__(self, centre: np.ndarray) -> None:
        self.centre = centre
        self.asked: list[np.ndarray] = []

    def loss(self, w: np.ndarray) -> float:
        self.asked.append(w)
        return float(((w - self.centre) ** 2).sum() / 2)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        self.asked.append(w)
        return w - self.centre


def updates() -> np.ndarray:
    return np.vstack([W + 0.1 * k for k in range(5)] + [-20 * W, -30 * W])


@pytest.mark.parametrize("spec", ["zeno(f=2)", "selfrej(f=2)", "avgrej(f=2)"])
def test_losses_reject_what_climbs(spec: str) -> None:
    oracle = Quadratic(np.zeros(3))
    result = boba.aggregate(updates(), spec, model=W, learning_rate=0.1, oracle=oracle)
    assert list(result.accepted) == [True] * 5 + [False] * 2
    np.testing.assert_allclose(result.vector, updates()[:5].mean(0))
    assert len(oracle.asked) >= 7


def test_gradients_teach_reputations() -> None:
    oracle = Quadratic(np.zeros(3))
    result = boba.aggregate(updates(), "bygars", model=W, learning_rate=0.01, oracle=oracle)
    assert result.weights is not None
    assert result.weights[:5].min() > result.weights[5:].max()


def test_points_may_be_kept() -> None:
    oracle = Quadratic(np.zeros(3))
    boba.aggregate(updates(), "zeno(f=2)", model=W, learning_rate=0.5, oracle=oracle)
    expected = W - 0.5 * updates()
    np.testing.assert_allclose(np.sort(oracle.asked, 0), np.sort(expected, 0))
    assert all(point.flags.writeable for point in oracle.asked)


def test_points_look_like_the_updates() -> None:
    seen: list[object] = []

    class Typed:
        def loss(self, w: object) -> object:
            seen.append(w)
            return torch.tensor(1.0)

        def gradient(self, w: object) -> object:
            seen.append(w)
            return w

    def run(rows: object, model: object, spec: str = "zeno(f=1)") -> None:
        boba.aggregate(rows, spec, model=model, learning_rate=0.1, oracle=Typed())

    run(torch.eye(4), torch.zeros(4))
    assert isinstance(seen[-1], torch.Tensor) and seen[-1].dtype == torch.float32
    layers = [[np.full((2, 2), k), np.full(3, k)] for k in (1.0, 2.0, 4.0)]
    run(layers, [np.zeros((2, 2)), np.zeros(3)])
    assert isinstance(seen[-1], list) and [layer.shape for layer in seen[-1]] == [(2, 2), (3,)]
    run(layers, [np.ones((2, 2)), np.ones(3)], "bygars")
    assert isinstance(seen[-1], list)


class Failing(Exception):
    pass


@pytest.mark.parametrize("failure", [Failing("no data"), KeyboardInterrupt(), MemoryError()])
def test_what_the_oracle_raises_comes_out(failure: BaseException) -> None:
    class Broken:
        calls = 0

        def loss(self, w: np.ndarray) -> float:
            Broken.calls += 1
            if Broken.calls == 3:
                raise failure
            return 1.0

    with pytest.raises(type(failure)) as caught:
        boba.aggregate(updates(), "zeno(f=1)", model=W, learning_rate=0.1, oracle=Broken())
    assert caught.value is failure
    assert Broken.calls == 3
    assert any(entry.name == "loss" for entry in caught.traceback)


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (np.ones(2), ValueError, "the oracle's gradient is float64 of length 2; it is float64 of"),
        (None, TypeError, "NoneType"),
        ("text", TypeError, "^the oracle's gradient is str; it is an array"),
        ([], ValueError, "^the oracle's gradient is a list of no layers"),
    ],
)
def test_gradients_that_do_not_fit(answer: object, error: type[Exception], sentence: str) -> None:
    class Wrong:
        def gradient(self, w: np.ndarray) -> object:
            return answer

    with pytest.raises(error, match=sentence):
        boba.aggregate(updates(), "bygars", model=W, learning_rate=0.1, oracle=Wrong())


def test_a_gradient_of_another_shape_is_refused() -> None:
    layers = [[np.full((2, 3), k), np.full(4, k)] for k in (1.0, 2.0, 4.0)]

    class Turned:
        def gradient(self, w: list[np.ndarray]) -> list[np.ndarray]:
            return [w[0].T, w[1]]

    with pytest.raises(ValueError, match=r"^the oracle's gradient has the shapes \(3, 2\), \(4,\)"):
        boba.aggregate(layers, "bygars", model=layers[0], learning_rate=0.1, oracle=Turned())


def test_losses_that_are_no_numbers() -> None:
    class Wrong:
        def loss(self, w: np.ndarray) -> object:
            return "low"

    with pytest.raises(ValueError, match="could not convert"):
        boba.aggregate(updates(), "zeno(f=1)", model=W, learning_rate=0.1, oracle=Wrong())
    with pytest.raises(AttributeError, match="gradient"):
        boba.aggregate(updates(), "bygars", model=W, learning_rate=0.1, oracle=Wrong())


def test_a_loss_of_nan_counts_as_the_worst() -> None:
    class Partly:
        calls = 0

        def loss(self, w: np.ndarray) -> float:
            self.calls += 1
            return float("nan") if w[0] > 20 else float(w @ w)

    result = boba.aggregate(updates(), "zeno(f=2)", model=W, learning_rate=1.0, oracle=Partly())
    assert list(np.flatnonzero(~result.accepted)) == [5, 6]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match=r"needs an oracle and the model w$"):
        boba.aggregate(updates(), "zeno(f=1)", learning_rate=0.1, oracle=Quadratic(W))
    with pytest.raises(ValueError, match=r"step|learning"):
        boba.aggregate(updates(), "zeno(f=1)", model=W, oracle=Quadratic(W))
