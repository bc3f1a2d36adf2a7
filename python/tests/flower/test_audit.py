"""The audit file."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, content, play
from flwr.app import Error
from flwr.serverapp.exception import AggregationError

from boba.flower import RobustStrategy

MODEL = {"w": np.zeros(4, dtype=np.float32)}


def moved(step: float) -> dict[str, np.ndarray]:
    return {"w": MODEL["w"] + np.float32(step)}


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as db:
        return db.execute(query).fetchall()


def test_every_round_and_node_is_there(tmp_path: Path) -> None:
    path = tmp_path / "rounds.db"
    strategy = RobustStrategy(rule="mkrum(f=2)", seed=2**64 - 1, audit=path)
    contents = [content(moved(step)) for step in (1.0, 1.25, 0.75, 1.0, -50.0)]
    contents += [content(moved(float("nan"))), Error(code=1, reason="a\nb"), None]
    play(strategy, MODEL, contents, 1)
    play(strategy, MODEL, [None] * 8, 2)
    (run,) = rows(path, "SELECT run, rule, seed FROM runs")
    assert run[1:] == (strategy.engine.rule, str(2**64 - 1))
    assert rows(
        path,
        "SELECT round, asked, accepted, rejected, refused, failed, silent, unused, skipped"
        " FROM rounds ORDER BY round",
    ) == [(1, 8, 4, 1, 1, 1, 1, 0, ""), (2, 8, 0, 0, 0, 0, 8, 0, "no reply can be used")]
    clients = rows(path, "SELECT node, outcome, reason, weight FROM clients WHERE round = 1")
    assert len(clients) == 8
    by_node = {str(node): rest for node, *rest in clients}
    assert by_node[str(FIRST_NODE)][0] == "accepted"
    assert by_node[str(FIRST_NODE)][2] == pytest.approx(0.25)
    assert by_node[str(FIRST_NODE + 4)][0] == "rejected" and by_node[str(FIRST_NODE + 4)][1]
    assert "'w' has 4 of 4" in str(by_node[str(FIRST_NODE + 5)][1])
    assert by_node[str(FIRST_NODE + 6)][:2] == ["failed", r"a\nb"]
    assert by_node[str(FIRST_NODE + 7)][:2] == ["silent", "no reply in time"]


def test_runs_are_added_to_a_file_and_never_changed(tmp_path: Path) -> None:
    path = tmp_path / "rounds.db"
    first = RobustStrategy(audit=path)
    for server_round in (1, 2, 1):  # started a second time with the same object
        play(first, MODEL, [content(moved(1.0))] * 3, server_round)
    play(RobustStrategy(rule="coomed", audit=path), MODEL, [content(moved(1.0))] * 3, 1)
    assert rows(path, "SELECT run, round FROM rounds ORDER BY run, round") == [
        (1, 1),
        (1, 2),
        (2, 1),
        (3, 1),
    ]
    assert [rule for (rule,) in rows(path, "SELECT rule FROM runs ORDER BY run")] == [
        first.engine.rule,
        first.engine.rule,
        "coomed",
    ]


def test_a_round_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "rounds.db"
    strategy = RobustStrategy(audit=path)
    with sqlite3.connect(path) as db:
        db.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON clients WHEN NEW.node = '{FIRST_NODE + 1}'"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    with pytest.raises(AggregationError, match=r"round 1 .*disk full"):
        play(strategy, MODEL, [content(moved(1.0))] * 3)
    assert rows(path, "SELECT count(*) FROM rounds") == [(0,)]
    assert rows(path, "SELECT count(*) FROM runs") == [(0,)]
    with sqlite3.connect(path) as db:
        db.execute("DROP TRIGGER full")
    play(strategy, MODEL, [content(moved(1.0))] * 3, 2)
    assert rows(path, "SELECT run, round FROM rounds") == [(1, 2)]


def test_rounds_may_come_from_another_thread(tmp_path: Path) -> None:
    path = tmp_path / "rounds.db"
    strategy = RobustStrategy(audit=path)
    thread = threading.Thread(target=play, args=(strategy, MODEL, [content(moved(1.0))] * 3))
    thread.start()
    thread.join(timeout=30)
    assert rows(path, "SELECT count(*) FROM rounds") == [(1,)]


def test_files_that_are_not_ours_are_refused_at_construction(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and long enough to be read as a header of one\n" * 20)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE rounds (x)")
    for path in (text, other, tmp_path / "missing" / "rounds.db", tmp_path):
        with pytest.raises(ValueError, match="audit file"):
            RobustStrategy(audit=path)
    assert text.read_text().startswith("not a database")
    assert rows(other, "SELECT sql FROM sqlite_master") == [("CREATE TABLE rounds (x)",)]
