from typing import Any, TypedDict

version: str
most_clients: int

def printable(text: bytes) -> str: ...

class RefusedError(ValueError):
    """Too few updates were left after refusing unusable ones."""

class Option(TypedDict):
    name: str
    type: str
    default: str
    help: str
    range: str
    choices: list[str]
    word: str

class Entry(TypedDict):
    kind: str
    name: str
    summary: str
    computes: str
    condition: str
    cost: str
    citation: str
    python: str
    python_alias: str
    options: list[Option]

class Field(TypedDict):
    name: str
    type: str
    meaning: str
    optional: bool

class Rows:
    def __init__(self, value: Any, what: str) -> None: ...
    def __len__(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def copied(self) -> int: ...
    def address(self, row: int) -> int: ...

class Verdict:
    @property
    def seconds(self) -> float: ...
    @property
    def headline(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def clients_text(self) -> str: ...
    def __len__(self) -> int: ...
    def field(self, name: str) -> Any: ...
    def client(self, index: int) -> dict[str, Any]: ...

class Memory:
    def __init__(self, most: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def rule(self) -> str: ...
    def save(self) -> bytes: ...
    @staticmethod
    def load(bytes: bytes) -> Memory: ...

class Aggregator:
    @property
    def spec(self) -> str: ...
    @property
    def server_parts(self) -> int: ...
    @property
    def uses_memory(self) -> bool: ...
    def admits(self, clients: int, classes: int, length: int, server: bool) -> None: ...

class Attack:
    @property
    def spec(self) -> str: ...

class Upload:
    def append(self, chunk: Any) -> None: ...
    def finish(self) -> None: ...
    def give_up(self) -> None: ...

class OpenRound:
    def __init__(
        self,
        rule: Aggregator,
        dtype: str,
        length: int,
        cohort: list[str],
        most: int,
        most_uploads: int,
        server: Rows | None,
        server_counts: list[float],
        server_whole: Rows | None,
        model: Rows | None,
        learning_rate: float,
        oracle: Any,
        seed: int | None,
        number: int,
        quorum: int,
        deadline: float | None,
        threads: int,
    ) -> None: ...
    def submit(self, client: str, row: Rows, adopt: bool) -> None: ...
    def begin(self, client: str, dtype: str, length: int) -> Upload: ...
    def may_close(self, now: float) -> bool: ...
    @property
    def progress(self) -> dict[str, Any]: ...
    def close(
        self, now: float, out: Any, dtype: str, length: int, memory: Memory | None
    ) -> Verdict: ...

def check_copied(value: Any, what: str) -> None: ...
def entries() -> list[Entry]: ...
def fields() -> dict[str, list[Field]]: ...
def spec(kind: str, name: str, options: list[tuple[str, str]]) -> str: ...
def parse(spec: str) -> list[tuple[str, list[tuple[str, str]]]]: ...
def make_aggregator(spec: str) -> Aggregator: ...
def make_attack(spec: str) -> Attack: ...
def aggregate(
    rule: Aggregator,
    updates: Rows,
    out: Any,
    server: Rows | None,
    server_counts: list[float],
    server_whole: Rows | None,
    model: Rows | None,
    learning_rate: float,
    oracle: Any,
    ids: list[str],
    memory: Memory | None,
    seed: int | None,
    number: int,
    threads: int,
) -> Verdict: ...
def forge(
    attack: Attack,
    honest: Rows,
    out: list[Any],
    learning_rate: float,
    seed: int,
    number: int,
    threads: int,
) -> dict[str, float]: ...
