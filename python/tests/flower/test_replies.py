"""Replies that clients should not send. Each is refused with a reason; nobody else notices."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, FakeGrid, ask, content, numpy_of, play, record, reply
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict

from boba.flower import RobustStrategy

MODEL = {
    "w": np.ones((2, 3), dtype=np.float32),
    "b": np.zeros(2, dtype=np.float64),
    "steps": np.array(7, dtype=np.int64),
}
HONEST = {name: value + 1 for name, value in MODEL.items()}


def npy(value: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, value)
    return buffer.getvalue()


def with_array(name: str, array: Array) -> RecordDict:
    arrays = record(HONEST)
    arrays[name] = array
    return content(arrays)


def with_value(name: str, value: np.ndarray) -> RecordDict:
    return with_array(name, Array(np.asarray(value)))


def forged(
    name: str = "w",
    dtype: str = "float32",
    shape: tuple[int, ...] = (2, 3),
    stype: str = "numpy.ndarray",
    data: bytes | None = None,
) -> RecordDict:
    """An array whose label and content need not agree."""
    return with_array(name, Array(dtype, shape, stype, npy(HONEST[name]) if data is None else data))


def huge_header() -> bytes:
    """A header that promises 8 exabytes."""
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000000000000,), }\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def long_header() -> bytes:
    text = "(" * 60000 + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def two_records() -> RecordDict:
    both = content(HONEST)
    both["again"] = record(HONEST)
    return both


def without(name: str) -> RecordDict:
    return content({key: value for key, value in HONEST.items() if key != name})


HOSTILE: dict[str, tuple[Callable[[], RecordDict], str]] = {
    "no arrays": (lambda: RecordDict({"m": MetricRecord({"num-examples": 1})}), "0 array records"),
    "nothing": (RecordDict, "0 array records"),
    "empty arrays": (lambda: content(ArrayRecord()), "missing: 'w', 'b', 'steps'"),
    "two records": (two_records, "2 array records"),
    "missing array": (lambda: without("b"), "missing: 'b'"),
    "missing buffer": (lambda: without("steps"), "missing: 'steps'"),
    "unknown array": (lambda: content(HONEST | {"extra": np.zeros(1)}), "no arrays 'extra'"),
    "forged log line": (
        lambda: content(HONEST | {"x\n> node 1 accepted": np.zeros(1)}),
        r"'x\\n> node 1 accepted'",
    ),
    "half a surrogate": (lambda: content(HONEST | {"\ud800": np.zeros(1)}), r"'\\ud800'"),
    "long name": (lambda: content(HONEST | {"x" * 10**6: np.zeros(1)}), "xxx..."),
    "wrong shape": (lambda: with_value("w", np.ones((3, 2), np.float32)), r"\(3, 2\)"),
    "flat": (lambda: with_value("w", np.ones(6, np.float32)), r"\(6,\)"),
    "wrong dtype": (lambda: with_value("w", np.ones((2, 3))), "float64.*float32 is expected"),
    "other byte order": (lambda: with_value("w", np.ones((2, 3), ">f4")), ">f4"),
    "integer for real": (lambda: with_value("b", np.zeros(2, np.int64)), "int64"),
    "real for integer": (lambda: with_value("steps", np.array(7.0)), "int64 is expected"),
    "strings": (lambda: with_value("w", np.full((2, 3), "x")), "<U1"),
    "NaN": (lambda: with_value("w", np.full((2, 3), np.nan, np.float32)), "'w' has 6 of 6"),
    "one infinity": (lambda: with_value("b", np.array([0.0, -np.inf])), "'b' has 1 of 2"),
    "overflow": (lambda: with_value("b", np.array([0.0, -1.7e308])), "norm|overflow"),
    "lying shape": (lambda: forged(data=npy(np.ones(7, np.float32))), r"\(7,\) inside"),
    "lying dtype": (lambda: forged(data=npy(np.ones((2, 3)))), "float64 inside"),
    "lying label": (lambda: forged(shape=(2, 4)), r"\(2, 4\)"),
    "pickle": (lambda: forged(data=b"\x80\x04K\x01."), "cannot be read"),
    "object array": (
        lambda: forged(data=npy(HONEST["w"]).replace(b"'<f4'", b"'|O' ")),
        "object inside|cannot be read",
    ),
    "truncated": (lambda: forged(data=npy(HONEST["w"])[:-1]), "23 bytes; 24 are expected"),
    "too long": (lambda: forged(data=npy(HONEST["w"]) + b"x"), "25 bytes; 24 are expected"),
    "no bytes": (lambda: forged(data=b""), "cannot be read"),
    "half a header": (lambda: forged(data=npy(HONEST["w"])[:20]), "cannot be read"),
    "promise of exabytes": (lambda: forged(data=huge_header()), "inside"),
    "nested header": (lambda: forged(data=long_header()), "cannot be read"),
    "unknown version": (lambda: forged(data=b"\x93NUMPY\x09\x00"), "cannot be read"),
    "other serialisation": (lambda: forged(stype="pickle"), "serialised as 'pickle'"),
    "negative shape": (lambda: forged(shape=(-2, -3)), r"\(-2, -3\)"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_is_refused_with_a_reason_and_without_influence(kind: str) -> None:
    make, reason = HOSTILE[kind]
    strategy = RobustStrategy(rule="average")
    model, metrics = play(strategy, MODEL, [content(HONEST), make(), content(HONEST)])
    for name, value in HONEST.items():
        assert model[name].tolist() == value.tolist()
    assert metrics["boba/refused-nodes"] == [FIRST_NODE + 1]
    assert (metrics["boba/accepted"], metrics["boba/skipped"]) == (2, 0)
    (refused,) = strategy.reports[-1].of("refused")
    assert refused.node == FIRST_NODE + 1
    assert re.search(reason, refused.reason), refused.reason
    assert len(refused.reason) < 400 and refused.reason.isprintable()


def test_fortran_order_and_the_second_npy_version_are_fine() -> None:
    arrays = record(HONEST)
    target = np.arange(6, dtype=np.float32).reshape(2, 3)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asfortranarray(target), version=(2, 0))
    arrays["w"] = Array("float32", (2, 3), "numpy.ndarray", buffer.getvalue())
    model, metrics = play(RobustStrategy(rule="average"), MODEL, [content(arrays)] * 2)
    assert metrics["boba/accepted"] == 2
    assert model["w"].tolist() == target.tolist()


def test_arrays_may_come_in_any_order_and_under_any_key() -> None:
    shuffled = RecordDict(
        {"weights": record(dict(reversed(HONEST.items()))), "m": MetricRecord({"num-examples": 1})}
    )
    model, metrics = play(RobustStrategy(rule="average"), MODEL, [shuffled, content(HONEST)])
    assert metrics["boba/accepted"] == 2 and list(model) == list(MODEL)
    assert model["w"].tolist() == HONEST["w"].tolist()


def test_empty_arrays_are_arrays() -> None:
    model = {"w": np.ones(2, np.float32), "none": np.zeros((0, 4), np.float32)}
    sent = {"w": np.full(2, 3, np.float32), "none": np.zeros((0, 4), np.float32)}
    new, metrics = play(RobustStrategy(rule="average"), model, [content(sent)] * 2)
    assert metrics["boba/accepted"] == 2 and new["none"].shape == (0, 4)


def test_a_node_that_replies_twice_is_not_believed() -> None:
    strategy = RobustStrategy(rule="average")
    messages = ask(strategy, MODEL, 3)
    replies = [reply(message, content(HONEST)) for message in messages]
    replies.insert(0, reply(messages[1], content({k: v + 50 for k, v in MODEL.items()})))
    arrays, metrics = strategy.aggregate_train(1, replies)
    assert metrics is not None and metrics["boba/refused-nodes"] == [FIRST_NODE + 1]
    assert numpy_of(arrays)["w"].tolist() == HONEST["w"].tolist()
    assert strategy.reports[-1].of("refused")[0].reason == "the node replied 2 times"


def test_what_nobody_thought_of_stops_nothing() -> None:
    strategy = RobustStrategy(rule="average")
    messages = ask(strategy, MODEL, 5)
    replies = [reply(message, content(HONEST)) for message in messages]
    replies[1].__dict__["_content"] = None  # neither content nor error
    replies[2].content["arrays"]["w"].__dict__["data"] = 3  # no bytes
    arrays, metrics = strategy.aggregate_train(1, replies)
    assert metrics is not None and metrics["boba/accepted"] == 3
    assert numpy_of(arrays)["w"].tolist() == HONEST["w"].tolist()
    reasons = [node.reason for node in strategy.reports[-1].of("refused")]
    assert reasons == ["the reply is empty", "the reply cannot be read: TypeError"]


def test_a_node_that_was_not_asked_has_no_say() -> None:
    strategy = RobustStrategy(rule="average", min_train_nodes=2)
    asked = ask(strategy, MODEL, 2)
    other = RobustStrategy().configure_train(1, record(MODEL), ConfigRecord(), FakeGrid(5))
    stranger = max(other, key=lambda message: message.metadata.dst_node_id)
    replies = [reply(message, content(HONEST)) for message in asked]
    replies.append(reply(stranger, content({k: v + 50 for k, v in MODEL.items()})))
    arrays, metrics = strategy.aggregate_train(1, replies)
    assert metrics is not None and metrics["boba/accepted"] == 2
    assert numpy_of(arrays)["w"].tolist() == HONEST["w"].tolist()
    assert strategy.reports[-1].strangers == [f"node {FIRST_NODE + 4} was not asked in this round"]


@pytest.mark.parametrize("number", [2, 1])
def test_a_reply_of_another_round_has_no_say(number: int) -> None:
    strategy = RobustStrategy(rule="average")
    far = content({k: v + 50 for k, v in MODEL.items()})
    stale = [reply(message, far) for message in ask(strategy, MODEL, 4)]
    fresh = [reply(m, content(HONEST)) for m in ask(strategy, MODEL, 4, server_round=number)]
    # Beside its fresh reply, which counts, and in its place.
    arrays, metrics = strategy.aggregate_train(number, [stale[0], *fresh[:3], stale[3]])
    assert metrics is not None
    assert (metrics["boba/accepted"], metrics["boba/refused"]) == (3, 0)
    assert metrics["boba/silent"] == 1
    assert numpy_of(arrays)["w"].tolist() == HONEST["w"].tolist()
    assert strategy.reports[-1].strangers == [
        f"a reply of node {FIRST_NODE + i} answers a message of another round; it is not used"
        for i in (0, 3)
    ]
    arrays, metrics = strategy.aggregate_train(number, stale)
    assert metrics is not None and metrics["boba/skipped"] == 1


def test_an_evaluation_of_another_round_has_no_say() -> None:
    strategy = RobustStrategy(rule="average")

    def evaluated(server_round: int, loss: float) -> list[Message]:
        asked = strategy.configure_evaluate(
            server_round, record(MODEL), ConfigRecord(), FakeGrid(3)
        )
        claims = MetricRecord({"num-examples": 10, "loss": loss})
        return [reply(message, RecordDict({"metrics": claims})) for message in asked]

    stale = evaluated(1, 100.0)
    fresh = evaluated(2, 3.0)
    metrics = strategy.aggregate_evaluate(2, [*stale, *fresh[:1]])
    assert metrics is not None and metrics["loss"] == 3.0
    assert strategy.aggregate_evaluate(2, stale) is None


def test_the_latest_reports_are_kept() -> None:
    strategy = RobustStrategy(rule="average", keep_reports=3)
    for number in range(1, 6):
        play(strategy, MODEL, [content(HONEST)] * 2, server_round=number)
    assert [report.server_round for report in strategy.reports] == [3, 4, 5]
    assert RobustStrategy().keep_reports == 100
    with pytest.raises(ValueError, match="keep_reports=0 is below 1"):
        RobustStrategy(keep_reports=0)


def test_replies_and_the_model_are_not_written_to() -> None:
    sent = record(HONEST)
    before = {name: array.data for name, array in sent.items()}
    start = {name: value.copy() for name, value in MODEL.items()}
    play(RobustStrategy(), MODEL, [content(sent)] * 3)
    assert all(sent[name].data == data for name, data in before.items())
    assert all(MODEL[name].tobytes() == value.tobytes() for name, value in start.items())
