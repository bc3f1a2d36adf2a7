"""What a verdict holds, made from the core's description of its fields.

``_records.pyi`` beside this file says the same to type checkers; ``scripts/python_stubs.py`` writes
it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from boba import _core

FIELDS = _core.fields()


class Measured:
    """A record whose measures are attributes too: ``client.residual``, ``client.score``, ..."""

    __slots__ = ()

    def __getattr__(self, name: str) -> float:
        """Finds a measure by its name."""
        measures: dict[str, float] = {} if name == "measures" else self.measures
        if name not in measures:
            known = ", ".join(measures) or "none"
            raise AttributeError(f"no attribute {name}; the rule's measures are: {known}")
        return measures[name]


def _record(key: str, *bases: type) -> type[Any]:
    fields = [(field["name"], Any, dataclasses.field(default=None)) for field in FIELDS[key]]
    made = dataclasses.make_dataclass(
        key.capitalize(), fields, bases=bases, frozen=True, slots=True, kw_only=True
    )
    made.__module__ = __name__
    made.__doc__ = "\n".join(f"{field['name']}: {field['meaning']}" for field in FIELDS[key])
    return made


Client = _record("client", Measured)
# What one rule reports in fields of its own.
REPORTS = {key: _record(key) for key in FIELDS if key not in ("verdict", "client")}
Subspace = REPORTS["subspace"]


class Verdict:
    """What was decided about a round. What is not read is not converted."""

    def __init__(self, verdict: _core.Verdict) -> None:
        """Looks into the engine's verdict."""
        self._verdict = verdict
        self._values: dict[str, Any] = {}

    def _read(self, name: str) -> Any:
        if name not in self._values:
            if name in REPORTS:
                fields = self._read("reports").get(name)
                self._values[name] = fields and REPORTS[name](**fields)
            else:
                self._values[name] = self._verdict.field(name)
        return self._values[name]


def _reader(name: str, meaning: str) -> property:
    return property(lambda self: self._read(name), doc=meaning)


for _field in FIELDS["verdict"]:
    setattr(Verdict, _field["name"], _reader(_field["name"], _field["meaning"]))
for _name in REPORTS:
    setattr(Verdict, _name, _reader(_name, "What the rule reports; None for other rules."))
