"""What an aggregation gives: the vector, and what was decided about whom."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, overload

from boba import _core
from boba._records import FIELDS, Client, Verdict


class Clients(Sequence[Client]):
    """The clients' records in the order of the updates; prints as a table."""

    def __init__(self, verdict: _core.Verdict) -> None:
        """Reads records only when they are asked for."""
        self._verdict = verdict

    def __len__(self) -> int:
        """Counts the updates that came."""
        return len(self._verdict)

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
        columns: dict[str, list[Any]] = {}
        for field in FIELDS["client"]:
            column = [getattr(record, field["name"]) for record in records]
            if field["name"] == "measures":
                for name in dict.fromkeys(name for measures in column for name in measures):
                    columns.setdefault(name, [measures.get(name) for measures in column])
            elif not field["optional"] or any(value is not None for value in column):
                columns[field["name"]] = column
        return columns

    def __str__(self) -> str:
        """Gives the table that ``boba aggregate`` prints."""
        return self._verdict.clients_text.removesuffix("\n")

    __repr__ = __str__


class Result(Verdict):
    """The aggregate and the verdict. What is not read is not converted."""

    def __init__(self, vector: Any, verdict: _core.Verdict) -> None:
        """Is made by ``boba.aggregate`` and the rules, not by users."""
        super().__init__(verdict)
        self._vector = vector

    @property
    def vector(self) -> Any:
        """The aggregate, of the kind of the updates."""
        return self._vector

    @functools.cached_property
    def clients(self) -> Clients:
        """A record for each update: reason, measures, label mix, ..."""
        return Clients(self._verdict)

    @property
    def seconds(self) -> float:
        """Time spent inside the engine."""
        return self._verdict.seconds

    def __repr__(self) -> str:
        """Says what ran and how many were accepted."""
        return f"<boba.Result: {self._verdict.headline}>"

    def summary(self) -> str:
        """Gives the verdict for reading, as ``boba aggregate`` prints it."""
        return self._verdict.text.removesuffix("\n")
