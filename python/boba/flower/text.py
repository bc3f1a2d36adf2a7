"""Text from clients, made fit for a log line and a database."""

from boba._text import printable


def shown(text: str, length: int = 48) -> str:
    """At most length characters of it, with what a terminal obeys or hides escaped.

    A name may hold line ends, which forge log lines, or half a surrogate pair, which no file can
    encode.
    """
    clean = printable(text[:length])
    return clean if len(text) <= length else clean + "..."
