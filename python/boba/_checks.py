"""Converts arguments for the core, or raises an error that names the argument."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def whole_number(name: str, value: object, bits: int) -> int:
    """Reads a count or a seed."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {type(value).__name__}; it is a whole number") from None
    if not 0 <= number < 2**bits:
        raise ValueError(f"{name}={number} is outside [0, {2**bits - 1}]")
    return number


def seed_or_none(value: object) -> int | None:
    """Reads a seed; None lets the core draw one that nobody knows."""
    return None if value is None else whole_number("seed", value, 64)


def real_number(name: str, value: Any) -> float:
    """Reads a number; text is refused, even '1'."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except TypeError:
        pass
    raise TypeError(f"{name} is {type(value).__name__}; it is a number")


def real_numbers(name: str, values: Any) -> list[float]:
    """Reads a list of numbers; None is an empty one."""
    listed = _listed(name, values, "a list of numbers")
    return [real_number(f"{name}[{i}]", value) for i, value in enumerate(listed)]


def text(name: str, value: object) -> str:
    """Writes a value as text. Half of a surrogate pair cannot be encoded and is refused."""
    written = str(value)
    try:
        written.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} is not valid text: {written!r} has half of a surrogate pair"
        ) from None
    return written


def texts(name: str, values: Any) -> list[str]:
    """Writes the names of clients; None is an empty list."""
    listed = _listed(name, values, "a list of names")
    return [text(f"{name}[{i}]", value) for i, value in enumerate(listed)]


def _listed(name: str, values: Any, wanted: str) -> Iterable[Any]:
    if values is None:
        return []
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} is {type(values).__name__}; it is {wanted}")
    return values
