"""One round through the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boba import _core
from boba._checks import real_number, real_numbers, seed_or_none, texts, whole_number
from boba._memory import Memory, held
from boba._result import Result
from boba._rows import Flat, Form, new_rows, read


class OracleInForm:
    """The user's oracle, asked with points that look like the updates."""

    def __init__(self, oracle: Any, form: Form, dtype: str) -> None:
        """Takes the oracle and what its points look like."""
        self._oracle = oracle
        self._form = form
        self._dtype = dtype

    def loss(self, point: Flat) -> float:
        """Gives the loss at the point."""
        return float(self._oracle.loss(self._form.give(point)))

    def gradient(self, point: Flat) -> Flat:
        """Gives the gradient at the point, flat."""
        gradient = self._oracle.gradient(self._form.give(point))
        return self._form.flatten(gradient, self._dtype, "the oracle's gradient")


def aggregate_round(
    made: _core.Aggregator,
    updates: Any,
    *,
    server: Any,
    server_counts: Sequence[float] | None,
    server_whole: Any,
    model: Any,
    learning_rate: float,
    oracle: Any,
    ids: Sequence[object] | None,
    memory: Memory | None,
    seed: int | None,
    number: int,
    threads: int,
) -> Result:
    """Runs the rule on a round and wraps what it decided."""
    rows, form = read(updates, "updates")
    out = new_rows(rows, 1)[0]
    verdict = _core.aggregate(
        made,
        rows,
        out,
        None if server is None else form.read_rows(server, "server"),
        real_numbers("server_counts", server_counts),
        None if server_whole is None else form.read_row(server_whole, "server_whole"),
        None if model is None else form.read_row(model, "model"),
        real_number("learning_rate", learning_rate),
        None if oracle is None else OracleInForm(oracle, form, rows.dtype),
        texts("ids", ids),
        held(memory),
        seed_or_none(seed),
        whole_number("round", number, 32),
        whole_number("threads", threads, 12),
    )
    return Result(form.give(out), verdict)
