"""What a rule remembers of earlier rounds."""

from __future__ import annotations

from collections.abc import Callable

from boba import _core
from boba._checks import whole_number
from boba._text import printable


class Memory:
    """What a rule remembers of earlier rounds: a few numbers for each client, by its id.

    Keep one from round to round and give it to every call, with the ids of the clients::

        memory = boba.Memory()
        rule = boba.BobaHull(f=15)
        for updates, ids in rounds:
            result = rule.aggregate(updates, server=gammas, ids=ids, memory=memory)

    A memory belongs to the first rule that uses it. A round that fails leaves it as it was.
    ``len(memory)`` is the number of clients that it knows. Threads that share one take turns.
    """

    def __init__(self, most: int = _core.most_clients) -> None:
        """Makes an empty memory.

        Args:
            most: Clients to remember. If more come, those seen least recently are forgotten.
        """
        most = whole_number("most", most, 63)
        if most == 0:
            raise ValueError("most=0 is below 1")
        self._made = _core.Memory(most)

    @property
    def most(self) -> int:
        """Clients to remember."""
        return self._made.most

    @property
    def rounds(self) -> int:
        """Rounds that were added."""
        return self._made.rounds

    @property
    def rule(self) -> str:
        """The spec of the rule that it belongs to; empty before the first round."""
        return self._made.rule

    def __len__(self) -> int:
        """Counts the clients that it knows."""
        return len(self._made)

    def save(self) -> bytes:
        """Gives bytes from which ``Memory.load`` makes an equal memory, on any machine."""
        return self._made.save()

    @staticmethod
    def load(saved: bytes | bytearray | memoryview) -> Memory:
        """Makes a memory from the bytes of ``save``.

        Raises ValueError if they are damaged, or come from a later version.
        """
        if not isinstance(saved, (bytes, bytearray, memoryview)):
            raise TypeError(f"saved is {type(saved).__name__}; it is the bytes that save() gave")
        memory = Memory.__new__(Memory)
        memory._made = _core.Memory.load(bytes(saved))
        return memory

    def __reduce__(self) -> tuple[Callable[[bytes], Memory], tuple[bytes]]:
        """Travels as its bytes."""
        return Memory.load, (self.save(),)

    def __repr__(self) -> str:
        """Says how much it holds, and of which rule."""
        held = f"{len(self)} clients, {self.rounds} rounds"
        return f"<boba.Memory: {held}{' of ' + printable(self.rule) if self.rule else ''}>"


def held(memory: Memory | None) -> _core.Memory | None:
    """Gives what the core takes, or says that the argument is no memory."""
    if memory is None or isinstance(memory, Memory):
        return None if memory is None else memory._made
    raise TypeError(f"memory is {type(memory).__name__}; it is a boba.Memory")
