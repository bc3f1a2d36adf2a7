"""Client metrics are claims; no claim decides alone or stops a run."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from flower_fakes import ask, content, play, reply
from flwr.app import MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from flwr.serverapp.strategy.strategy_utils import aggregate_metricrecords

from boba.flower import RobustStrategy
from boba.flower.strategy import MetricsFunction

MODEL = {"w": np.zeros(2, dtype=np.float32)}


def claims(**metrics: object) -> RecordDict:
    return content(MODEL, {key.replace("_", "-"): value for key, value in metrics.items()})


def evaluate(strategy: FedAvg, contents: list[RecordDict]) -> MetricRecord | None:
    messages = ask(strategy, MODEL, len(contents))
    return strategy.aggregate_evaluate(
        1, [reply(message, what) for message, what in zip(messages, contents)]
    )


def test_a_metric_is_the_median_whatever_counts_are_claimed() -> None:
    contents = [claims(num_examples=1, loss=x) for x in (0.5, 0.6, 0.7, 0.8)]
    contents.append(claims(num_examples=10**18, loss=1e30))
    _, metrics = play(RobustStrategy(rule="average"), MODEL, contents)
    assert metrics["loss"] == 0.7 and "num-examples" not in metrics
    evaluated = evaluate(RobustStrategy(), contents)
    assert evaluated is not None and dict(evaluated) == {"loss": 0.7}


@pytest.mark.parametrize(
    "odd",
    [
        RecordDict(),
        claims(),
        claims(num_examples=-5),
        claims(num_examples=-3, loss=0.5),
        claims(num_examples=0, loss=0.5),
        claims(num_examples=float("nan"), loss=0.5),
        claims(loss=0.5),
        claims(num_examples=1, loss=float("nan")),
        claims(num_examples=1, loss=float("inf")),
        claims(num_examples=1, loss=10**400),
        claims(num_examples=1, loss=[1.0, 2.0]),
        claims(num_examples=[1, 2], loss=0.5),
        claims(num_examples=1, loss=0.5, extra=3),
        RecordDict({"a": MetricRecord({"loss": 0.5}), "b": MetricRecord({"num-examples": 1})}),
        RecordDict({"other": MetricRecord({"loss": 9.5, "num-examples": 1})}),
    ],
)
def test_an_odd_record_stops_nothing(odd: RecordDict) -> None:
    good = [claims(num_examples=1, loss=x) for x in (0.5, 0.5, 0.5)]
    evaluated = evaluate(RobustStrategy(), [*good, odd])
    assert evaluated is not None and evaluated["loss"] == 0.5
    assert "extra" not in evaluated
    # Flower's own function, given by the user, sees only the records that fit each other.
    theirs = RobustStrategy(evaluate_metrics_aggr_fn=aggregate_metricrecords)
    evaluated = evaluate(theirs, [*good, odd])
    assert evaluated is not None and evaluated["loss"] == pytest.approx(0.5)


def by_name(records: list[RecordDict], key: str) -> MetricRecord:
    """As users write it: no record may lack the name or the keys."""
    total = sum(record["metrics"][key] for record in records)
    mean = sum(record["metrics"][key] * record["metrics"]["loss"] for record in records) / total
    return MetricRecord({"loss": mean})


@pytest.mark.parametrize("function", [aggregate_metricrecords, by_name])
@pytest.mark.parametrize(
    "lie",
    [
        claims(num_examples=-40, loss=0.5),
        claims(num_examples=40),
        content(MODEL, {}),
        RecordDict({**content(MODEL), "metrics": MetricRecord({"n": 1})}),
    ],
)
def test_a_claim_cannot_break_a_function_of_the_user(
    function: MetricsFunction, lie: RecordDict
) -> None:
    good = [claims(num_examples=10, loss=0.5)] * 4
    strategy = RobustStrategy(
        rule="average",
        train_metrics_aggr_fn=function,
        evaluate_metrics_aggr_fn=function,
    )
    _, metrics = play(strategy, MODEL, [*good, lie])
    assert metrics["loss"] == pytest.approx(0.5) and metrics["boba/accepted"] == 5
    evaluated = evaluate(strategy, [*good, lie])
    assert evaluated is not None and evaluated["loss"] == pytest.approx(0.5)


@pytest.mark.parametrize("order", [1, -1])
def test_half_of_the_clients_do_not_choose_the_keys(order: int) -> None:
    """Neither fewer keys win a tie, nor more."""
    calls: list[int] = []

    def mine(records: list[RecordDict], key: str) -> MetricRecord:
        calls.append(len(records))
        return MetricRecord({"loss": 0.5})

    honest = [claims(num_examples=1, loss=0.5)] * 2
    strategy = RobustStrategy(evaluate_metrics_aggr_fn=mine)
    for lie in (claims(num_examples=1), claims(num_examples=1, loss=9.0, more=1)):
        evaluated = evaluate(strategy, [*honest, lie, lie][::order])
        assert evaluated is not None and dict(evaluated) == {}
    assert calls == []
    evaluate(strategy, [*honest, honest[0], lie, lie][::order])
    assert calls == [3]


def test_an_error_of_the_users_function_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(records: list[RecordDict], key: str) -> MetricRecord:
        raise KeyError("loss\nforged")

    def empty(records: list[RecordDict], key: str) -> MetricRecord:
        return None  # type: ignore[return-value]

    for function in (broken, empty):
        strategy = RobustStrategy(
            rule="average", train_metrics_aggr_fn=function, evaluate_metrics_aggr_fn=function
        )
        contents = [claims(num_examples=1, loss=0.5)] * 3
        _, metrics = play(strategy, MODEL, contents)
        assert metrics["boba/accepted"] == 3
        assert all(key.startswith("boba/") for key in metrics)
        evaluated = evaluate(strategy, contents)
        assert evaluated is not None and dict(evaluated) == {}
    assert caplog.text.count("no client metrics") == 4
    assert "a MetricRecord is expected, NoneType came" in caplog.text


def test_a_skipped_round_has_no_client_metrics() -> None:
    strategy = RobustStrategy(rule="average")
    _, metrics = play(strategy, MODEL, [claims(num_examples=1, loss=0.5), None, None])
    assert metrics["boba/skipped"] == 1 and "loss" not in metrics


def test_clients_cannot_write_into_the_metrics_of_boba() -> None:
    contents = [content(MODEL, {"num-examples": 1, "boba/accepted": 99})] * 3
    _, metrics = play(RobustStrategy(), MODEL, contents)
    assert metrics["boba/accepted"] == 3
    evaluated = evaluate(RobustStrategy(), contents)
    assert evaluated is not None and "boba/accepted" not in evaluated


def test_a_function_of_the_user_gets_accepted_replies_and_the_key() -> None:
    calls: list[tuple[int, str]] = []

    def mine(records: list[RecordDict], key: str) -> MetricRecord:
        calls.append((len(records), key))
        return MetricRecord({"mine": 1.0})

    strategy = RobustStrategy(rule="mkrum(f=1)", weighted_by_key="n", train_metrics_aggr_fn=mine)
    sent = [{"w": np.full(2, step, np.float32)} for step in (1.0, 1.25, 0.75, 1.0, -50.0)]
    _, metrics = play(strategy, MODEL, [content(arrays, {"n": 3}) for arrays in sent])
    assert calls == [(4, "n")] and metrics["mine"] == 1.0


def test_no_reply_no_metrics(caplog: pytest.LogCaptureFixture) -> None:
    strategy = RobustStrategy()
    with caplog.at_level(logging.INFO, "flwr"):
        assert strategy.aggregate_evaluate(1, []) is None
    assert caplog.text == ""  # evaluation may be switched off; FedAvg then says nothing either
