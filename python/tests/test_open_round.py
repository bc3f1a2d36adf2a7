"""Rounds filled as updates arrive: any order, any thread, the same result."""

from __future__ import annotations

from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import boba

IDS = [f"client-{i}" for i in range(11)]


@pytest.mark.parametrize(
    "spec", ["krum(f=2)", "mkrum(f=2)", "geomed", "coomed", "average", "boba(f=2)"]
)
def test_it_gives_what_the_whole_round_gives(rows: np.ndarray, spec: str) -> None:
    server = rows[:3]
    whole = boba.aggregate(rows, spec, server=server, ids=IDS)
    for order in (range(11), reversed(range(11)), np.random.default_rng(0).permutation(11)):
        opened = boba.OpenRound(spec, rows[0], cohort=IDS, server=server)
        for i in order:
            assert not opened.may_close()
            opened.submit(IDS[i], rows[i])
        assert opened.may_close()
        result = opened.close()
        np.testing.assert_allclose(result.vector, whole.vector, rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(result.accepted, whole.accepted)
        assert [client.id for client in result.clients] == IDS


def test_threads_fill_it_at_once(rows: np.ndarray) -> None:
    expected = None
    for _ in range(5):
        opened = boba.OpenRound(boba.MultiKrum(f=2), rows[0], cohort=IDS)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda i, r=opened: r.submit(IDS[i], rows[i]), range(11)))
        vector = opened.close().vector
        assert expected is None or np.array_equal(vector, expected)
        expected = vector


def test_chunks(rows: np.ndarray) -> None:
    opened = boba.OpenRound("average", rows[0], cohort=IDS[:2])
    data = rows[0].tobytes()
    with opened.begin(IDS[0]) as upload:
        for begin in range(0, len(data), 7):  # chunks end inside numbers
            upload.append(data[begin : begin + 7])
        assert opened.progress.uploading == 1
    with pytest.raises(RuntimeError, match="lost"), opened.begin(IDS[1]) as upload:
        upload.append(bytearray(data[:100]))
        raise RuntimeError("connection lost")
    assert opened.progress.uploading == 0
    upload = opened.begin(IDS[1])  # what was given up may begin again
    upload.append(memoryview(rows[1]))
    upload.finish()
    np.testing.assert_allclose(opened.close().vector, rows[:2].mean(0), atol=1e-6)


def test_quorum_and_deadline_name_the_absent(rows: np.ndarray) -> None:
    opened = boba.OpenRound("average", rows[0], cohort=IDS[:4], quorum=2, deadline=10.0)
    opened.submit(IDS[2], rows[2])
    opened.submit(IDS[0], rows[0])
    assert not opened.may_close(9.0) and opened.may_close(10.0)
    with pytest.raises(ValueError, match="close"):
        opened.close(9.0)
    result = opened.close(11.0)
    assert result.absent == [IDS[1], IDS[3]]
    np.testing.assert_allclose(result.vector, rows[[0, 2]].mean(0), atol=1e-6)
    assert opened.progress.closed
    with pytest.raises(ValueError, match="clos"):
        opened.submit(IDS[1], rows[1])


def test_what_is_no_use_is_refused_at_once(rows: np.ndarray) -> None:
    opened = boba.OpenRound("average", rows[0], cohort=IDS)
    poisoned = rows[1].copy()
    poisoned[5] = np.nan
    for update, sentence in [
        (poisoned, "NaN|finite"),
        (rows[2][:9], "length|9"),
        (rows[3].astype("f4" if rows.dtype == "f8" else "f8"), "float"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            opened.submit(IDS[{9: 2}.get(len(update), 1 if np.isnan(update).any() else 3)], update)
    with pytest.raises(ValueError, match="stranger"):
        opened.submit("stranger", rows[0])
    opened.submit(IDS[0], rows[0])
    with pytest.raises(ValueError, match=IDS[0]):
        opened.submit(IDS[0], rows[0])
    assert opened.progress.accepted == 1 and opened.progress.refused >= 1


def test_updates_of_another_shape_are_refused() -> None:
    layers = [np.arange(6.0).reshape(2, 3), np.arange(4.0)]
    opened = boba.OpenRound("average", layers, cohort=IDS[:3])
    for update, sentence in [
        ([layers[0].T, layers[1]], r"update has the shapes \(3, 2\), \(4,\); an update has "),
        (layers[::-1], r"\(4,\), \(2, 3\); an update has the shapes \(2, 3\), \(4,\)"),
        (np.arange(10.0).reshape(2, 5), r"update has the shape \(2, 5\); an update has"),
        ([*layers, np.empty(0)], r"\(0,\); an update has"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            opened.submit(IDS[0], update)
    assert opened.progress.accepted == 0
    opened.submit(IDS[0], layers)
    opened.submit(IDS[1], tuple(torch.from_numpy(layer) for layer in layers))
    opened.submit(IDS[2], np.concatenate([layers[0].reshape(-1), layers[1]]))  # flat will do
    for layer, expected in zip(opened.close().vector, layers, strict=True):
        np.testing.assert_array_equal(layer, expected)
    square = boba.OpenRound("average", np.ones((3, 3)), cohort=IDS[:1])
    with pytest.raises(ValueError, match=r"update has the shape \(1, 9\); an update has the shape"):
        square.submit(IDS[0], np.ones((1, 9)))


def test_updates_may_be_any_buffer() -> None:
    opened = boba.OpenRound("average", array("d", [0.0, 0.0]), cohort=IDS[:3])
    opened.submit(IDS[0], array("d", [1.0, 2.0]))
    opened.submit(IDS[1], memoryview(array("d", [3.0, 4.0])), copy=False)
    opened.submit(IDS[2], torch._neg_view(torch.tensor([-5.0, -6.0], dtype=torch.float64)))
    assert opened.close().vector == array("d", [3.0, 4.0])


@pytest.mark.parametrize(
    ("update", "error", "sentence"),
    [
        ("text", TypeError, "^update is str; it is an array of float32 or float64"),
        (None, TypeError, "^update is NoneType; it is an array"),
        (5.0, TypeError, "^update is float; it is an array"),
        (np.float64(5), ValueError, "^update is a single number"),
        (array("i", [1, 2]), TypeError, "^update is int32; boba takes float32 and float64"),
        (np.ones(2, ">f4"), TypeError, "^update is >f4; boba takes float32 and float64"),
        ([np.ones(1, np.float32), 5], TypeError, r"^update\[1\] is int; it is an array"),
        ([], ValueError, "^update is a list of no layers"),
    ],
)
def test_updates_that_are_none(update: object, error: type[Exception], sentence: str) -> None:
    opened = boba.OpenRound("average", np.ones(2, np.float32), most=2)
    with pytest.raises(error, match=sentence):
        opened.submit("a", update)
    with pytest.raises(error, match=sentence.replace("update", "like")):
        boba.OpenRound("average", update, most=2)


def test_names_and_times_that_are_none() -> None:
    opened = boba.OpenRound("average", np.ones(2, np.float32), most=2)
    for call in (
        lambda: opened.submit("a\udc80", np.ones(2, np.float32)),
        lambda: opened.begin("a\udc80"),
    ):
        with pytest.raises(ValueError, match=r"^client is not valid text: 'a\\udc80'"):
            call()
    for now in ("noon", None):
        with pytest.raises(TypeError, match=r"^now is (str|NoneType); it is a number"):
            opened.may_close(now)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^now is (str|NoneType); it is a number"):
            opened.close(now)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"rule": 5}, TypeError, "^rule is int; it is a spec or a rule object"),
        ({"rule": None}, TypeError, "^rule is NoneType; it is a spec or a rule object"),
        ({"rule": boba.Zero()}, TypeError, "^rule is Zero; it is a spec or a rule object"),
        ({"cohort": ["a", "b\udc80"]}, ValueError, r"^cohort\[1\] is not valid text: 'b\\udc80'"),
        ({"cohort": 5}, TypeError, "^cohort is int; it is a list of names"),
        ({"deadline": "noon"}, TypeError, "^deadline is str; it is a number"),
    ],
)
def test_arguments_that_are_none(
    given: dict[str, object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        boba.OpenRound(**{"rule": "average", "like": np.ones(5), "most": 2, **given})  # type: ignore[arg-type]


def test_kinds_come_back(rows: np.ndarray) -> None:
    tensor = torch.from_numpy(rows)
    opened = boba.OpenRound("average", tensor[0], cohort=IDS[:2])
    opened.submit(IDS[0], tensor[0])
    opened.submit(IDS[1], tensor[1], copy=False)
    assert isinstance(opened.close().vector, torch.Tensor)
    layers = [[row[:57].reshape(3, 19), row[57:]] for row in rows]
    opened = boba.OpenRound("average", layers[0], cohort=IDS[:2])
    for i in range(2):
        opened.submit(IDS[i], layers[i])
    assert [layer.shape for layer in opened.close().vector] == [(3, 19), (200,)]


def test_adopted_updates_are_kept_alive_and_not_copied(rows: np.ndarray) -> None:
    copied = boba.OpenRound("average", rows[0], cohort=IDS)
    adopted = boba.OpenRound("average", rows[0], cohort=IDS)
    for i in range(11):
        copied.submit(IDS[i], rows[i].copy())
        adopted.submit(IDS[i], rows[i].copy(), copy=False)  # nobody else holds it
    assert adopted.progress.bytes < copied.progress.bytes
    np.testing.assert_array_equal(adopted.close().vector, copied.close().vector)


def test_unfinished_uploads_keep_nobody_out(rows: np.ndarray) -> None:
    opened = boba.OpenRound("average", rows[0], most=3, most_uploads=2)
    uploads = [opened.begin(name) for name in ("x", "y")]
    with pytest.raises(boba.RefusedError, match="2 uploads are unfinished, the most at once"):
        opened.begin("z")
    uploads[0].give_up()
    opened.begin("z").give_up()
    for i in range(3):
        opened.submit(IDS[i], rows[i])
    uploads[1].append(rows[3].tobytes())
    with pytest.raises(boba.RefusedError, match="takes 3 updates, and all have come"):
        uploads[1].finish()
    np.testing.assert_allclose(opened.close().vector, rows[:3].mean(0), rtol=1e-5, atol=1e-6)


def test_uploads_outlive_their_round(rows: np.ndarray) -> None:
    upload = boba.OpenRound("average", rows[0], cohort=IDS[:1]).begin(IDS[0])
    upload.append(rows[0].tobytes())
    upload.finish()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "most|cohort"),
        ({"cohort": ["node-7", "node-7"]}, "the cohort names 'node-7' twice"),
        ({"cohort": ["a", "b"], "quorum": 3}, "quorum"),
        ({"cohort": ["a"], "server": np.ones((2, 3), np.float32)}, "length 3"),
    ],
)
def test_rounds_that_cannot_open(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        boba.OpenRound("average", np.ones(5, np.float32), **given)  # type: ignore[arg-type]
