"""The base classes of the rules, stages and attacks.

Their subclasses are made in ``boba._classes`` from the core's tables. An object is its canonical
spec: it never changes, compares and hashes by it, and travels through pickle as it.
"""

from __future__ import annotations

import functools
import keyword
import numbers
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from boba import _core
from boba._aggregate import aggregate_round
from boba._checks import text, whole_number
from boba._forge import forge_rows
from boba._memory import Memory
from boba._result import Result


def python_name(option: str) -> str:
    """Gives the option's name as a keyword argument: ``lambda`` is a word of Python itself."""
    return option + "_" if keyword.iskeyword(option) else option


def _text(value: object) -> str:
    """Writes a value as a spec does; the core decides whether it will do."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(float(value))


def read_value(option: _core.Option, text: str) -> int | float | str:
    """Reads what the core wrote for an option."""
    if option["word"] and text == option["word"]:
        return text
    readers: dict[str, Callable[[str], int | float | str]] = {"integer": int, "number": float}
    return readers.get(option["type"], str)(text)


class Part:
    """What rules, stages and attacks share: options and a canonical spec."""

    _entry: ClassVar[_core.Entry]
    _spec: str

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Takes the options in the order of the table, or by name."""
        options = {python_name(option["name"]): option["name"] for option in self._entry["options"]}
        given = dict(zip(options, args, strict=False))
        if len(args) > len(options):
            raise TypeError(
                f"{type(self).__name__} has {len(options)} options; got {len(args)} arguments"
            )
        for name in kwargs.keys() & given.keys():
            raise TypeError(f"{type(self).__name__} got {name} twice")
        given.update(kwargs)
        texts = [
            (options.get(name, text("an option", name)), text(name, _text(value)))
            for name, value in given.items()
        ]
        self._spec = _core.spec(self._entry["kind"], self._entry["name"], texts)

    @property
    def spec(self) -> str:
        """The canonical spelling, which results carry: ``mkrum(f=2)``."""
        return self._spec

    @property
    def options(self) -> dict[str, int | float | str]:
        """All options with their values, by keyword argument."""
        set_here = dict(_core.parse(self._spec)[0][1])
        return {
            python_name(option["name"]): read_value(
                option, set_here.get(option["name"], option["default"])
            )
            for option in self._entry["options"]
        }

    def __repr__(self) -> str:
        """Gives an expression that makes an equal object."""
        set_here = [name for name, _ in _core.parse(self._spec)[0][1]]
        values = self.options
        words = [f"{python_name(name)}={values[python_name(name)]!r}" for name in set_here]
        return f"boba.{type(self).__name__}({', '.join(words)})"

    def __str__(self) -> str:
        """Gives the canonical spec."""
        return self._spec

    def __eq__(self, other: object) -> bool:
        """Compares specs: equal parts decide alike."""
        return isinstance(other, Part) and (self._family(), self._spec) == (
            other._family(),
            other._spec,
        )

    def __hash__(self) -> int:
        """Hashes the spec."""
        return hash((self._family(), self._spec))

    def _family(self) -> str:
        return "attack" if isinstance(self, Attack) else "rule"


class Rule(Part):
    """An aggregation rule, with its stages if it has any. Call it, or ask it to ``aggregate``."""

    @functools.cached_property
    def _made(self) -> _core.Aggregator:
        return _core.make_aggregator(self._spec)

    def aggregate(
        self,
        updates: Any,
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
        """Aggregates a round; see ``boba.aggregate`` for the arguments."""
        return aggregate_round(
            self._made,
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
            number=round,
            threads=threads,
        )

    def __call__(
        self,
        updates: Any,
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
    ) -> Any:
        """Gives the aggregate alone, of the kind of the updates."""
        return self.aggregate(
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
        ).vector

    @property
    def server_parts(self) -> int:
        """Server gradients that the rule wants of each class."""
        return self._made.server_parts

    @property
    def uses_memory(self) -> bool:
        """Whether a memory of earlier rounds changes what the rule decides."""
        return self._made.uses_memory

    def admits(self, clients: int, *, classes: int = 0, length: int = 1) -> None:
        """Raises ValueError where a round of this shape cannot be aggregated.

        ``classes`` is the number of server gradients, ``length`` that of numbers in an update.
        """
        self._made.admits(
            whole_number("clients", clients, 64),
            whole_number("classes", classes, 64),
            whole_number("length", length, 64),
            classes > 0,
        )

    def __or__(self, stage: Stage) -> Rule:
        """Puts a stage behind the rule: ``Krum(f=1) | ServerMix(lambda_=0.25)``."""
        if not isinstance(stage, Stage):
            return NotImplemented
        return rule(f"{self._spec} | {stage._spec}")

    def __reduce__(self) -> tuple[Callable[[str], Rule], tuple[str]]:
        """Travels as its spec."""
        return rule, (self._spec,)


class Pipeline(Rule):
    """A rule with stages before or after it, as ``boba.rule`` makes it from a spec of several."""

    def __init__(self, parts: Sequence[Part]) -> None:
        """Joins stages and a rule, in the order in which they run."""
        self._parts = tuple(parts)
        self._spec = _core.make_aggregator(" | ".join(part._spec for part in parts)).spec

    @property
    def parts(self) -> tuple[Part, ...]:
        """The stages and the rule, in the order in which they run."""
        return self._parts

    @property
    def options(self) -> dict[str, int | float | str]:
        """Empty: the options are those of the parts."""
        return {}

    def __repr__(self) -> str:
        """Gives an expression that makes an equal object."""
        return " | ".join(repr(part) for part in self._parts)


class Stage(Part):
    """A stage before a rule or after it; ``|`` puts it there: ``Bucketing(s=2) | Krum(f=1)``."""

    def __or__(self, other: Rule) -> Rule:
        """Puts the stage before a rule."""
        if not isinstance(other, Rule):
            return NotImplemented
        return rule(f"{self._spec} | {other._spec}")

    def __reduce__(self) -> tuple[Callable[[str], Part], tuple[str]]:
        """Travels as its spec."""
        return _stage, (self._spec,)


class Attack(Part):
    """What Byzantine clients send. Call it for one vector, or ask it to ``forge`` several."""

    @functools.cached_property
    def _made(self) -> _core.Attack:
        return _core.make_attack(self._spec)

    def forge(
        self,
        honest: Any,
        byzantine: int = 1,
        *,
        learning_rate: float = 0.0,
        seed: int = 0,
        round: int = 0,
        threads: int = 0,
    ) -> Any:
        """Gives what ``byzantine`` clients send that see the honest updates.

        The rows are of the kind of ``honest``: an array with a row for each client, or a list.
        ``learning_rate`` serves attacks that are defined on parameters, ``seed`` and ``round``
        those that draw numbers.
        """
        return forge_rows(
            self._made,
            honest,
            byzantine,
            learning_rate=learning_rate,
            seed=seed,
            number=round,
            threads=threads,
        )

    def __call__(
        self,
        honest: Any,
        byzantine: int = 1,
        *,
        learning_rate: float = 0.0,
        seed: int = 0,
        round: int = 0,
        threads: int = 0,
    ) -> Any:
        """Gives what the first of the Byzantine clients sends."""
        if whole_number("byzantine", byzantine, 20) == 0:
            raise ValueError(
                "byzantine=0: a call gives what the first Byzantine client sends, so that there is "
                "one at least; forge gives none"
            )
        return self.forge(
            honest,
            byzantine,
            learning_rate=learning_rate,
            seed=seed,
            round=round,
            threads=threads,
        )[0]

    def __reduce__(self) -> tuple[Callable[[str], Attack], tuple[str]]:
        """Travels as its spec."""
        return attack, (self._spec,)


class CombinedAttack(Attack):
    """An attack with stages behind it, or several attacks, as ``boba.attack`` makes it."""

    def __init__(self, spec: str) -> None:
        """Takes the spec: ``ipm | noise``, ``ipm + lie``."""
        self._spec = _core.make_attack(spec).spec

    @property
    def options(self) -> dict[str, int | float | str]:
        """Empty: the options are those of the parts."""
        return {}

    def __repr__(self) -> str:
        """Gives an expression that makes an equal object."""
        return f"boba.attack({self._spec!r})"


# Filled by boba._classes: the class of each part by kind and name.
CLASSES: dict[tuple[str, str], type[Part]] = {}


def _part(kinds: Sequence[str], name: str, values: Sequence[tuple[str, str]]) -> Part:
    made = next(CLASSES[kind, name] for kind in kinds if (kind, name) in CLASSES)
    return made(**{python_name(key): text for key, text in values})


def _stage(spec: str) -> Part:
    name, values = _core.parse(spec)[0]
    return _part(("mix", "blend"), name, values)


def _spec(kind: str, spec: object, example: str) -> str:
    if not isinstance(spec, str):
        raise TypeError(f"{kind} is {type(spec).__name__}; it is a spec such as {example!r}")
    return text(kind, spec)


def rule(spec: str) -> Rule:
    """Makes a rule from its spec: ``boba.rule("bucketing(s=2) | krum(f=16)")``."""
    return _make_rule(_spec("rule", spec, "krum(f=1)"))


def rule_of(given: str | Rule) -> Rule:
    """Gives the rule that a user named, by its spec or as an object."""
    if isinstance(given, Rule):
        return given
    if not isinstance(given, str):
        raise TypeError(f"rule is {type(given).__name__}; it is a spec or a rule object")
    return rule(given)


def attack(spec: str) -> Attack:
    """Makes an attack from its spec: ``boba.attack("ipm(gamma=10) | noise")``."""
    return _make_attack(_spec("attack", spec, "ipm(gamma=10)"))


@functools.lru_cache(maxsize=256)
def _make_rule(spec: str) -> Rule:
    canonical = _core.make_aggregator(spec).spec
    parts = [
        _part(("rule", "mix", "blend"), name, values) for name, values in _core.parse(canonical)
    ]
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Rule) else Pipeline(parts)


@functools.lru_cache(maxsize=256)
def _make_attack(spec: str) -> Attack:
    canonical = _core.make_attack(spec).spec
    if any(sign in canonical for sign in (" | ", " + ")):
        return CombinedAttack(canonical)
    name, values = _core.parse(canonical)[0]
    made = _part(("attack",), name, values)
    assert isinstance(made, Attack)
    return made
