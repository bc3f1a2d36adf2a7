"""What an aggregation says about itself."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import boba
from boba._text import printable


@pytest.fixture
def label_skew() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    classes = rng.normal(size=(4, 300))
    honest = rng.dirichlet([0.3] * 4, size=12) @ classes + 0.01 * rng.normal(size=(12, 300))
    return np.vstack([honest, -10 * honest[:2]]), classes


def test_boba_fills_the_table(label_skew: tuple[np.ndarray, np.ndarray]) -> None:
    updates, server = label_skew
    names = [f"node-{i}" for i in range(14)]
    result = boba.aggregate(updates, "boba(f=2)", server=server, ids=names)
    table = result.clients.to_dict()
    assert {len(column) for column in table.values()} == {14}
    assert {"index", "id", "accepted", "weight", "in_fit", "residual", "reason"} <= set(table)
    assert table["id"] == names and table["accepted"] == list(result.accepted)
    client = result.clients[13]
    assert client.id == "node-13" and not client.accepted and client.in_fit is False
    assert client.residual == client.measures["residual"] > result.clients[0].residual
    assert client.label_mix is not None and client.label_mix.shape == (4,)
    with pytest.raises(AttributeError, match="no attribute trust; the rule's measures are: "):
        _ = client.trust
    assert len(result.clients[2:5]) == 3 and result.clients[-1].index == 13
    with pytest.raises(IndexError):
        result.clients[14]
    subspace = result.subspace
    assert subspace is not None and subspace.rank == 3 and len(subspace.statements) > 0


def test_the_summary_has_a_line_for_each_client(label_skew: tuple[np.ndarray, np.ndarray]) -> None:
    updates, server = label_skew
    updates[3, 5] = np.nan
    result = boba.aggregate(updates, "boba(f=2)", server=server)
    text = result.summary()
    assert "boba(f=2) accepted" in text and "refused 1 as unusable" in text
    assert "Subspace of the honest updates: 3 of 3 directions" in text
    lines = str(result.clients).splitlines()
    assert len(lines) == 15
    start = lines[0].index("why")
    assert [line[start:] for line in lines[1:]] == [client.reason for client in result.clients]
    assert all(line[start - 2 : start] == "  " for line in lines)
    assert "refused" in lines[4]
    assert repr(result).startswith("<boba.Result: boba(f=2) accepted")


HOSTILE = {
    "a\n  node-1  yes": "a\\n  node-1  yes",
    "b\x1b[2K\r\x7f": "b\\x1b[2K\\r\\x7f",
    "c\x9b1A": "c\\x9b1A",
    "d\u202eevil\u2066": "d\\u202eevil\\u2066",
    "e\u2028\u200b\ufeff": "e\\u2028\\u200b\\ufeff",
    "caf\u00e9 \u4f60": "caf\u00e9 \u4f60",
}


def test_ids_cannot_touch_the_terminal() -> None:
    ids = [*HOSTILE, "b\x1b[2K\r\x7f"]
    result = boba.aggregate(np.ones((7, 3), np.float32), "average", ids=ids)
    assert [client.id for client in result.clients] == ids
    for text in (result.summary(), str(result.clients), repr(result.clients), repr(result)):
        assert all(line.isprintable() for line in text.split("\n"))
    lines = str(result.clients).split("\n")
    assert len(lines) == 8
    start = lines[0].index("id")
    for line, shown in zip(lines[1:], HOSTILE.values(), strict=False):
        assert line[start:].startswith(f"{shown}  ")
    assert r"carries the id 'b\x1b[2K\r\x7f' too" in lines[7]


def test_notes_and_errors_escape_ids() -> None:
    opened = boba.OpenRound(
        "average", np.ones(2, np.float32), cohort=["a", "b\x1b[2J"], quorum=1, deadline=1.0
    )
    opened.submit("a", np.ones(2, np.float32))
    with pytest.raises(ValueError, match=r"client 'c\\n\\u202e'"):
        opened.submit("c\n\u202e", np.ones(2, np.float32))
    assert r"did not come in time: b\x1b[2J" in opened.close(now=2).summary()


def test_python_and_the_program_escape_alike() -> None:
    """Half a surrogate pair too, which only Python's texts can hold."""
    for text, shown in HOSTILE.items():
        assert printable(text) == shown
        assert printable(shown) == shown
    assert printable("\ud800") == r"\ud800"


def test_the_fields_are_those_that_the_core_describes(
    label_skew: tuple[np.ndarray, np.ndarray],
) -> None:
    updates, server = label_skew
    result = boba.aggregate(updates, "boba(f=2)", server=server)
    assert (result.n, result.d, result.classes, result.refused) == (14, 300, 4, 0)
    assert result.sketch is None and result.absent == [] and len(result.accepted) == 14
    for key, record in (("client", result.clients[0]), ("subspace", result.subspace)):
        fields = [field["name"] for field in boba._core.fields()[key]]
        assert [field.name for field in dataclasses.fields(record)] == fields
        assert all(
            f"{field['name']}: {field['meaning']}" in record.__doc__.splitlines()
            for field in boba._core.fields()[key]
        )
    krum = boba.aggregate(updates, "krum(f=2)").clients[0]
    assert krum.in_fit is None and krum.label_mix is None and krum.id is None
    with pytest.raises(AttributeError):
        result.rule = "another"  # type: ignore[misc]


def test_python_prints_what_the_program_prints(
    label_skew: tuple[np.ndarray, np.ndarray],
) -> None:
    updates, server = label_skew
    lines = boba.aggregate(updates, "boba(f=2)", server=server).summary().splitlines()
    assert lines[0] == "boba(f=2) accepted 12 of 14 updates"
    for title in (
        "Subspace of the honest updates: 3 of 3 directions found, ",
        "  trimmed loss ....... ",
        "  explained variance . ",
        "Guarantee: nothing seen in this round rules it out",
        "client  accepted ",
    ):
        assert sum(line.startswith(title) for line in lines) == 1, title


def test_coordinate_rules_have_no_weights(rows: np.ndarray) -> None:
    result = boba.aggregate(rows, "coomed")
    assert result.weights is None and result.clients[0].weight is None
    assert "weight" not in result.clients.to_dict() and result.accepted.all()


def test_warnings_and_measures(rows: np.ndarray) -> None:
    result = boba.aggregate(rows[:6], "krum(f=3)")
    assert any("2f + 3" in warning for warning in result.warnings)
    assert boba.aggregate(rows, "geomed").measures["converged"] == 1
    assert result.rule == "krum(f=3)" and result.subspace is None and result.seconds >= 0


def test_a_seed_that_nobody_gave_is_told(rows: np.ndarray) -> None:
    first = boba.aggregate(rows, "bucketing(s=2) | krum(f=1)")
    told = next(note for note in first.notes if "random stages drew with the seed" in note)
    seed = int(told.split("seed ")[1].split(",")[0])
    again = boba.aggregate(rows, "bucketing(s=2) | krum(f=1)", seed=seed)
    assert [c.bucket for c in again.clients] == [c.bucket for c in first.clients]
    assert told not in again.notes
    other = boba.aggregate(rows, "bucketing(s=2) | krum(f=1)")
    assert told not in other.notes


def test_buckets(rows: np.ndarray) -> None:
    result = boba.aggregate(rows, "bucketing(s=2) | krum(f=1)")
    assert sorted(c.bucket for c in result.clients if c.bucket is not None) == sorted(
        [0, 1, 2, 3, 4] * 2
    )


def test_records_are_values(rows: np.ndarray) -> None:
    client = boba.aggregate(rows, "krum(f=2)").clients[3]
    assert pickle.loads(pickle.dumps(client)) == client == copy.deepcopy(client)
    with pytest.raises(AttributeError):
        client.reason = "another"  # type: ignore[misc]


def test_the_table_goes_into_pandas(rows: np.ndarray) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(boba.aggregate(rows, "mkrum(f=2)").clients.to_dict())
    assert len(frame) == 11 and frame[frame.accepted].weight.sum() == pytest.approx(1)


def test_records_outlive_the_result(rows: np.ndarray) -> None:
    clients = boba.aggregate(rows, "krum(f=2)").clients
    weights = boba.aggregate(rows, "krum(f=2)").weights
    boba.aggregate(rows * 2, "average")
    assert sum(client.accepted for client in clients) == 1 and weights.sum() == 1
