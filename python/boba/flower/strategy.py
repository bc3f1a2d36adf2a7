"""RobustStrategy: Flower's FedAvg with one of boba's rules in place of the weighted mean."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.exception import AggregationError
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

import boba
from boba.flower.audit import AuditFile, RunHeader
from boba.flower.buffers import POLICIES, BufferPolicy, combine_buffers
from boba.flower.engine import Engine, whole
from boba.flower.layout import DEFAULT_BUFFER_NAMES, Layout, Refusal
from boba.flower.metrics import consistent, median_metrics
from boba.flower.report import NodeReport, Outcome, RoundReport
from boba.flower.server import ServerOracle, ServerUpdate
from boba.flower.text import shown

_LOG = logging.getLogger("flwr")

MetricsFunction = Callable[[list[RecordDict], str], MetricRecord]


@dataclass(frozen=True)
class _Reply:
    """A reply that passed every check."""

    node: int
    content: RecordDict
    values: Mapping[str, NDArray[Any]]
    row: NDArray[Any]


class RobustStrategy(FedAvg):
    """Federated averaging that survives clients which lie.

    Every argument of FedAvg means what it means there, with two exceptions: no client is weighed
    by weighted_by_key, and metrics without a function of the user's are medians. A function of the
    user's gets accepted records that look like most, and its errors do not stop the run. The rest
    is by keyword:

    rule            what combines the updates: a spec such as "mkrum(f=2)", or a rule object such as
                    boba.MultiKrum(f=2). geomed, the default, needs neither f nor server data and
                    bears up to half of the clients; where clients hold different classes,
                    boba(f=...) with a server_update is the rule to take.
    server_update   the update of a client that holds one class only; see ServerUpdate. Rules that
                    need one and have none are refused here, not in round 3.
    classes         how many classes server_update knows, where it does not say so itself.
    server_oracle   loss and gradient of the server's data, for the rules that probe.
    memory          what the rule remembers of earlier rounds, as an earlier run saved it. By
                    default a rule that uses a memory starts with an empty one.
    seed            of the rules with random stages; they draw anew in each round. None draws one
                    that no client knows; the audit records it.
    buffers         what becomes of arrays that are not trained: the "median" of all usable
                    replies, the "average" of the accepted, which one of them can move at will, or
                    "keep" the server's.
    buffer_names    patterns of such arrays; integers and booleans are buffers without being named.
    min_replies     with fewer replies a round is skipped and the model stays; by default 2f + 1, f
                    being the rule's, so that the honest are a majority. Where the rule has no f, or
                    f is 0, more than half of the nodes that were asked must have replied usably.
    proximal_mu     sent to the clients as FedProx does; None sends nothing.
    audit           a SQLite file that keeps what every round decided about every node.
    keep_reports    how many rounds stay in `reports`, the latest; the audit file keeps all.
    threads         of the aggregation; 0 is one for each processor.
    """

    def __init__(
        self,
        fraction_train: float = 1.0,
        fraction_evaluate: float = 1.0,
        min_train_nodes: int = 2,
        min_evaluate_nodes: int = 2,
        min_available_nodes: int = 2,
        weighted_by_key: str = "num-examples",
        arrayrecord_key: str = "arrays",
        configrecord_key: str = "config",
        train_metrics_aggr_fn: MetricsFunction | None = None,
        evaluate_metrics_aggr_fn: MetricsFunction | None = None,
        *,
        rule: str | boba.Rule = "geomed",
        server_update: ServerUpdate | None = None,
        classes: int | None = None,
        server_oracle: ServerOracle | None = None,
        memory: boba.Memory | None = None,
        seed: int | None = None,
        buffers: BufferPolicy = "median",
        buffer_names: Iterable[str] = DEFAULT_BUFFER_NAMES,
        min_replies: int | None = None,
        proximal_mu: float | None = None,
        audit: str | Path | None = None,
        keep_reports: int = 100,
        threads: int = 0,
    ) -> None:
        super().__init__(
            fraction_train=fraction_train,
            fraction_evaluate=fraction_evaluate,
            min_train_nodes=min_train_nodes,
            min_evaluate_nodes=min_evaluate_nodes,
            min_available_nodes=min_available_nodes,
            weighted_by_key=weighted_by_key,
            arrayrecord_key=arrayrecord_key,
            configrecord_key=configrecord_key,
            train_metrics_aggr_fn=train_metrics_aggr_fn or median_metrics,
            evaluate_metrics_aggr_fn=evaluate_metrics_aggr_fn or median_metrics,
        )
        if buffers not in POLICIES:
            raise ValueError(f"no buffers policy '{buffers}'; policies are: {', '.join(POLICIES)}")
        if isinstance(buffer_names, str):
            raise ValueError("buffer_names is a list of patterns, not one text")
        self.engine = Engine(rule, server_update, classes, server_oracle, memory, seed, threads)
        self.buffers: BufferPolicy = buffers
        self.buffer_names = tuple(buffer_names)
        self.min_replies = self._fewest(min_replies)
        self.proximal_mu = proximal_mu
        self.keep_reports = whole("keep_reports", keep_reports)
        if self.keep_reports < 1:
            raise ValueError(f"keep_reports={self.keep_reports} is below 1")
        self.reports: list[RoundReport] = []
        self._audit = None if audit is None else AuditFile(audit, self._header())
        self._layout: Layout | None = None
        self._sent: ArrayRecord | None = None
        self._messages: list[Message] = []
        self._asked: frozenset[int] = frozenset()
        self._group = ""
        self._evaluation = ""

    @property
    def memory(self) -> boba.Memory | None:
        """What the rule remembers of earlier rounds; None if it uses no memory.

        It knows a node by its id, written as text. Save it with the model to continue the run.
        """
        return self.engine.memory

    def summary(self) -> None:
        """Log the rule and the policies, then what FedAvg logs."""
        _LOG.info("\t├──> boba settings:")
        _LOG.info("\t│\t├── Rule: %s", self.engine.rule)
        _LOG.info("\t│\t├── Fewest replies: %s", self.min_replies or "more than half, usable")
        _LOG.info("\t│\t└── Buffers: %s", self.buffers)
        super().summary()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """As FedAvg, and keeps what was sent to whom: replies are compared with it."""
        if self.proximal_mu is not None:
            config["proximal-mu"] = self.proximal_mu
        self._layout = Layout(arrays, self.buffer_names)
        self._sent = arrays
        # Before anything is sent, so that a broken server_update costs no client its work.
        self.engine.prepare(self._layout, arrays)
        self._group = _group_of(server_round)
        sent = super().configure_train(server_round, arrays, config, grid)
        self._messages = _marked(sent, self._group)
        self._asked = frozenset(message.metadata.dst_node_id for message in self._messages)
        return self._messages

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The next global model, which is the last one if the round is skipped, and metrics."""
        if self._layout is None or self._sent is None:
            raise AggregationError(
                "RobustStrategy compares replies with the model that configure_train sent; "
                "call it first"
            )
        if not self._asked:
            return None, None  # training is switched off, as FedAvg does it
        report = RoundReport(server_round, self._asked)
        usable = self._read(self._layout, replies, report)
        arrays = self._combine(self._layout, usable, report)
        for reply in usable if arrays is None else ():
            report.nodes[reply.node] = NodeReport(reply.node, "unused", "the round was skipped")
        report.close()
        self._record(report)
        accepted = {node.node for node in report.of("accepted")}
        contents = [reply.content for reply in usable if reply.node in accepted]
        # A skipped round has no say in the model, and none in the metrics.
        among = [] if report.skipped else [reply.content for reply in usable]
        metrics = self._client_metrics(self.train_metrics_aggr_fn, contents, among)
        metrics.update(report.metrics())
        return (self._sent if arrays is None else arrays), metrics

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """As FedAvg, with messages that are marked with their round."""
        self._evaluation = _group_of(server_round)
        sent = super().configure_evaluate(server_round, arrays, config, grid)
        return _marked(sent, self._evaluation)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """The clients' metrics; replies that do not fit the others are left out."""
        good, _ = _sorted_out("aggregate_evaluate", replies)
        contents: list[RecordDict] = []
        for message in good:
            if self._evaluation and not _answers(message, self._evaluation):
                _LOG.warning("\t> %s", _of_another_round(message))
            elif message.has_content():
                contents.append(message.content)
        if not contents:
            return None
        return self._client_metrics(self.evaluate_metrics_aggr_fn, contents, contents)

    def _read(
        self, layout: Layout, replies: Iterable[Message], report: RoundReport
    ) -> list[_Reply]:
        """Every reply by node id, so that the order of arrival is no matter."""
        good, errors = _sorted_out("aggregate_train", replies)
        for message in errors:
            self._fail(message, report)
        copies = Counter(
            message.metadata.src_node_id for message in good if _answers(message, self._group)
        )
        read: list[_Reply] = []
        for message in sorted(good, key=lambda reply: reply.metadata.src_node_id):
            node = message.metadata.src_node_id
            if node not in self._asked:
                report.strangers.append(f"node {node} was not asked in this round")
                continue
            if not _answers(message, self._group):
                report.strangers.append(_of_another_round(message))
                continue
            try:
                if copies[node] > 1:
                    raise Refusal(f"the node replied {copies[node]} times")
                if not message.has_content():
                    raise Refusal("the reply is empty")
                values = layout.read(message.content)
                read.append(_Reply(node, message.content, values, layout.row(values)))
            except Refusal as refusal:
                report.add(NodeReport(node, "refused", str(refusal)))
            except Exception as error:
                # No reply may stop the server, also not one that nobody thought of.
                _LOG.debug("node %d", node, exc_info=error)
                reason = f"the reply cannot be read: {type(error).__name__}"
                report.add(NodeReport(node, "refused", reason))
        return read

    def _fail(self, message: Message, report: RoundReport) -> None:
        node = message.metadata.src_node_id
        reason = _reason(message)
        if node not in self._asked:
            # Flower itself answers for a node that is gone; then the message tells whom it was for.
            # It got its id when it was sent.
            answered = message.metadata.reply_to_message_id
            for sent in self._messages:
                if answered and sent.metadata.message_id == answered:
                    node = sent.metadata.dst_node_id
        if node in self._asked:
            report.add(NodeReport(node, "failed", reason))
        else:
            report.strangers.append(f"error from node {node}: {reason}")

    def _combine(
        self, layout: Layout, usable: list[_Reply], report: RoundReport
    ) -> ArrayRecord | None:
        """The next model, or None and the reason in the report."""
        refused = [node.node for node in report.of("refused")]
        report.skipped = self._shortfall(len(usable), len(refused))
        if report.skipped:
            return None
        # To the rule a refused reply is a row of NaN: it counts among the f, and has no influence.
        nothing = np.full(layout.length, np.nan, dtype=layout.dtype)
        rows = {reply.node: reply.row for reply in usable} | dict.fromkeys(refused, nothing)
        nodes = sorted(rows)
        try:
            result = self.engine.aggregate(
                [rows[node] for node in nodes], [str(node) for node in nodes], report.server_round
            )
        except ValueError as error:
            report.skipped = str(error)
            return None
        report.warnings.extend(result.warnings)
        report.notes.extend(result.notes)
        for node, client in zip(nodes, result.clients):
            report.add(_judged(node, client))
        accepted = {node.node for node in report.of("accepted")}
        new = layout.step(np.asarray(result.vector)) | combine_buffers(
            layout,
            self.buffers,
            [reply.values for reply in usable],
            [reply.values for reply in usable if reply.node in accepted],
        )
        for name, value in new.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                report.skipped = f"array '{name}' of the result is not finite"
                return None
        return ArrayRecord({name: Array(new[name]) for name in layout.values})

    def _fewest(self, min_replies: int | None) -> int | None:
        """How many replies a round takes; None for more than half of those asked."""
        if min_replies is None:
            return 2 * self.engine.f + 1 if self.engine.f > 0 else None
        count = whole("min_replies", min_replies)
        if count < 1:
            raise ValueError(f"min_replies={count} is below 1")
        return count

    def _shortfall(self, usable: int, refused: int) -> str:
        """Why there are too few replies for the rule's promise, or nothing."""
        if usable == 0:
            return "no reply can be used"
        if self.min_replies is None:
            if 2 * usable <= len(self._asked):
                return (
                    f"{usable} of the {len(self._asked)} nodes asked replied usably, which is not "
                    "more than half; min_replies= sets another number"
                )
        elif usable + refused < self.min_replies:
            return f"{usable + refused} replies came; min_replies is {self.min_replies}"
        if 0 < self.engine.f < refused:
            return (
                f"{refused} replies were refused, more than the f={self.engine.f} clients that "
                "are assumed to misbehave"
            )
        return ""

    def _client_metrics(
        self, function: MetricsFunction, contents: list[RecordDict], among: list[RecordDict]
    ) -> MetricRecord:
        """What the clients report: medians of all, or the user's function of some of the contents.

        Most of `among` are honest. Of the contents, which the rule accepted, it may be none.
        """
        if function is median_metrics:
            return median_metrics(among, self.weighted_by_key)
        fitting = consistent(contents, among, self.weighted_by_key)
        if not fitting:
            if contents:
                _LOG.warning("no client metrics: no records of accepted nodes look like most")
            return MetricRecord()
        try:
            made = function(fitting, self.weighted_by_key)
            if not isinstance(made, MetricRecord):
                raise TypeError(f"a MetricRecord is expected, {type(made).__name__} came")
            return made
        except Exception as error:
            # What clients claim must not stop the run, whatever a function makes of it.
            _LOG.warning(
                "no client metrics: the function for them failed: %s: %s",
                type(error).__name__,
                shown(str(error), 500),
            )
            _LOG.debug("the function for client metrics", exc_info=error)
            return MetricRecord()

    def _record(self, report: RoundReport) -> None:
        self.reports.append(report)
        del self.reports[: -self.keep_reports]
        counts = [len(report.of(outcome)) for outcome in ("accepted", "rejected", "refused")]
        _LOG.info(
            "aggregate_train: %s: %d accepted, %d rejected, %d refused", self.engine.rule, *counts
        )
        for node in report.of("refused", "rejected"):
            _LOG.info("\t> node %d %s: %s", node.node, node.outcome, node.reason)
        for text in (*report.strangers, *report.warnings):
            _LOG.warning("\t> %s", text)
        if report.skipped:
            _LOG.warning(
                "aggregate_train: round %d is skipped, the model stays: %s",
                report.server_round,
                report.skipped,
            )
        if self._audit is not None:
            try:
                self._audit.write(report)
            except OSError as error:
                raise AggregationError(str(error)) from error

    def _header(self) -> RunHeader:
        settings = f"buffers={self.buffers} min_replies={self.min_replies or 'majority'}"
        return RunHeader(self.engine.rule, self.engine.seed, settings)


def _group_of(server_round: int) -> str:
    """A name for a round's messages that no other round has, also not one of the same number."""
    return f"{server_round}-{secrets.token_hex(8)}"


def _marked(messages: Iterable[Message], group: str) -> list[Message]:
    """The same messages with the group's name, which Flower puts into replies to them."""
    return [
        Message(
            content=message.content,
            dst_node_id=message.metadata.dst_node_id,
            message_type=message.metadata.message_type,
            ttl=message.metadata.ttl,
            group_id=group,
        )
        for message in messages
    ]


def _answers(message: Message, group: str) -> bool:
    return message.metadata.group_id == group


def _of_another_round(message: Message) -> str:
    return (
        f"a reply of node {message.metadata.src_node_id} answers a message of another round; "
        "it is not used"
    )


def _sorted_out(where: str, replies: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """Replies and errors. Logs them as FedAvg does, but a client's text cannot forge log lines."""
    good: list[Message] = []
    errors: list[Message] = []
    for message in replies:
        (errors if message.has_error() else good).append(message)
    if good or errors:
        _LOG.info("%s: Received %d results and %d failures", where, len(good), len(errors))
    for message in errors:
        node = message.metadata.src_node_id
        _LOG.info("\t> Received error in reply from node %d: %s", node, _reason(message))
    return good, errors


def _reason(message: Message) -> str:
    return shown(message.error.reason or "", 500)


def _judged(node: int, client: boba.Client) -> NodeReport:
    if client.refused:
        return NodeReport(node, "refused", client.reason, client.weight)
    outcome: Outcome = "accepted" if client.accepted else "rejected"
    return NodeReport(node, outcome, client.reason, client.weight)
