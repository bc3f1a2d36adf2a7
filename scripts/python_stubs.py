"""Writes boba/_classes.pyi, the classes of the rules, stages and attacks for type checkers.

    python scripts/python_stubs.py           print what the installed boba needs
    python scripts/python_stubs.py --write   write it beside _classes.py

The core's tables are the source; a test says when the file is not what they give.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from boba import _core
from boba._classes import document
from boba._parts import python_name, read_value

TARGET = Path(__file__).parents[1] / "python" / "boba" / "_classes.pyi"
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


def stub() -> str:
    """Gives the whole file."""
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


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        TARGET.write_text(stub(), encoding="utf-8")
    else:
        sys.stdout.write(stub())
