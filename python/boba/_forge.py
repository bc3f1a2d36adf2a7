"""What attackers send in one round."""

from __future__ import annotations

from typing import Any

from boba import _core
from boba._checks import real_number, whole_number
from boba._rows import new_rows, read


def forge_rows(
    made: _core.Attack,
    honest: Any,
    byzantine: int,
    *,
    learning_rate: float,
    seed: int,
    number: int,
    threads: int,
) -> Any:
    """Forges the rows of the Byzantine clients, of the kind of the honest ones."""
    rows, form = read(honest, "honest")
    out = new_rows(rows, whole_number("byzantine", byzantine, 20))
    _core.forge(
        made,
        rows,
        list(out),
        real_number("learning_rate", learning_rate),
        whole_number("seed", seed, 64),
        whole_number("round", number, 32),
        whole_number("threads", threads, 12),
    )
    return form.give_rows(out)
