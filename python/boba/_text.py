"""Text for people: numbers, tables, lists of sentences."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boba import _core


def printable(text: str) -> str:
    """Writes what a terminal would obey or hide as escapes, as the program boba does: one line.

    Names come from clients. Line ends, escape sequences and marks that reverse text could forge
    what the reader sees.
    """
    return _core.printable(text.encode("utf-8", "surrogatepass"))


def short_number(value: float) -> str:
    """Writes a number with four digits."""
    return f"{value:.4g}"


def named_values(name: str, values: Iterable[float]) -> str:
    """Writes a name and its values in one line."""
    return f"  {name + ' ':.<20} {' '.join(short_number(value) for value in values)}"


def bullets(title: str, sentences: Sequence[str]) -> list[str]:
    """Writes a title and a line for each sentence; nothing where there is none."""
    if not sentences:
        return []
    return ["", title, *(f"  - {printable(sentence)}" for sentence in sentences)]


def label_mix_text(shares: Sequence[float] | None) -> str | None:
    """Writes the two largest shares, and the smallest where it is below zero."""
    if shares is None:
        return None
    order = sorted(range(len(shares)), key=lambda z: -shares[z])
    words = [f"{z}: {100 * shares[z]:.0f}%" for z in order[:2]]
    if shares[order[-1]] < 0:
        words.append(f"min {100 * shares[order[-1]]:.0f}%")
    return ", ".join(words)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(value)
    return short_number(float(value)) if isinstance(value, numbers.Real) else printable(str(value))


def table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Aligns columns: numbers to the right, words to the left."""
    texts = []
    for name, values in columns.items():
        cells = [name.replace("_", " "), *map(_cell, values)]
        width = max(map(len, cells))
        number = any(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values)
        texts.append([cell.rjust(width) if number else cell.ljust(width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*texts, strict=True))
