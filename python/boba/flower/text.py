"""Text from clients, made fit for a log line and a database."""


def shown(text: str, length: int = 48) -> str:
    """At most length characters of it, with what does not print escaped.

    A name may hold line ends, which forge log lines, or half a surrogate pair, which no file can
    encode.
    """
    clean = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text[:length]
    )
    return clean if len(text) <= length else clean + "..."
