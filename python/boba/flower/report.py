"""What a round decided about whom: for the log, Flower's metrics and the audit file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from flwr.app import MetricRecord

from boba.flower.metrics import OWN_PREFIX

# accepted, rejected  the rule's verdict
# refused             the reply could not be used, so the rule never saw it
# failed              Flower brought an error instead of a reply
# silent              asked, and no reply came in time
# unused              the reply was good, but the round was skipped
Outcome = Literal["accepted", "rejected", "refused", "failed", "silent", "unused"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_LISTED: tuple[Outcome, ...] = ("accepted", "rejected", "refused")


@dataclass(frozen=True)
class NodeReport:
    """One node in one round. A weight exists only for rules that weigh whole updates."""

    node: int
    outcome: Outcome
    reason: str = ""
    weight: float | None = None


@dataclass
class RoundReport:
    """One round. skipped says why the model stayed as it was; empty if it moved."""

    server_round: int
    asked: frozenset[int]
    nodes: dict[int, NodeReport] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""

    def add(self, report: NodeReport) -> None:
        """A node has one outcome; the first stands."""
        self.nodes.setdefault(report.node, report)

    def close(self) -> None:
        """Whoever was asked and is not there yet is silent."""
        for node in sorted(self.asked - self.nodes.keys()):
            self.add(NodeReport(node, "silent", "no reply in time"))

    def of(self, *outcomes: Outcome) -> list[NodeReport]:
        """The nodes with one of these outcomes, by node id."""
        found: Iterable[NodeReport] = (n for n in self.nodes.values() if n.outcome in outcomes)
        return sorted(found, key=lambda report: report.node)

    def metrics(self) -> MetricRecord:
        """Numbers for Flower's history. Reasons are text, which its metrics cannot hold."""
        record = MetricRecord({f"{OWN_PREFIX}skipped": int(bool(self.skipped))})
        for outcome in OUTCOMES:
            record[f"{OWN_PREFIX}{outcome}"] = len(self.of(outcome))
        for outcome in _LISTED:
            record[f"{OWN_PREFIX}{outcome}-nodes"] = [report.node for report in self.of(outcome)]
        return record
