"""The server's own updates: helpers for NumPy and PyTorch, and what a rule makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, ask, content, numpy_of, play, record
from flwr.app import ArrayRecord
from numpy.typing import NDArray

from boba.flower import RobustStrategy, numpy_server_update, torch_server_update

CLASSES = 3
FEATURES = 5


def gradient(weights: list[NDArray[Any]], x: NDArray[Any], y: NDArray[Any]) -> list[NDArray[Any]]:
    """Softmax regression."""
    scores = x @ weights[0] + weights[1]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(y)), y] -= 1
    return [x.T @ shares / len(y), shares.mean(axis=0)]


def points(label: int, count: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng([seed, label])
    centre = np.random.default_rng([99, label]).normal(size=FEATURES)
    x = (centre + 0.3 * rng.normal(size=(count, FEATURES))).astype(np.float32)
    return x, np.full(count, label)


SAMPLES = [points(label, 6) for label in range(CLASSES)]
MODEL = {
    "w": np.zeros((FEATURES, CLASSES), dtype=np.float32),
    "b": np.zeros(CLASSES, dtype=np.float32),
}


def trained(
    x: NDArray[Any], y: NDArray[Any], steps: int = 5, mu: float = 0.0
) -> list[NDArray[Any]]:
    start = list(MODEL.values())
    weights = [array.copy() for array in start]
    for _ in range(steps):
        slopes = gradient(weights, x, y)
        weights = [
            w - np.float32(0.1) * (g + np.float32(mu) * (w - s))
            for w, g, s in zip(weights, slopes, start)
        ]
    return weights


def test_numpy_update_is_what_a_client_of_the_class_would_add() -> None:
    update = numpy_server_update(gradient, SAMPLES, lr=0.1, local_epochs=5, proximal_mu=0.5)
    assert (update.classes, update.counts) == (3, (6, 6, 6))
    for label, (x, y) in enumerate(SAMPLES):
        got = update(record(MODEL), label)
        for mine, theirs in zip(got, trained(x, y, mu=0.5), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_steps_go_round_the_batches() -> None:
    seen: list[int] = []

    def watching(
        weights: list[NDArray[Any]], x: NDArray[Any], y: NDArray[Any]
    ) -> list[NDArray[Any]]:
        seen.append(len(x))
        return [np.zeros_like(weight) for weight in weights]

    update = numpy_server_update(watching, SAMPLES, lr=0.1, steps=5, batch_size=4)
    update(record(MODEL), 0)
    assert seen == [4, 2, 4, 2, 4]


def test_boba_takes_the_honest_and_leaves_the_attackers() -> None:
    update = numpy_server_update(gradient, SAMPLES, lr=0.1, steps=5)
    strategy = RobustStrategy(rule="boba(f=2)", server_update=update)
    honest = []
    for client in range(8):
        parts = [points(client % 3, 30, client + 1), points((client + 1) % 3, 10, client + 1)]
        x, y = (np.concatenate(pair) for pair in zip(*parts))
        honest.append(trained(x, y))
    evil = [[-10 * array for array in arrays] for arrays in honest[:2]]
    contents = [content(dict(zip(MODEL, arrays))) for arrays in [*evil, *honest]]
    model, metrics = play(strategy, MODEL, contents)
    assert metrics["boba/rejected-nodes"] == [FIRST_NODE, FIRST_NODE + 1]
    mean = np.mean([arrays[0] for arrays in honest], axis=0)
    assert np.linalg.norm(model["w"] - mean) < 0.2 * np.linalg.norm(mean)


def test_server_rows_have_the_sign_of_the_clients() -> None:
    """FLTrust follows clients that agree with the server, and gives none to those against."""
    step = {name: np.full_like(value, 2) for name, value in MODEL.items()}
    strategy = RobustStrategy(rule="fltrust", server_update=lambda arrays, label: step, classes=1)
    with_it = {name: MODEL[name] + step[name] for name in MODEL}
    against = {name: MODEL[name] - step[name] for name in MODEL}
    model, _ = play(strategy, MODEL, [content(with_it), content(against), content(against)])
    np.testing.assert_allclose(model["w"], with_it["w"], rtol=1e-5)


def test_an_update_is_asked_for_each_class_at_the_model_that_is_sent() -> None:
    calls: list[tuple[float, int]] = []

    def update(arrays: ArrayRecord, label: int) -> Mapping[str, NDArray[Any]]:
        calls.append((float(numpy_of(arrays)["b"][0]), label))
        return {name: np.full_like(value, label + 1) for name, value in MODEL.items()}

    strategy = RobustStrategy(rule="server", server_update=update, classes=2)
    model, _ = play(strategy, MODEL, [content(MODEL)] * 2)
    play(strategy, model, [content(model)] * 2, 2)
    assert calls == [(0.0, 0), (0.0, 1), (1.5, 0), (1.5, 1)]


def test_rules_without_server_data_never_ask() -> None:
    def update(arrays: ArrayRecord, label: int) -> Mapping[str, NDArray[Any]]:
        raise AssertionError("nobody needs it")

    play(
        RobustStrategy(rule="coomed", server_update=update, classes=9), MODEL, [content(MODEL)] * 3
    )


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"w": MODEL["w"]}, "class 0 lacks array 'b'"),
        ([MODEL["w"]], "class 0 has 1 arrays; the model has 2"),
        ([MODEL["b"], MODEL["b"]], r"'w' has shape \(3,\)"),
        ([MODEL["w"] * np.nan, MODEL["b"]], "NaN"),
    ],
)
def test_a_broken_update_fails_before_anything_is_sent(answer: Any, sentence: str) -> None:
    strategy = RobustStrategy(
        rule="boba(f=1)", server_update=lambda arrays, label: answer, classes=2
    )
    with pytest.raises(ValueError, match=sentence):
        ask(strategy, MODEL, 5)


def test_what_the_helpers_and_the_strategy_refuse() -> None:
    for options, sentence in [
        ({"lr": 0.0}, "lr=0"),
        ({"lr": float("nan")}, "lr=nan"),
        ({"lr": 1.0, "local_epochs": 0}, "local_epochs=0"),
        ({"lr": 1.0, "batch_size": -1}, "batch_size=-1"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            numpy_server_update(gradient, SAMPLES, **options)
    with pytest.raises(ValueError, match="at least one class"):
        numpy_server_update(gradient, [], lr=1.0)
    with pytest.raises(ValueError, match="class 1 has 0 inputs"):
        numpy_server_update(gradient, [SAMPLES[0], (np.zeros((0, 5)), np.zeros(0))], lr=1.0)
    update = numpy_server_update(gradient, SAMPLES, lr=0.1)
    with pytest.raises(ValueError, match="classes=2, but server_update has 3"):
        RobustStrategy(rule="boba(f=1)", server_update=update, classes=2)
    with pytest.raises(ValueError, match="give classes="):
        RobustStrategy(rule="boba(f=1)", server_update=lambda arrays, label: [])


class Valley:
    """Loss |w - 1|^2: the gradient leads to a model of ones."""

    def __init__(self) -> None:
        self.asked = 0

    def loss(self, model: Mapping[str, NDArray[Any]]) -> float:
        self.asked += 1
        assert model["w"].shape == MODEL["w"].shape
        return float(sum(((value - 1) ** 2).sum() for value in model.values()))

    def gradient(self, model: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        return {name: 2 * (value - 1) for name, value in model.items()}


def test_probing_rules_ask_the_oracle_by_array_names() -> None:
    valley = Valley()
    strategy = RobustStrategy(rule="zeno(f=2)", server_oracle=valley)
    up = {name: value + np.float32(0.5) for name, value in MODEL.items()}
    down = {name: value - np.float32(3) for name, value in MODEL.items()}
    model, metrics = play(strategy, MODEL, [content(up)] * 3 + [content(down)] * 2)
    assert valley.asked > 0 and metrics["boba/rejected"] == 2
    np.testing.assert_allclose(model["w"], up["w"], rtol=1e-5)


def test_torch_update_agrees_with_numpy() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(FEATURES, CLASSES)
    samples = [(torch.from_dlpack(x.copy()), torch.from_dlpack(y.copy())) for x, y in SAMPLES]
    start = {"weight": np.zeros((CLASSES, FEATURES), np.float32), "bias": MODEL["b"]}
    before = [parameter.detach().clone() for parameter in layer.parameters()]
    loss = torch.nn.CrossEntropyLoss()
    update = torch_server_update(layer, loss, samples, lr=0.1, steps=5, proximal_mu=0.5)
    assert (update.classes, update.counts) == (3, (6, 6, 6))
    theirs = numpy_server_update(gradient, SAMPLES, lr=0.1, steps=5, proximal_mu=0.5)
    for label in range(CLASSES):
        got = update(record(start), label)
        expected = theirs(record(MODEL), label)
        assert isinstance(got, dict)
        np.testing.assert_allclose(got["weight"].T, expected[0], atol=1e-5)
        np.testing.assert_allclose(got["bias"], expected[1], atol=1e-5)
    for parameter, value in zip(layer.parameters(), before):
        assert torch.equal(parameter, value)


def test_torch_models_with_batch_normalisation() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, CLASSES)
    )
    samples = [(torch.from_dlpack(x.copy()), torch.from_dlpack(y.copy())) for x, y in SAMPLES]
    update = torch_server_update(
        model,
        torch.nn.CrossEntropyLoss(),
        samples,
        lr=0.1,
        batch_size=3,
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    )
    start = {
        name: np.from_dlpack(value.detach()).copy() for name, value in model.state_dict().items()
    }
    strategy = RobustStrategy(rule="boba(f=1)", server_update=update)
    contents = []
    for client in range(6):
        step = update(record(start), client % CLASSES)
        assert isinstance(step, dict)
        assert "1.num_batches_tracked" not in step
        contents.append(content({name: value + step.get(name, 2) for name, value in start.items()}))
    new, metrics = play(strategy, start, contents)
    assert metrics["boba/refused"] == 0
    assert new["1.num_batches_tracked"] == 2 and new["1.running_mean"].any()
    assert not np.array_equal(new["0.weight"], start["0.weight"])


def test_numpy_models_with_integers_and_booleans() -> None:
    """Buffers in the model cost the server nothing: they have no update."""
    model = {**MODEL, "steps": np.array([3, 4]), "mask": np.array([True, False])}

    def with_buffers(
        weights: list[NDArray[Any]], x: NDArray[Any], y: NDArray[Any]
    ) -> list[NDArray[Any]]:
        assert weights[2].tolist() == [3, 4] and weights[3].tolist() == [True, False]
        return [*gradient(weights[:2], x, y), np.zeros(2), np.zeros(2)]

    update = numpy_server_update(with_buffers, SAMPLES, lr=0.1, steps=5, proximal_mu=0.5)
    plain = numpy_server_update(gradient, SAMPLES, lr=0.1, steps=5, proximal_mu=0.5)
    got = update(record(model), 1)
    assert isinstance(got, list)
    for mine, theirs in zip(got[:2], plain(record(MODEL), 1), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert [(array.dtype, array.any()) for array in got[2:]] == [(np.int64, False), (bool, False)]
    strategy = RobustStrategy(rule="boba(f=1)", server_update=update)
    clients = [
        content(
            {name: value + step for (name, value), step in zip(MODEL.items(), steps)}
            | {"steps": model["steps"], "mask": model["mask"]}
        )
        for steps in (update(record(model), client % CLASSES) for client in range(6))
    ]
    new, metrics = play(strategy, model, clients)
    assert metrics["boba/skipped"] == 0 and new["mask"].tolist() == [True, False]


def test_torch_models_with_a_boolean_buffer() -> None:
    torch = pytest.importorskip("torch")

    class Masked(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(FEATURES, CLASSES)
            self.register_buffer("mask", torch.ones(FEATURES, dtype=torch.bool))

        def forward(self, x: Any) -> Any:
            assert self.mask.dtype == torch.bool
            return self.layer(x * self.mask)

    samples = [(torch.from_dlpack(x.copy()), torch.from_dlpack(y.copy())) for x, y in SAMPLES]
    update = torch_server_update(Masked(), torch.nn.CrossEntropyLoss(), samples, lr=0.1, steps=5)
    start = {
        "mask": np.array([True, True, False, True, True]),
        "layer.weight": np.zeros((CLASSES, FEATURES), np.float32),
        "layer.bias": MODEL["b"],
    }
    step = update(record(start), 0)
    assert isinstance(step, dict) and sorted(step) == ["layer.bias", "layer.weight"]
    assert not step["layer.weight"][:, 2].any() and step["layer.weight"][:, 3].any()
    strategy = RobustStrategy(rule="boba(f=1)", server_update=update)
    contents = [
        content(
            {
                n: v + update(record(start), i % 3).get(n, 0) if n != "mask" else v
                for n, v in start.items()
            }
        )
        for i in range(6)
    ]
    new, metrics = play(strategy, start, contents)
    assert metrics["boba/skipped"] == 0 and new["mask"].tolist() == start["mask"].tolist()
