"""A round that is filled as updates arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from boba import _core
from boba._aggregate import OracleInForm
from boba._checks import real_number, real_numbers, seed_or_none, text, texts, whole_number
from boba._memory import Memory, held
from boba._parts import Rule, rule_of
from boba._result import Result
from boba._rows import new_rows, read_one


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an open round is."""

    accepted: int
    """Updates that are in."""
    refused: int
    """Clients whose update was no use."""
    uploading: int
    """Uploads begun and not ended."""
    asked: int
    """Clients of the cohort; 0 without one."""
    bytes: int
    """Memory held in updates."""
    closed: bool


class Upload:
    """An update that comes in chunks. Leaving a ``with`` block by an exception gives it up."""

    def __init__(self, made: _core.Upload) -> None:
        """Is made by ``OpenRound.begin``, not by users."""
        self._made = made

    def append(self, chunk: Any) -> None:
        """Takes the next bytes, in the machine's order; chunks may end anywhere."""
        self._made.append(chunk)

    def finish(self) -> None:
        """Says that the update is complete; returns when its inner products are there."""
        self._made.finish()

    def give_up(self) -> None:
        """Forgets the upload; the client may begin again."""
        self._made.give_up()

    def __enter__(self) -> Upload:
        """Finishes the upload at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finishes, or gives up after an exception."""
        if kind is None:
            self.finish()
        else:
            self.give_up()


class OpenRound:
    """A round that takes updates one by one, from any thread, and is quick to close.

    The inner products of an update are formed when it arrives, so that closing needs only the
    rule's small solve and one pass. The result does not depend on the order of arrival.
    """

    def __init__(
        self,
        rule: str | Rule,
        like: Any,
        *,
        cohort: Sequence[object] = (),
        most: int = 0,
        most_uploads: int = 0,
        quorum: int = 0,
        deadline: float | None = None,
        server: Any = None,
        server_counts: Sequence[float] | None = None,
        server_whole: Any = None,
        model: Any = None,
        learning_rate: float = 0.0,
        oracle: Any = None,
        seed: int | None = None,
        round: int = 0,
        threads: int = 0,
    ) -> None:
        """Opens the round.

        Args:
            rule: A spec or a rule object.
            like: What an update looks like: an array, a tensor, or a list of layers, such as the
                model. Only its kind, type and shapes are used.
            cohort: The clients asked, in the order of their rows. Without one anybody may come.
            most: Updates taken where there is no cohort.
            most_uploads: Unfinished uploads at once where there is no cohort; 0 is ``most``.
            quorum: Updates that let the round close; 0 is all. A deadline needs one.
            deadline: When it may close with the quorum, on the clock of ``may_close``.
            server, server_counts, server_whole, model, learning_rate, oracle, seed, round, threads:
                As in ``boba.aggregate``.
        """
        made = rule_of(rule)
        example, form = read_one(like, "like")
        self._like = example
        self._form = form
        self._round = _core.OpenRound(
            made._made,
            example.dtype,
            example.length,
            texts("cohort", cohort),
            whole_number("most", most, 20),
            whole_number("most_uploads", most_uploads, 20),
            None if server is None else form.read_rows(server, "server"),
            real_numbers("server_counts", server_counts),
            None if server_whole is None else form.read_row(server_whole, "server_whole"),
            None if model is None else form.read_row(model, "model"),
            real_number("learning_rate", learning_rate),
            None if oracle is None else OracleInForm(oracle, form, example.dtype),
            seed_or_none(seed),
            whole_number("round", round, 32),
            whole_number("quorum", quorum, 20),
            None if deadline is None else real_number("deadline", deadline),
            whole_number("threads", threads, 12),
        )

    def submit(self, client: object, update: Any, *, copy: bool = True) -> None:
        """Takes a whole update. What is no use is refused at once, with ValueError.

        With ``copy=False`` a contiguous update is not copied: the round keeps it, and it must not
        change before the round is closed.
        """
        # A list of layers is one fresh row already.
        adopt = not copy or isinstance(update, (list, tuple))
        row = self._form.read_row(update, "update")
        self._round.submit(text("client", client), row, adopt)

    def begin(self, client: object) -> Upload:
        """Begins an upload in chunks."""
        name = text("client", client)
        return Upload(self._round.begin(name, self._like.dtype, self._like.length))

    def may_close(self, now: float = 0.0) -> bool:
        """Tells whether all came, or the quorum and the deadline."""
        return self._round.may_close(real_number("now", now))

    @property
    def progress(self) -> Progress:
        """How many are in, refused, uploading."""
        return Progress(**self._round.progress)

    def close(self, now: float = 0.0, *, memory: Memory | None = None) -> Result:
        """Aggregates what is in; ValueError where the round may not close yet.

        ``memory`` is as in ``boba.aggregate``. Closing again gives the same, and adds nothing.
        """
        out = new_rows(self._like, 1)[0]
        clock = real_number("now", now)
        verdict = self._round.close(clock, out, self._like.dtype, self._like.length, held(memory))
        return Result(self._form.give(out), verdict)
