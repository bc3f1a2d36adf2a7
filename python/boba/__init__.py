"""Byzantine-robust aggregation for federated learning, at the speed of C++.

    result = boba.aggregate(updates, rule="boba(f=16)", server=gammas)
    result.vector, result.accepted
    print(result.summary())

Updates are gradients: the parameters go against them. There is a class for each rule, stage and
attack too: ``boba.MultiKrum(f=1)(updates)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from boba import _classes, _core
from boba._classes import *  # noqa: F403
from boba._core import RefusedError
from boba._memory import Memory
from boba._open_round import OpenRound, Progress, Upload
from boba._parts import CLASSES, Attack, Pipeline, Rule, Stage, attack, rule, rule_of
from boba._records import Client, Subspace
from boba._result import Clients, Result

__version__: str = _core.version

__all__ = [
    "Attack",
    "Client",
    "Clients",
    "Memory",
    "OpenRound",
    "Oracle",
    "Pipeline",
    "Progress",
    "RefusedError",
    "Result",
    "Rule",
    "Stage",
    "Subspace",
    "Upload",
    "__version__",
    "aggregate",
    "attack",
    "attacks",
    "rule",
    "rules",
    "stages",
]
__all__ += _classes.__all__


class Oracle(Protocol):
    """Loss and gradient of the server's data, for the rules that probe it.

    Points look like one of the updates: the same kind, the same shape. A rule asks only for what it
    needs, so that an oracle without ``gradient`` serves the rules that compare losses.
    """

    def loss(self, w: Any, /) -> float:
        """Gives the loss at the parameters w."""
        ...

    def gradient(self, w: Any, /) -> Any:
        """Gives the gradient of the loss at w, shaped like w."""
        ...


def aggregate(
    updates: Any,
    rule: str | Rule,
    *,
    server: Any = None,
    server_counts: Sequence[float] | None = None,
    server_whole: Any = None,
    model: Any = None,
    learning_rate: float = 0.0,
    oracle: Any = None,
    ids: Sequence[object] | None = None,
    memory: Memory | None = None,
    seed: int | None = None,
    round: int = 0,
    threads: int = 0,
) -> Result:
    """Combines the updates of a round into one that a minority cannot steer.

    Args:
        updates: One row per client: an array, a list of arrays, or a list of lists of layers, as
            NumPy arrays, PyTorch tensors or anything with DLPack or the buffer protocol, in float32
            or float64. They are not copied where a row is contiguous, and never written to.
        rule: A spec such as "boba(f=16)" or "bucketing(s=2) | krum(f=16)", or a rule object.
        server: The server's gradient of each class, for the rules that use server data.
        server_counts: Samples behind each of them; equal numbers if not given.
        server_whole: The gradient on all server data, where it is not their weighted mean.
        model: The parameters w, for the rules that probe the server's loss.
        learning_rate: The step, for the same rules.
        oracle: An object with ``loss(w)`` and ``gradient(w)``, for the same rules.
        ids: Who sent each update. Only the first update with an id counts.
        memory: What the rule remembers of earlier rounds, for the rules that use one; the round is
            added to it. Clients are known by their ids.
        seed: Random stages draw by it and by ``round``. None draws one that no client knows;
            the notes of the result tell it.
        round: The number of the round.
        threads: At most this many; 0 is all processors. The result does not depend on it.

    Returns:
        The aggregate in ``.vector``, of the kind of the updates, and what was decided about whom.

    Raises:
        ValueError: with the core's message, which has the value and the allowed values.
        RefusedError: a ValueError, where too few usable updates came.
        TypeError: where an input is no array of float32 or float64 in main memory.
    """
    return rule_of(rule).aggregate(
        updates,
        server=server,
        server_counts=server_counts,
        server_whole=server_whole,
        model=model,
        learning_rate=learning_rate,
        oracle=oracle,
        ids=ids,
        memory=memory,
        seed=seed,
        round=round,
        threads=threads,
    )


def _by_name(*kinds: str) -> dict[str, Any]:
    return {name: made for (kind, name), made in CLASSES.items() if kind in kinds}


def rules() -> dict[str, type[Rule]]:
    """Gives the class of every rule by its name in specs."""
    return _by_name("rule")


def stages() -> dict[str, type[Stage]]:
    """Gives the class of every stage by its name in specs."""
    return _by_name("mix", "blend")


def attacks() -> dict[str, type[Attack]]:
    """Gives the class of every attack by its name in specs."""
    return _by_name("attack")
