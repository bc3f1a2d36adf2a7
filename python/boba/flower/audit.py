"""The audit file: what every round decided about every node, in SQLite.

docs/flower.md has the tables. A round is one transaction, so a server that dies leaves whole rounds
only. Node ids and seeds are unsigned 64-bit numbers, which SQLite's integers cannot hold, and are
kept as text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from boba.flower.report import OUTCOMES, RoundReport

_FORMAT = 1
_WAIT_SECONDS = 30.0

_TABLES = (
    """CREATE TABLE IF NOT EXISTS runs (
        run INTEGER PRIMARY KEY,
        started TEXT NOT NULL DEFAULT (datetime('now')),
        rule TEXT NOT NULL,
        seed TEXT NOT NULL,
        settings TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS rounds (
        run INTEGER NOT NULL REFERENCES runs (run),
        round INTEGER NOT NULL,
        finished TEXT NOT NULL DEFAULT (datetime('now')),
        asked INTEGER NOT NULL,
        accepted INTEGER NOT NULL,
        rejected INTEGER NOT NULL,
        refused INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        silent INTEGER NOT NULL,
        unused INTEGER NOT NULL,
        skipped TEXT NOT NULL,
        warnings TEXT NOT NULL,
        notes TEXT NOT NULL,
        PRIMARY KEY (run, round))""",
    """CREATE TABLE IF NOT EXISTS clients (
        run INTEGER NOT NULL,
        round INTEGER NOT NULL,
        node TEXT NOT NULL,
        outcome TEXT NOT NULL
            CHECK (outcome IN
                ('accepted', 'rejected', 'refused', 'failed', 'silent', 'unused')),
        reason TEXT NOT NULL,
        weight REAL,
        PRIMARY KEY (run, round, node),
        FOREIGN KEY (run, round) REFERENCES rounds (run, round))""",
)


@dataclass(frozen=True)
class RunHeader:
    """What stays the same over a run."""

    rule: str
    seed: int
    settings: str


class AuditFile:
    """Writes rounds to a file that may hold earlier runs; those are never touched."""

    def __init__(self, path: str | Path, header: RunHeader) -> None:
        """Makes the tables; ValueError if the file cannot be one of ours."""
        self.path = Path(path)
        self._header = header
        self._run: int | None = None
        self._last_round = 0
        try:
            with self._transaction() as db:
                (version,) = db.execute("PRAGMA user_version").fetchone()
                (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if version != _FORMAT and (version != 0 or tables != 0):
                    raise ValueError(f"audit file {self.path} has another format; name a new file")
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {_FORMAT}")
        except sqlite3.Error as error:
            raise ValueError(f"audit file {self.path} cannot be used: {error}") from error

    def write(self, report: RoundReport) -> None:
        """One round. A round number that does not rise begins a new run.

        Raises OSError if it cannot be written: who asks for an audit does not want to train
        without one.
        """
        try:
            with self._transaction() as db:
                run = self._run
                if run is None or report.server_round <= self._last_round:
                    run = _begin_run(db, self._header)
                _insert_round(db, run, report)
        except sqlite3.Error as error:
            raise OSError(
                f"round {report.server_round} could not be written to audit file {self.path}: "
                f"{error}"
            ) from error
        self._run = run
        self._last_round = report.server_round

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # A connection for each round: rounds are far apart, and may come from different threads.
        db = sqlite3.connect(self.path, timeout=_WAIT_SECONDS)
        try:
            db.execute("PRAGMA foreign_keys = ON")
            with db:
                db.execute("BEGIN IMMEDIATE")
                yield db
        finally:
            db.close()


def _begin_run(db: sqlite3.Connection, header: RunHeader) -> int:
    cursor = db.execute(
        "INSERT INTO runs (rule, seed, settings) VALUES (?, ?, ?)",
        (header.rule, str(header.seed), header.settings),
    )
    run = cursor.lastrowid
    assert run is not None
    return run


def _insert_round(db: sqlite3.Connection, run: int, report: RoundReport) -> None:
    counts = [len(report.of(outcome)) for outcome in OUTCOMES]
    db.execute(
        "INSERT INTO rounds (run, round, asked, accepted, rejected, refused, failed, silent,"
        " unused, skipped, warnings, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run,
            report.server_round,
            len(report.asked),
            *counts,
            report.skipped,
            "\n".join(report.warnings),
            "\n".join([*report.notes, *report.strangers]),
        ),
    )
    db.executemany(
        "INSERT INTO clients (run, round, node, outcome, reason, weight) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (run, report.server_round, str(node.node), node.outcome, node.reason, node.weight)
            for node in report.nodes.values()
        ],
    )
