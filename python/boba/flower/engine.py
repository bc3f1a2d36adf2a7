"""One of boba's rules with what the server adds to a round."""

from __future__ import annotations

import operator
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from flwr.app import ArrayRecord
from numpy.typing import NDArray

import boba
from boba._text import printable
from boba.flower.layout import Layout
from boba.flower.server import ServerOracle, ServerUpdate

# Rounds that are tried at construction. Stages such as bucketing leave fewer rows than there are
# clients, so a small round may not do.
_TRIAL_LENGTH = 64
_TRIAL_GROWTH = (1, 4, 16, 64)


class Engine:
    """The rule, the server's updates and its oracle. Updates here are gradients: w goes against."""

    def __init__(
        self,
        rule: str | boba.Rule,
        server_update: ServerUpdate | None,
        classes: int | None,
        oracle: ServerOracle | None,
        memory: boba.Memory | None,
        seed: int | None,
        threads: int,
    ) -> None:
        """Raises ValueError where the rule cannot run with what is there, TypeError for no rule."""
        # Buckets that clients can predict are buckets that they can choose.
        self.seed = secrets.randbits(64) if seed is None else _between("seed", seed, 2**64 - 1)
        self.threads = _between("threads", threads, 4095)
        self._rule = _read_rule(rule)
        self._oracle = oracle
        self._server_update = server_update
        if classes is not None:
            classes = whole("classes", classes)
        self._classes = 0 if server_update is None else _class_count(server_update, classes)
        self._counts = _sample_counts(server_update, self._classes)
        self.f = _largest_f(self._rule)
        self.memory = _memory_for(self._rule, memory)
        self._uses_server = self._find_need()
        self._layout: Layout | None = None
        self._server: NDArray[Any] | None = None

    def prepare(self, layout: Layout, arrays: ArrayRecord) -> None:
        """Asks for the server's updates at the model that is about to be sent."""
        self._layout = layout
        self._server = None
        if not self._uses_server:
            return
        assert self._server_update is not None
        self._server = np.empty((self._classes, layout.length), dtype=layout.dtype)
        for label in range(self._classes):
            update = self._server_update(arrays, label)
            # As a gradient, like the clients' rows.
            self._server[label] = -layout.join(update, f"server_update of class {label}")

    def aggregate(
        self, rows: Sequence[NDArray[Any]], ids: Sequence[str], server_round: int
    ) -> boba.Result:
        """The verdict on a round; ValueError if the rule does not admit it."""
        assert self._layout is not None
        probing: dict[str, Any] = {}
        if self._oracle is not None:
            probing = _probing(self._layout.point(), _RowOracle(self._oracle, self._layout))
        return self._rule.aggregate(
            list(rows),
            server=self._server,
            server_counts=self._counts if self._server is not None else None,
            seed=self.seed,
            round=server_round,
            ids=list(ids),
            memory=self.memory,
            threads=self.threads,
            **probing,
        )

    @property
    def rule(self) -> str:
        """The rule's canonical spelling."""
        return self._rule.spec

    def _find_need(self) -> bool:
        """Whether the rule needs the server's updates; ValueError if it needs what is not there."""
        if self._rule.server_parts > 1:
            raise ValueError(
                f"RobustStrategy: {self.rule} needs {self._rule.server_parts} server gradients per "
                "class; server_update= gives one: omit parts"
            )
        _, needs_server = _admitted(self._rule, self._classes)
        if needs_server and self._server_update is None:
            raise ValueError(
                f"RobustStrategy: {self.rule} needs the server's update of each class; "
                "give server_update="
            )
        if self._oracle is None:
            self._try_without_oracle()
        return needs_server

    def _try_without_oracle(self) -> None:
        """Whether a rule probes shows in a round only, so it gets a small one made up.

        Small also where f is large: whether the rule probes does not depend on f.
        """
        rule = _with_small_f(self._rule)
        try:
            clients, needs_server = _admitted(rule, self._classes)
        except ValueError:  # another option wants as many clients as the f that was given
            rule = self._rule
            clients, needs_server = _admitted(rule, self._classes)
        try:
            rule.aggregate(
                _waves(clients),
                server=_waves(max(self._classes, 2)) if needs_server else None,
                threads=1,
            )
        except ValueError as error:
            raise ValueError(
                f"RobustStrategy: {error}; rules that probe the server's loss need server_oracle="
            ) from error


def _probing(model: NDArray[Any], oracle: object) -> dict[str, Any]:
    # An update is a whole step of local training, so the step along it is 1.
    return {"model": model, "learning_rate": 1.0, "oracle": oracle}


class _RowOracle:
    """The user's oracle, which knows arrays by name, for the core, which knows rows."""

    def __init__(self, oracle: ServerOracle, layout: Layout) -> None:
        self._oracle = oracle
        self._layout = layout

    def loss(self, point: NDArray[Any]) -> float:
        try:
            return float(self._oracle.loss(self._layout.at(point)))
        except ValueError as error:
            raise _broken(error) from error

    def gradient(self, point: NDArray[Any]) -> NDArray[Any]:
        try:
            slope = self._oracle.gradient(self._layout.at(point))
            return self._layout.join(slope, "its gradient")
        except ValueError as error:
            raise _broken(error) from error


def _broken(error: ValueError) -> RuntimeError:
    # A ValueError of the core skips the round; one of the server's own code must stop the run.
    return RuntimeError(f"server_oracle: {error}")


def _waves(rows: int) -> NDArray[Any]:
    """Rows that all differ, without chance."""
    places = np.arange(1, rows * _TRIAL_LENGTH + 1, dtype=np.float64)
    waves: NDArray[Any] = np.sin(places**1.5).reshape(rows, _TRIAL_LENGTH)
    return waves


def _read_rule(rule: str | boba.Rule) -> boba.Rule:
    if isinstance(rule, str):
        return boba.rule(rule)
    if not isinstance(rule, boba.Rule):
        raise TypeError(
            f"rule={rule!r} is not a rule; give a spec such as 'mkrum(f=2)' or a rule object such "
            "as boba.MultiKrum(f=2)"
        )
    return rule


def _memory_for(rule: boba.Rule, given: boba.Memory | None) -> boba.Memory | None:
    """The user's memory, or a new one if the rule uses one."""
    if given is None:
        return boba.Memory() if rule.uses_memory else None
    if not isinstance(given, boba.Memory):
        raise TypeError(f"memory is {type(given).__name__}; it is a boba.Memory")
    if given.rule not in ("", rule.spec):
        raise ValueError(
            f"RobustStrategy: the memory belongs to the rule {printable(given.rule)}, not to "
            f"{rule.spec}; omit memory= to start with an empty one"
        )
    return given


def _parts(rule: boba.Rule) -> Sequence[Any]:
    return rule.parts if isinstance(rule, boba.Pipeline) else [rule]


def _largest_f(rule: boba.Rule) -> int:
    """The f of the rule, 0 if it has none; it says how many replies an honest majority takes."""
    return max(int(part.options.get("f", 0)) for part in _parts(rule))


def _with_small_f(rule: boba.Rule) -> boba.Rule:
    """The rule with its options, f at most 1."""
    specs = []
    for part in _parts(rule):
        options = dict(part.options)
        if "f" in options:
            options["f"] = min(int(options["f"]), 1)
        specs.append(type(part)(**options).spec)
    return boba.rule(" | ".join(specs))


def _admitted(rule: boba.Rule, known_classes: int) -> tuple[int, bool]:
    """A number of clients that the rule admits, and whether only with server data."""
    f = _largest_f(rule)
    # The smallest last: a round of many tells more, but boba-es has an upper end.
    for clients in [*(growth * (4 * f + 16) for growth in _TRIAL_GROWTH), 2 * f + 3]:
        for classes in (0, max(known_classes, 2)):
            try:
                rule.admits(clients, classes=classes, length=_TRIAL_LENGTH)
                return clients, classes > 0
            except ValueError as error:
                refusal = error
    raise ValueError(f"RobustStrategy: {refusal}") from refusal


def _class_count(server_update: ServerUpdate, classes: int | None) -> int:
    known = getattr(server_update, "classes", None)
    if known is not None:
        known = whole("classes of server_update", known)
    if known is not None and classes is not None and known != classes:
        raise ValueError(f"classes={classes}, but server_update has {known}")
    count = classes if classes is not None else known
    if count is None:
        raise ValueError("server_update does not say how many classes it knows; give classes=")
    if count < 1:
        raise ValueError(f"classes={count} is below 1")
    return count


def _sample_counts(server_update: ServerUpdate | None, classes: int) -> list[float] | None:
    counts = getattr(server_update, "counts", None)
    if counts is None:
        return None
    if len(counts) != classes:
        raise ValueError(f"server_update has counts of {len(counts)} classes; it has {classes}")
    return [float(count) for count in counts]


def whole(name: str, value: int) -> int:
    """The value as an int, whatever kind of integer it is; TypeError if it is none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is not an integer") from None


def _between(name: str, value: int, most: int) -> int:
    value = whole(name, value)
    if not 0 <= value <= most:
        raise ValueError(f"{name}={value} is outside [0, {most}]")
    return value
