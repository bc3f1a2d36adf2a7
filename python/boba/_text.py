"""Text from clients, made safe for a terminal."""

from boba import _core


def printable(text: str) -> str:
    """Writes what a terminal would obey or hide as escapes, as the program boba does: one line.

    Names come from clients. Line ends, escape sequences and marks that reverse text could forge
    what the reader sees.
    """
    return _core.printable(text.encode("utf-8", "surrogatepass"))
