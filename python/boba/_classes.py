"""A class for each rule, stage and attack, made from the core's tables.

``_classes.pyi`` beside this file says the same to type checkers; ``scripts/python_stubs.py`` writes
it.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from boba import _core
from boba._parts import CLASSES, Attack, Part, Rule, Stage, python_name, read_value

_BASES: dict[str, type[Part]] = {"rule": Rule, "mix": Stage, "blend": Stage, "attack": Attack}
_TYPES: dict[str, type] = {"integer": int, "number": float, "choice": str}


def document(entry: _core.Entry) -> str:
    """Writes the docstring of an entry: what it computes, its options, what it needs."""
    lines = [entry["summary"][:1].upper() + entry["summary"][1:] + "."]
    lines += ["", *textwrap.wrap(entry["computes"], 88, break_on_hyphens=False)]
    if entry["options"]:
        lines += ["", "Options:"]
        for option in entry["options"]:
            text = (
                f"{python_name(option['name'])} = {option['default']}: {option['help']} "
                f"({option['range']})"
            )
            lines += textwrap.wrap(text, 84, initial_indent="    ", subsequent_indent="        ")
    for title in ("condition", "cost", "citation"):
        text = f"{title.capitalize()}: {entry[title]}"  # type: ignore[literal-required]
        lines += ["", *textwrap.wrap(text, 88, break_on_hyphens=False)]
    return "\n".join(lines)


def _initialiser(entry: _core.Entry) -> Callable[..., None]:
    def __init__(self: Part, *args: object, **kwargs: object) -> None:
        Part.__init__(self, *args, **kwargs)

    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", either)]
    for option in entry["options"]:
        default = read_value(option, option["default"])
        annotation: Any = _TYPES[option["type"]]
        if option["word"]:
            annotation = annotation | str
        parameters.append(
            inspect.Parameter(
                python_name(option["name"]), either, default=default, annotation=annotation
            )
        )
    signature = inspect.Signature(parameters, return_annotation=None)
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__doc__ = "Takes the options that the class describes."
    return __init__


def _reader(name: str, text: str) -> property:
    return property(lambda self: self.options[name], doc=text)


def _make_class(entry: _core.Entry) -> type[Part]:
    fields: dict[str, Any] = {
        "__doc__": document(entry),
        "__module__": "boba",
        "__init__": _initialiser(entry),
        "_entry": entry,
    }
    for option in entry["options"]:
        name = python_name(option["name"])
        fields[name] = _reader(name, option["help"])
    return type(entry["python"], (_BASES[entry["kind"]],), fields)


def _make_all() -> list[str]:
    module = sys.modules[__name__]
    names = []
    for entry in _core.entries():
        made = _make_class(entry)
        CLASSES[entry["kind"], entry["name"]] = made
        for name in filter(None, (entry["python"], entry["python_alias"])):
            setattr(module, name, made)
            names.append(name)
    return names


__all__ = sorted(_make_all())
