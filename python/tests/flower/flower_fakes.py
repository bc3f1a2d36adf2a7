"""A federation without a network: a grid of node ids, and replies of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Error,
    Message,
    MetricRecord,
    RecordDict,
)
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

# Ids are unsigned and 64 bits long in Flower; these are beyond what a signed one holds.
FIRST_NODE = 2**63 + 100

Model = dict[str, NDArray[Any]]


def be_a_server() -> None:
    """Flower's messages say which run they belong to; outside of a run there is none."""
    try:
        from flwr.supercore.task_identity import TaskIdentity
    except ImportError:
        return  # before 1.36 or so a message knew without being told
    TaskIdentity.run_id = 1
    TaskIdentity.node_id = 1
    TaskIdentity.task_id = 1


class FakeGrid(Grid):
    """Knows node ids, and answers with what a function makes of each message."""

    def __init__(
        self, nodes: int, answer: Callable[[Message], Iterable[Message]] | None = None
    ) -> None:
        self.nodes = [FIRST_NODE + i for i in range(nodes)]
        self.answer = answer
        self.timeouts: list[float | None] = []

    def set_run(self, run: Any) -> None:
        raise AssertionError("a strategy sets no run")

    @property
    def run(self) -> Any:
        raise AssertionError("a strategy asks for no run")

    def create_message(self, *args: Any, **kwargs: Any) -> Message:
        raise AssertionError("deprecated")

    def get_node_ids(self) -> Iterable[int]:
        return self.nodes

    def get_nodes(self) -> Iterable[Any]:
        raise AssertionError("FedAvg asks for ids only")

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise AssertionError("FedAvg sends and receives at once")

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise AssertionError("FedAvg sends and receives at once")

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        self.timeouts.append(timeout)
        if self.answer is None:
            return []
        return [reply for message in messages for reply in self.answer(message)]


def record(model: Mapping[str, NDArray[Any]]) -> ArrayRecord:
    """Arrays by name as Flower sends them."""
    return ArrayRecord({name: Array(np.asarray(value)) for name, value in model.items()})


def numpy_of(arrays: ArrayRecord | None) -> Model:
    """The way back."""
    assert arrays is not None
    return {name: array.numpy() for name, array in arrays.items()}


def content(
    arrays: ArrayRecord | Mapping[str, NDArray[Any]], metrics: Mapping[str, Any] | None = None
) -> RecordDict:
    """What a client of FedAvg replies."""
    sent = arrays if isinstance(arrays, ArrayRecord) else record(arrays)
    claims = {"num-examples": 10} if metrics is None else dict(metrics)
    return RecordDict({"arrays": sent, "metrics": MetricRecord(claims)})


def reply(message: Message, what: RecordDict | Error) -> Message:
    """A reply to a message of the server."""
    return Message(what, reply_to=message)


def ask(
    strategy: FedAvg, model: Mapping[str, NDArray[Any]], nodes: int, server_round: int = 1
) -> list[Message]:
    """The messages of a round by node id."""
    messages = strategy.configure_train(
        server_round, record(model), ConfigRecord(), FakeGrid(nodes)
    )
    return sorted(messages, key=lambda message: message.metadata.dst_node_id)


def play(
    strategy: FedAvg,
    model: Mapping[str, NDArray[Any]],
    contents: Sequence[RecordDict | Error | None],
    server_round: int = 1,
) -> tuple[Model, MetricRecord]:
    """One round in which node i replies contents[i]; None is a node that stays silent."""
    messages = ask(strategy, model, len(contents), server_round)
    replies = [
        reply(message, what) for message, what in zip(messages, contents) if what is not None
    ]
    arrays, metrics = strategy.aggregate_train(server_round, replies)
    assert metrics is not None
    return numpy_of(arrays), metrics
