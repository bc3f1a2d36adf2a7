"""Writes stubs for type checkers.

boba/_classes.pyi has the classes of the rules, stages and attacks, boba/_records.pyi the fields of
verdicts.

    python scripts/python_stubs.py           print what the installed boba needs
    python scripts/python_stubs.py --write   write them beside _classes.py and _records.py

The core's tables are the source; a test says when a file is not what they give.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from boba import _core
from boba._classes import document
from boba._parts import python_name, read_value
from boba._records import FIELDS, REPORTS

PACKAGE = Path(__file__).parents[1] / "python" / "boba"
_BASES = {"rule": "Rule", "mix": "Stage", "blend": "Stage", "attack": "Attack"}
_TYPES = {"integer": "int", "number": "float"}


def _type(option: _core.Option) -> str:
    choices = ", ".join(f'"{choice}"' for choice in option["choices"])
    plain = _TYPES.get(option["type"], f"Literal[{choices}]")
    return f'{plain} | Literal["{option["word"]}"]' if option["word"] else plain


def _default(option: _core.Option) -> str:
    value = read_value(option, option["default"])
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _class(entry: _core.Entry) -> str:
    lines = document(entry).splitlines()
    parameters = [
        f"        {python_name(option['name'])}: {_type(option)} = {_default(option)},"
        for option in entry["options"]
    ]
    body = ['"""' + lines[0], *lines[1:], '"""']
    text = f"class {entry['python']}({_BASES[entry['kind']]}):\n"
    text += textwrap.indent("\n".join(body), "    ", lambda line: line.strip() != "") + "\n\n"
    if parameters:
        listed = "\n".join(parameters)
        text += f"    def __init__(\n        self,\n{listed}\n    ) -> None: ...\n"
    else:
        text += "    def __init__(self) -> None: ...\n"
    for option in entry["options"]:
        text += "    @property\n"
        text += f"    def {python_name(option['name'])}(self) -> {_type(option)}: ...\n"
    return text


_FIELD_TYPES = {
    "flag": "bool",
    "count": "int",
    "number": "float",
    "text": "str",
    "flags": "BoolArray",
    "numbers": "FloatArray",
    "texts": "list[str]",
    "numbers by name": "dict[str, float]",
}
_RECORDS = """\
# Written by scripts/python_stubs.py from the core's tables.
from dataclasses import dataclass
from typing import Any

import numpy as np

from boba import _core

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
FIELDS: dict[str, list[_core.Field]]
REPORTS: dict[str, type[Any]]

class Measured:
    def __getattr__(self, name: str) -> float: ...
"""
_VERDICT = """\
    _verdict: _core.Verdict
    def __init__(self, verdict: _core.Verdict) -> None: ...
"""


def _field(field: _core.Field, is_property: bool) -> str:
    name, kind = field["name"], _FIELD_TYPES[field["type"]]
    if field["optional"] and field["type"] != "texts":
        kind += " | None"
    text = f"@property\ndef {name}(self) -> {kind}:\n" if is_property else f"{name}: {kind}\n"
    meaning = textwrap.wrap(f'"""{field["meaning"]}"""', 88, break_on_hyphens=False)
    text += textwrap.indent("\n".join(meaning), "    " if is_property else "")
    return textwrap.indent(text, "    ") + "\n"


def records() -> str:
    """Gives the stub of what a verdict holds."""
    parts = [_RECORDS]
    for key in [*(key for key in FIELDS if key != "verdict"), "verdict"]:
        base = "(Measured)" if key == "client" else ""
        text = f"class {key.capitalize()}{base}:\n"
        if key == "verdict":
            text += _VERDICT
        else:
            text = "@dataclass(frozen=True, slots=True, kw_only=True)\n" + text
        parts.append(text + "".join(_field(field, key == "verdict") for field in FIELDS[key]))
    reports = "".join(
        f"    @property\n    def {key}(self) -> {made.__name__} | None: ...\n"
        for key, made in REPORTS.items()
    )
    return "\n".join(parts) + reports


def classes() -> str:
    """Gives the stub of the classes of rules, stages and attacks."""
    entries = _core.entries()
    aliases = {entry["python_alias"]: entry["python"] for entry in entries if entry["python_alias"]}
    names = sorted([entry["python"] for entry in entries] + list(aliases))
    listed = "\n".join(f'    "{name}",' for name in names)
    head = (
        "# Written by scripts/python_stubs.py from the core's tables.\n"
        "from typing import Literal\n\n"
        "from boba import _core\n"
        "from boba._parts import Attack, Rule, Stage\n\n"
        f"__all__ = [\n{listed}\n]\n\n"
        "def document(entry: _core.Entry) -> str: ...\n"
    )
    second = [f"{alias} = {name}\n" for alias, name in aliases.items()]
    return "\n".join([head, *map(_class, entries), *second])


def stubs() -> dict[str, str]:
    """Gives each file by its name."""
    return {"_classes.pyi": classes(), "_records.pyi": records()}


if __name__ == "__main__":
    for name, text in stubs().items():
        if "--write" in sys.argv[1:]:
            (PACKAGE / name).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
