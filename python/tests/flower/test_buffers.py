"""Integers and running statistics: no rule sees them, a stated policy combines them."""

from __future__ import annotations

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, content, play
from flwr.app import RecordDict

from boba.flower import RobustStrategy

MODEL = {
    "w": np.zeros(3, dtype=np.float32),
    "bn.running_mean": np.zeros(2, dtype=np.float32),
    "bn.num_batches_tracked": np.array(0, dtype=np.int64),
    "mask": np.array([True, False]),
}


def client(step: float, mean: float, count: int, mask: bool = True) -> dict[str, np.ndarray]:
    return {
        "w": np.full(3, step, dtype=np.float32),
        "bn.running_mean": np.full(2, mean, dtype=np.float32),
        "bn.num_batches_tracked": np.array(count, dtype=np.int64),
        "mask": np.array([mask, False]),
    }


FOUR = [content(client(1, m, k)) for m, k in ((1.0, 10), (2.0, 20), (4.0, 41), (500.0, -(2**60)))]


@pytest.mark.parametrize(
    ("policy", "mean", "count"),
    [("median", 2.0, 10), ("keep", 0.0, 0), ("average", 126.75, None)],
)
def test_the_policy_decides(policy: str, mean: float, count: int | None) -> None:
    model, _ = play(RobustStrategy(rule="average", buffers=policy), MODEL, FOUR)  # type: ignore[arg-type]
    assert model["w"].tolist() == [1.0] * 3
    assert model["bn.running_mean"].tolist() == [mean] * 2
    assert model["bn.num_batches_tracked"].dtype == np.int64
    if count is not None:
        assert model["bn.num_batches_tracked"] == count
    for name, value in MODEL.items():
        assert (model[name].dtype, model[name].shape) == (value.dtype, value.shape)


def test_average_rounds_integers_and_stays_in_their_range() -> None:
    strategy = RobustStrategy(rule="average", buffers="average")
    model, _ = play(strategy, MODEL, [content(client(1, 0, k)) for k in (1, 2, 2)])
    assert model["bn.num_batches_tracked"] == 2
    top = 2**63 - 1
    model, _ = play(strategy, MODEL, [content(client(1, 0, top))] * 3, 2)
    assert 2**62 < int(model["bn.num_batches_tracked"]) <= top
    votes = [content(client(1, 0, 1, mask)) for mask in (True, False, False)]
    model, _ = play(strategy, MODEL, votes, 3)
    assert model["mask"].tolist() == [False, False]


def test_rejected_and_refused_clients_have_no_share_in_the_average() -> None:
    contents = [content(client(step, step, 5)) for step in (1.0, 1.5, 0.5, 1.0)]
    contents += [content(client(-99.0, 1e6, 10**9)), content(client(1.0, np.inf, 10**9))]
    strategy = RobustStrategy(rule="mkrum(f=2)", buffers="average")
    model, metrics = play(strategy, MODEL, contents)
    assert metrics["boba/refused"] == 1  # infinity in a buffer is refused like any other
    assert "bn.running_mean" in strategy.reports[-1].of("refused")[0].reason
    assert abs(model["bn.running_mean"]).max() < 2 and model["bn.num_batches_tracked"] == 5


NORMALISED = {
    "w": np.zeros(3, dtype=np.float32),
    "bn.running_mean": np.zeros(2, dtype=np.float32),
    "bn.running_var": np.ones(2, dtype=np.float32),
}


def normalised(step: float, mean: float, var: float, loss: float) -> RecordDict:
    arrays = {
        "w": np.full(3, step, dtype=np.float32),
        "bn.running_mean": np.full(2, mean, dtype=np.float32),
        "bn.running_var": np.full(2, var, dtype=np.float32),
    }
    return content(arrays, {"num-examples": 10, "loss": loss})


@pytest.mark.parametrize(
    ("rule", "accepted"),
    [
        ("krum(f=1)", 1),
        ("mkrum(f=1,m=1)", 1),
        ("b-krum(f=1)", 2),
        ("bucketing(s=2) | krum(f=1)", 2),
    ],
)
def test_a_rule_that_accepts_few_lets_none_of_them_own_the_buffers(
    rule: str, accepted: int
) -> None:
    """The attacker's update is the best of all; its statistics and its loss are not."""
    honest = [normalised(1 + step, 0.5, 2.0, 0.7) for step in (-4, -3, -2, -1, 1, 2, 3, 4, 5)]
    evil = normalised(1.0, 1e30, -7.0, -1e30)
    contents = [evil, *honest]
    strategy = RobustStrategy(rule=rule, seed=0)
    owned = False
    for number in range(1, 11):  # rules with buckets draw them anew in every round
        model, metrics = play(strategy, NORMALISED, contents, number)
        assert metrics["boba/accepted"] == accepted and metrics["boba/skipped"] == 0
        owned |= FIRST_NODE in metrics["boba/accepted-nodes"]  # type: ignore[operator]
        assert model["bn.running_mean"].tolist() == [0.5, 0.5]
        assert model["bn.running_var"].tolist() == [2.0, 2.0]
        assert metrics["loss"] == 0.7
    assert owned, "the attacker must be accepted, or this shows nothing"


def test_buffers_are_named_by_the_user() -> None:
    model = {"w": np.zeros(2, np.float32), "ema.w": np.zeros(2, np.float32)}
    sent = [
        {"w": np.full(2, step, np.float32), "ema.w": np.full(2, -step, np.float32)}
        for step in (1.0, 2.0, 6.0)
    ]
    contents = [content(arrays) for arrays in sent]
    kept, _ = play(
        RobustStrategy(rule="average", buffers="keep", buffer_names=["ema.*"]), model, contents
    )
    assert kept["ema.w"].tolist() == [0.0, 0.0] and kept["w"].tolist() == [3.0, 3.0]
    seen, _ = play(RobustStrategy(rule="average", buffers="keep"), model, contents)
    assert seen["ema.w"].tolist() == [-3.0, -3.0]


def test_no_rule_sees_a_buffer() -> None:
    """A rule that measures distances must not reject a client for its batch counter."""
    contents = [
        content(client(s, 0.0, k)) for s, k in ((1.0, 3), (1.25, 10**12), (0.75, 4), (9.0, 5))
    ]
    _, metrics = play(RobustStrategy(rule="mkrum(f=1)"), MODEL, contents)
    assert metrics["boba/rejected"] == 1 and metrics["boba/accepted"] == 3
