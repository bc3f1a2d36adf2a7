"""What an aggregation gives: the vector, and what was decided about whom."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from boba import _core
from boba._text import bullets, label_mix_text, named_values, short_number, table

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Client:
    """What was decided about one client.

    The numbers that the rule knows about it are in ``measures``, and attributes too:
    ``client.residual``, ``client.score``, ...
    """

    index: int
    """The client's row."""
    id: str | None
    """Who sent it; None if nobody said."""
    weight: float | None
    """Share of its row in the output; None for rules that work coordinate by coordinate."""
    accepted: bool
    refused: bool
    """The update itself was unusable: it had no influence at all."""
    reason: str
    bucket: int | None
    """The mixed row it went into, where a stage mixed rows."""
    in_fit: bool | None
    """Whether it took part in fitting BOBA's subspace."""
    measures: dict[str, float]
    label_mix: FloatArray | None
    """Estimated share of each class."""

    def __getattr__(self, name: str) -> float:
        """Finds a measure by its name."""
        measures: dict[str, float] = {} if name == "measures" else self.measures
        if name not in measures:
            known = ", ".join(measures) or "none"
            raise AttributeError(f"no attribute {name}; the rule's measures are: {known}")
        return measures[name]


@dataclass(frozen=True, slots=True)
class Subspace:
    """BOBA's subspace, and whether its guarantee can hold."""

    dimension: int
    """Directions asked for: c - 1."""
    rank: int
    """Directions found; the rest was below rounding."""
    fits: int
    converged: bool
    trimmed_loss: FloatArray
    """Sum of squared residuals of the fitted set, per iteration."""
    singular_values: FloatArray
    explained_variance: FloatArray
    residual_level: float
    condition: float
    noise_singular_value: float
    sigma_bound: float
    guarantee_possible: bool
    """Nothing seen in this round rules the guarantee out."""
    statements: list[str]


class Clients(Sequence[Client]):
    """The clients' records in the order of the updates; prints as a table."""

    def __init__(self, verdict: _core.Verdict) -> None:
        """Reads records only when they are asked for."""
        self._verdict = verdict

    def __len__(self) -> int:
        """Counts the updates that came."""
        return self._verdict.updates

    @overload
    def __getitem__(self, index: int) -> Client: ...
    @overload
    def __getitem__(self, index: slice) -> list[Client]: ...
    def __getitem__(self, index: int | slice) -> Client | list[Client]:
        """Gives one record, or several."""
        places = range(len(self))[index]
        if isinstance(places, range):
            return [Client(**self._verdict.client(i)) for i in places]
        return Client(**self._verdict.client(places))

    def __iter__(self) -> Iterator[Client]:
        """Goes through the records in the order of the updates."""
        return (Client(**self._verdict.client(i)) for i in range(len(self)))

    def to_dict(self) -> dict[str, list[Any]]:
        """Gives the table by columns, as ``pandas.DataFrame`` takes it.

        Every measure is a column. Columns that the rule says nothing in are left out.
        """
        records = list(self)
        names = ["index", "id", "accepted", "refused", "weight", "bucket", "in_fit"]
        columns: dict[str, list[Any]] = {
            name: [getattr(record, name) for record in records] for name in names
        }
        for record in records:
            for name in record.measures:
                if name not in columns:
                    columns[name] = [one.measures.get(name) for one in records]
        columns["label_mix"] = [record.label_mix for record in records]
        columns["reason"] = [record.reason for record in records]
        always = ("index", "accepted", "refused", "reason")
        return {
            name: column
            for name, column in columns.items()
            if name in always or any(value is not None for value in column)
        }

    def __str__(self) -> str:
        """Gives the aligned table."""
        columns = self.to_dict()
        columns.pop("refused")
        if "id" in columns:
            columns["client"] = columns.pop("id")
            columns.pop("index")
        shown = {"client": columns.pop("client", columns.pop("index", []))} | columns
        if "label_mix" in shown:
            shown["label_mix"] = [label_mix_text(mix) for mix in shown["label_mix"]]
        return table(shown)

    __repr__ = __str__


class Result:
    """The aggregate and the verdict. What is not read is not converted."""

    def __init__(self, vector: Any, verdict: _core.Verdict) -> None:
        """Is made by ``boba.aggregate`` and the rules, not by users."""
        self._vector = vector
        self._verdict = verdict

    @property
    def vector(self) -> Any:
        """The aggregate, of the kind of the updates."""
        return self._vector

    @property
    def rule(self) -> str:
        """The canonical spec of what ran."""
        return self._verdict.rule

    @functools.cached_property
    def weights(self) -> FloatArray | None:
        """One weight per update; None for rules that work coordinate by coordinate."""
        return self._verdict.weights

    @functools.cached_property
    def server_weights(self) -> FloatArray:
        """One weight per server gradient."""
        return self._verdict.server_weights

    @functools.cached_property
    def accepted(self) -> BoolArray:
        """Whether each update was accepted."""
        return self._verdict.accepted

    @functools.cached_property
    def clients(self) -> Clients:
        """A record for each update: reason, measures, label mix, ..."""
        return Clients(self._verdict)

    @functools.cached_property
    def measures(self) -> dict[str, float]:
        """The rule's numbers about the round."""
        return self._verdict.measures

    @functools.cached_property
    def warnings(self) -> list[str]:
        """Guarantees missed, one sentence each."""
        return self._verdict.warnings

    @functools.cached_property
    def notes(self) -> list[str]:
        """What else is worth knowing, one sentence each."""
        return self._verdict.notes

    @functools.cached_property
    def subspace(self) -> Subspace | None:
        """BOBA's subspace; None for other rules."""
        fields = self._verdict.subspace
        return None if fields is None else Subspace(**fields)

    @property
    def absent(self) -> list[str]:
        """Clients of an open round that did not come in time."""
        return self._verdict.absent

    @property
    def refused(self) -> int:
        """How many updates were unusable: NaN, infinite, too large, or a second one."""
        return self._verdict.refused

    @property
    def seconds(self) -> float:
        """Time spent inside the engine."""
        return self._verdict.seconds

    def _headline(self) -> str:
        verdict = self._verdict
        text = f"{verdict.rule} accepted {verdict.accepted_count} of {verdict.updates} updates"
        return text + (f", refused {verdict.refused} as unusable" if verdict.refused else "")

    def __repr__(self) -> str:
        """Says what ran and how many were accepted."""
        return f"<boba.Result: {self._headline()}>"

    def summary(self) -> str:
        """Gives the verdict for reading: the round, the subspace, and a line for each client."""
        lines = [self._headline()]
        lines += [f"{name}: {short_number(value)}" for name, value in self.measures.items()]
        lines += bullets("Warnings", self.warnings) + bullets("Notes", self.notes)
        if self.subspace is not None:
            lines += _subspace_lines(self.subspace)
        return "\n".join([*lines, "", str(self.clients)])


def _subspace_lines(subspace: Subspace) -> list[str]:
    settled = "settled" if subspace.converged else "did not settle"
    guarantee = "nothing seen rules it out" if subspace.guarantee_possible else "ruled out"
    return [
        "",
        f"Subspace of the honest updates: {subspace.rank} of {subspace.dimension} directions, "
        f"{subspace.fits} fits, the fitted set {settled}",
        named_values("trimmed loss", subspace.trimmed_loss),
        named_values("singular values", subspace.singular_values),
        named_values("explained variance", subspace.explained_variance),
        named_values("residual level", [subspace.residual_level]),
        named_values("sigma at most", [subspace.sigma_bound]),
        *bullets(f"Guarantee: {guarantee}", subspace.statements),
    ]
