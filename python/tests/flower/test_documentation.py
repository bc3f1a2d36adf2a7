"""The code blocks of docs/flower.md, run as they stand there."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, content, play
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from boba.flower import RobustStrategy

PAGE = Path(__file__).resolve().parents[3] / "docs" / "flower.md"
MODEL = {"w": np.zeros((2, 2), dtype=np.float32)}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def gradient(weights: list[NDArray[Any]], x: NDArray[Any], y: NDArray[Any]) -> list[NDArray[Any]]:
    """Of the squared distance of the label's column to the points."""
    slope = np.zeros_like(weights[0])
    for point, label in zip(x, y):
        slope[:, label] += weights[0][:, label] - point
    return [slope / len(x)]


def samples() -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [(np.eye(2, dtype=np.float32)[[z, z]], np.array([z, z])) for z in range(2)]


def test_every_block_is_run_here() -> None:
    """A block of another language is one that nobody runs."""
    marks = re.findall(r"^```(.*)$", PAGE.read_text(), re.MULTILINE)
    assert sorted(mark for mark in marks if mark) == ["python", "python", "python", "sql"]


def test_the_changed_import() -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    assert names["FedAvg"] is RobustStrategy and issubclass(names["FedAvg"], FedAvg)
    (taken,) = re.findall(r"^# (from flwr.*)$", blocks("python")[0], re.MULTILINE)
    exec(taken, names)  # what the reader is told to change exists
    assert names["FedAvg"] is FedAvg


def test_the_rule_for_label_skew_trains() -> None:
    names: dict[str, Any] = {"gradient": gradient, "samples": samples()}
    exec(blocks("python")[1], names)
    strategy = names["strategy"]
    assert isinstance(strategy, RobustStrategy) and strategy.engine.rule == "boba(f=2)"
    honest = [{"w": MODEL["w"].copy()} for _ in range(6)]
    for client, arrays in enumerate(honest):
        arrays["w"][client % 2, client % 2] = 1.0 + client / 100
    evil = [content({"w": -10 * arrays["w"]}) for arrays in honest[:2]]
    model, metrics = play(strategy, MODEL, [*evil, *map(content, honest)])
    assert metrics["boba/rejected-nodes"] == [FIRST_NODE, FIRST_NODE + 1]
    np.testing.assert_allclose(model["w"], np.eye(2) / 2, atol=0.1)


def test_a_run_continues_with_its_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"gradient": gradient, "samples": samples()}
    exec(blocks("python")[1], names)
    earlier = RobustStrategy(rule="boba-hull(f=2)", server_update=names["server_update"])
    steps = [content({"w": MODEL["w"] + np.float32(0.1 * node)}) for node in range(6)]
    play(earlier, MODEL, steps)
    names["strategy"] = earlier
    exec(blocks("python")[2], names)
    assert earlier.memory is not None and (tmp_path / "memory.bin").exists()
    strategy = names["strategy"]
    assert strategy is not earlier and strategy.memory.save() == earlier.memory.save()
    play(strategy, MODEL, steps, 2)
    assert strategy.memory.rounds == 2


def test_the_query_of_the_audit_file(tmp_path: Path) -> None:
    strategy = RobustStrategy(rule="mkrum(f=1)", audit=tmp_path / "rounds.db")
    steps = (1.0, 1.1, 0.9, 1.0, -50.0)
    contents = [content({"w": np.full((2, 2), step, np.float32)}) for step in steps]
    for number in (1, 2):
        play(strategy, MODEL, contents, number)
    (query,) = blocks("sql")
    with sqlite3.connect(tmp_path / "rounds.db") as db:
        ((node, times, reason),) = db.execute(query).fetchall()
    assert (node, times) == (str(FIRST_NODE + 4), 2) and reason
