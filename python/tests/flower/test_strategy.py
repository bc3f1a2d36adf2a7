"""RobustStrategy in FedAvg's place: what stays, what changes, what a round does."""

from __future__ import annotations

import inspect
import logging

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, FakeGrid, ask, content, numpy_of, play, record, reply
from flwr.app import ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.exception import AggregationError
from flwr.serverapp.strategy import FedAvg, FedProx

import boba
from boba.flower import RobustStrategy
from boba.flower import RobustStrategy as FedAvgByAnotherName

MODEL = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([0.5, -0.5], dtype=np.float32),
}


def moved(step: float) -> dict[str, np.ndarray]:
    return {name: value + np.float32(step) for name, value in MODEL.items()}


def test_takes_every_argument_of_fedavg_in_its_order_with_its_defaults() -> None:
    theirs = list(inspect.signature(FedAvg.__init__).parameters.values())
    ours = list(inspect.signature(RobustStrategy.__init__).parameters.values())
    assert [(p.name, p.default) for p in ours[: len(theirs)]] == [
        (p.name, p.default) for p in theirs
    ]
    rest = ours[len(theirs) :]
    assert rest and all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in rest)


def test_one_changed_import_is_enough() -> None:
    strategy = FedAvgByAnotherName(
        0.5, 0.5, 3, 3, 4, "num-examples", "arrays", "config", None, None
    )
    assert isinstance(strategy, FedAvg)
    messages = list(
        strategy.configure_train(7, record(MODEL), ConfigRecord({"lr": 0.1}), FakeGrid(10))
    )
    assert len(messages) == 5
    config = messages[0].content["config"]
    assert config["server-round"] == 7 and config["lr"] == 0.1
    assert "proximal-mu" not in config
    assert numpy_of(messages[0].content["arrays"])["w"].tolist() == MODEL["w"].tolist()


def test_a_whole_run_through_start() -> None:
    def answer(message: Message) -> list[Message]:
        if message.metadata.message_type == "evaluate":
            return [
                reply(message, RecordDict({"m": MetricRecord({"num-examples": 1, "loss": 2.0})}))
            ]
        step = 1.0 if message.metadata.dst_node_id != FIRST_NODE else -1000.0
        sent = numpy_of(message.content["arrays"])
        return [reply(message, content({k: v + np.float32(step) for k, v in sent.items()}))]

    result = RobustStrategy(rule="coomed").start(
        FakeGrid(5, answer), record(MODEL), num_rounds=3, timeout=12.0
    )
    assert numpy_of(result.arrays)["w"].tolist() == (MODEL["w"] + 3).tolist()
    assert result.train_metrics_clientapp[3]["boba/accepted"] == 5
    assert result.evaluate_metrics_clientapp[3]["loss"] == 2.0


def test_average_is_fedavg_with_equal_counts() -> None:
    steps = [1.0, 2.0, -4.0, 0.25]
    contents = [content(moved(step)) for step in steps]
    ours, _ = play(RobustStrategy(rule="average"), MODEL, contents)
    theirs, _ = play(FedAvg(), MODEL, contents)
    for name in MODEL:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6)
        assert ours[name].dtype == MODEL[name].dtype and ours[name].shape == MODEL[name].shape


def test_claimed_sample_counts_have_no_weight() -> None:
    lie = content(moved(100.0), {"num-examples": 10**18})
    honest = [content(moved(step), {"num-examples": 1}) for step in (0.0, 0.0, 4.0)]
    model, _ = play(RobustStrategy(rule="average"), MODEL, [lie, *honest])
    np.testing.assert_allclose(model["w"], MODEL["w"] + 26.0, rtol=1e-6)
    owned, _ = play(FedAvg(), MODEL, [lie, *honest])
    np.testing.assert_allclose(owned["w"], MODEL["w"] + 100.0, rtol=1e-6)


def test_the_default_rule_bears_a_minority() -> None:
    contents = [content(moved(1.0))] * 6 + [content(moved(-1e6))] * 4
    model, _ = play(RobustStrategy(), MODEL, contents)
    np.testing.assert_allclose(model["w"], MODEL["w"] + 1, atol=1e-2)


def test_order_of_arrival_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    sent = [moved(float(step)) for step in rng.normal(size=8)]
    results = []
    for order in (range(8), reversed(range(8))):
        strategy = RobustStrategy(rule="bucketing(s=2) | geomed", seed=5)
        messages = ask(strategy, MODEL, 8)
        replies = [reply(messages[i], content(sent[i])) for i in order]
        arrays, metrics = strategy.aggregate_train(1, replies)
        results.append((numpy_of(arrays)["w"].tobytes(), dict(metrics or {})))
    assert results[0] == results[1]


def test_random_stages_draw_by_seed_and_round() -> None:
    rng = np.random.default_rng(4)
    contents = [content(moved(float(step))) for step in rng.normal(size=9)]

    def outcome(seed: int, server_round: int) -> bytes:
        strategy = RobustStrategy(rule="bucketing(s=2) | coomed", seed=seed)
        return play(strategy, MODEL, contents, server_round)[0]["w"].tobytes()

    assert outcome(1, 1) == outcome(1, 1)
    assert len({outcome(1, r) for r in range(1, 9)}) > 1
    assert len({outcome(seed, 1) for seed in range(8)}) > 1


def test_fedprox_clients_get_mu_as_from_fedprox() -> None:
    theirs = ask(FedProx(proximal_mu=0.3), MODEL, 3)[0].content["config"]
    ours = ask(RobustStrategy(proximal_mu=0.3), MODEL, 3)[0].content["config"]
    assert dict(ours) == dict(theirs)


def test_errors_and_silence_are_dropped_as_fedavg_does(caplog: pytest.LogCaptureFixture) -> None:
    error = Error(code=1, reason="out of memory")
    with caplog.at_level(logging.INFO, "flwr"):
        model, metrics = play(
            RobustStrategy(rule="average"),
            MODEL,
            [content(moved(2.0)), error, None, content(moved(4.0)), content(moved(3.0))],
        )
    np.testing.assert_allclose(model["w"], MODEL["w"] + 3, rtol=1e-6)
    assert (metrics["boba/failed"], metrics["boba/silent"], metrics["boba/accepted"]) == (1, 1, 3)
    assert "out of memory" in caplog.text


@pytest.mark.parametrize("stage", ["train", "evaluate"])
def test_an_error_cannot_forge_log_lines(stage: str, caplog: pytest.LogCaptureFixture) -> None:
    forged = "oops\nWARNING : node 1 accepted\x1b[2K\r" + "x" * 10_000
    strategy = RobustStrategy(rule="average")
    messages = ask(strategy, MODEL, 4)
    replies = [reply(message, content(moved(1.0))) for message in messages[:3]]
    replies.append(reply(messages[3], Error(code=1, reason=forged)))
    with caplog.at_level(logging.INFO, "flwr"):
        if stage == "train":
            strategy.aggregate_train(1, replies)
        else:
            strategy.aggregate_evaluate(1, replies)
    lines = [entry.getMessage() for entry in caplog.records]
    assert f"aggregate_{stage}: Received 3 results and 1 failures" in lines
    assert any(rf"node {FIRST_NODE + 3}: oops\nWARNING" in line for line in lines)
    assert all(line.lstrip("\t").isprintable() and len(line) < 700 for line in lines)


def test_an_error_of_flower_itself_is_put_down_to_the_node_it_is_about() -> None:
    strategy = RobustStrategy(rule="average")
    messages = ask(strategy, MODEL, 3)
    for number, message in enumerate(messages):  # as the grid does when it sends them
        message.metadata.__dict__["_message_id"] = f"id-{number}"
    gone = reply(messages[2], Error(code=3, reason="node unavailable"))
    lost = reply(messages[2], Error(code=3, reason="nobody's"))
    for message, answered in ((gone, "id-2"), (lost, "id-9")):
        message.metadata.__dict__["_src_node_id"] = 1
        message.metadata.__dict__["_reply_to_message_id"] = answered
    replies = [reply(message, content(moved(1.0))) for message in messages[:2]]
    strategy.aggregate_train(1, [*replies, gone, lost])
    report = strategy.reports[-1]
    assert [(node.node, node.reason) for node in report.of("failed")] == [
        (FIRST_NODE + 2, "node unavailable")
    ]
    assert report.strangers == ["error from node 1: nobody's"]


@pytest.mark.parametrize("contents", [[None] * 4, [Error(code=1, reason="x")] * 4])
def test_the_model_stays_when_nobody_replies(contents: list[Error | None]) -> None:
    strategy = RobustStrategy(rule="average")
    model, metrics = play(strategy, MODEL, contents)
    assert all(model[name].tobytes() == MODEL[name].tobytes() for name in MODEL)
    assert metrics["boba/skipped"] == 1
    assert strategy.reports[-1].skipped == "no reply can be used"


def test_the_model_stays_when_all_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    bad = content({name: np.full_like(value, np.nan) for name, value in MODEL.items()})
    model, metrics = play(RobustStrategy(), MODEL, [bad] * 3)
    assert all(model[name].tobytes() == MODEL[name].tobytes() for name in MODEL)
    assert (metrics["boba/skipped"], metrics["boba/refused"]) == (1, 3)
    assert "the model stays" in caplog.text


def test_who_was_rejected_is_in_the_metrics_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    contents = [content(moved(step)) for step in (1.0, 1.125, 0.875, 1.0, -50.0)]
    with caplog.at_level(logging.INFO, "flwr"):
        _, metrics = play(RobustStrategy(rule="mkrum(f=1)"), MODEL, contents)
    assert metrics["boba/rejected-nodes"] == [FIRST_NODE + 4]
    assert metrics["boba/accepted-nodes"] == [FIRST_NODE + i for i in range(4)]
    assert f"node {FIRST_NODE + 4} rejected" in caplog.text
    # Flower serialises metrics; ids beyond 2^63 must survive it.
    assert MetricRecord.inflate(metrics.deflate())["boba/rejected-nodes"] == [FIRST_NODE + 4]


def test_too_few_replies_for_f_skip_the_round(caplog: pytest.LogCaptureFixture) -> None:
    strategy = RobustStrategy(rule="trmean(f=2)")
    assert strategy.min_replies == 5
    model, metrics = play(strategy, MODEL, [content(moved(1.0))] * 4 + [None] * 4)
    assert model["w"].tobytes() == MODEL["w"].tobytes()
    assert (metrics["boba/skipped"], metrics["boba/unused"]) == (1, 4)
    assert "4 replies came; min_replies is 5" in caplog.text
    model, metrics = play(strategy, MODEL, [content(moved(1.0))] * 5 + [None] * 3, 2)
    assert metrics["boba/skipped"] == 0 and model["w"][0, 0] == 1.0


@pytest.mark.parametrize("rule", ["geomed", "coomed", "average", "rage", "bucketing(s=2) | geomed"])
def test_without_f_more_than_half_must_have_replied(
    rule: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A lone attacker's reply is not the model because everybody else is silent."""
    evil, good = content(moved(-1e6)), content(moved(1.0))
    strategy = RobustStrategy(rule=rule)
    for number, replies in enumerate(([evil], [evil, *[good] * 4]), start=1):
        silent = [None] * (10 - len(replies))
        model, metrics = play(strategy, MODEL, [*replies, *silent], number)
        assert model["w"].tobytes() == MODEL["w"].tobytes()
        assert (metrics["boba/skipped"], metrics["boba/unused"]) == (1, len(replies))
    assert "1 of the 10 nodes asked replied usably, which is not more than half" in caplog.text
    _, metrics = play(strategy, MODEL, [good] * 6 + [None] * 4, 3)
    assert metrics["boba/skipped"] == 0


def test_refused_replies_do_not_help_to_a_majority() -> None:
    bad = content({"w": MODEL["w"]})
    contents = [content(moved(1.0))] * 5 + [bad] * 5
    _, metrics = play(RobustStrategy(), MODEL, contents)
    assert metrics["boba/skipped"] == 1
    _, metrics = play(RobustStrategy(min_replies=1), MODEL, contents)
    assert metrics["boba/skipped"] == 0


def test_a_round_that_the_rule_itself_does_not_admit_is_skipped() -> None:
    strategy = RobustStrategy(rule="krum(f=2)", min_replies=1)
    model, metrics = play(strategy, MODEL, [content(moved(1.0))] * 3 + [None] * 4)
    assert model["w"].tobytes() == MODEL["w"].tobytes() and metrics["boba/skipped"] == 1
    assert "n - f - 2" in strategy.reports[-1].skipped


def test_refused_replies_count_among_the_f() -> None:
    bad = content({"w": MODEL["w"]})
    strategy = RobustStrategy(rule="trmean(f=2)")
    # 2 of 5 are refused: the rule tolerates none among the other 3, which is their mean.
    model, metrics = play(
        strategy, MODEL, [bad, bad] + [content(moved(s)) for s in (0.0, 3.0, 6.0)]
    )
    np.testing.assert_allclose(model["w"], MODEL["w"] + 3, rtol=1e-6)
    assert (metrics["boba/refused"], metrics["boba/accepted"]) == (2, 3)


def test_more_refused_than_f_skip_the_round() -> None:
    bad = content({"w": MODEL["w"]})
    strategy = RobustStrategy(rule="trmean(f=1)")
    _, metrics = play(strategy, MODEL, [bad, bad] + [content(moved(1.0))] * 5)
    assert metrics["boba/skipped"] == 1
    assert "more than the f=1" in strategy.reports[-1].skipped


def test_float16_models_are_aggregated_in_float32() -> None:
    model = {"w": np.full(3, 6e4, dtype=np.float16)}
    far = content({"w": np.full(3, -6e4, dtype=np.float16)})
    moved_on, metrics = play(RobustStrategy(rule="average"), model, [far, far])
    assert metrics["boba/accepted"] == 2  # the step of 120000 is beyond float16
    assert moved_on["w"].tolist() == [-6e4] * 3 and moved_on["w"].dtype == np.float16


def test_a_result_that_overflows_leaves_the_model() -> None:
    model = {"w": np.full(3, 3e38, dtype=np.float32)}
    strategy = RobustStrategy(rule="server", server_update=lambda *_: model, classes=1)
    kept, metrics = play(strategy, model, [content(model)] * 3)
    assert kept["w"].tobytes() == model["w"].tobytes() and metrics["boba/skipped"] == 1
    assert "'w' of the result is not finite" in strategy.reports[-1].skipped


def test_training_that_is_switched_off_stays_off() -> None:
    strategy = RobustStrategy(fraction_train=0.0)
    assert list(strategy.configure_train(1, record(MODEL), ConfigRecord(), FakeGrid(4))) == []
    assert strategy.aggregate_train(1, []) == (None, None)


def test_aggregate_before_configure_is_an_error() -> None:
    with pytest.raises(AggregationError, match="configure_train"):
        RobustStrategy().aggregate_train(1, [])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rule": "krumm(f=1)"}, "krum"),
        ({"rule": "krum(f=-1)"}, "f=-1"),
        ({"rule": "boba(f=2)"}, "give server_update="),
        ({"rule": "boba(f=2,parts=2)"}, "server_update= gives one: omit parts"),
        ({"rule": "geomed | server-mix(lambda=0.5)"}, "give server_update="),
        ({"rule": "zeno"}, "need server_oracle="),
        ({"rule": "zeno(f=200)"}, "need server_oracle="),
        ({"rule": "selfrej(f=100000)"}, "need server_oracle="),
        ({"rule": "bucketing(s=200) | zeno(f=2)"}, "need server_oracle="),
        ({"buffers": "mean"}, "median, average, keep"),
        ({"buffer_names": "bn*"}, "list of patterns"),
        ({"min_replies": 0}, "min_replies=0"),
        ({"threads": -1}, "threads=-1"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_work_fails_at_construction(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")):
        RobustStrategy(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rule": 5}, r"rule=5 is not a rule; give a spec such as 'mkrum\(f=2\)'"),
        ({"rule": None}, "rule=None is not a rule"),
        ({"rule": boba.MultiKrum}, "is not a rule; .* a rule object such as"),
        ({"rule": boba.Bucketing(s=2)}, "is not a rule"),
        ({"rule": boba.SignFlipping()}, "is not a rule"),
        ({"seed": 1.5}, "seed=1.5 is not an integer"),
        ({"seed": True}, "seed=True is not an integer"),
        ({"threads": "2"}, "threads='2' is not an integer"),
        ({"min_replies": 2.5}, "min_replies=2.5 is not an integer"),
        ({"classes": 2.5}, "classes=2.5 is not an integer"),
        ({"server_update": lambda *_: [], "classes": 2.5}, "classes=2.5 is not an integer"),
    ],
)
def test_what_is_of_no_use_fails_at_construction(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        RobustStrategy(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rule", ["mkrum(f=200)", "krum(f=5000)", "mkrum(f=300,m=1400)", "b-mkrum(f=100,s=7)"]
)
def test_a_large_f_is_no_hindrance(rule: str) -> None:
    assert RobustStrategy(rule=rule, seed=np.int64(3)).engine.rule == rule


def test_rules_with_an_upper_end_are_admitted() -> None:
    step = {name: np.zeros_like(value) for name, value in MODEL.items()}
    RobustStrategy(rule="boba-es(f=5)", server_update=lambda *_: step, classes=3)


def test_models_that_cannot_be_aggregated_are_refused_before_anything_is_sent() -> None:
    strategy = RobustStrategy()
    for model, sentence in [
        ({"n": np.zeros(3, np.int64)}, "no trainable"),
        ({"z": np.zeros(3, np.complex64)}, "'z' of the model is complex64"),
        ({"w": np.zeros(3), "z.running_mean": np.zeros(3, np.complex64)}, "complex64; .* buffers"),
        ({"w": np.array([1.0, np.nan])}, "NaN"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            ask(strategy, model, 3)
