"""What may be given, that it is not copied or changed, and what comes back."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import numpy as np
import pytest
import torch

import boba
from boba import _core
from boba._rows import read

MEAN = boba.Average()


def addresses(value: object) -> list[int]:
    seen, _ = read(value, "updates")
    return [seen.address(i) for i in range(len(seen))]


def test_a_matrix_is_read_where_it_lies(rows: np.ndarray) -> None:
    assert addresses(rows) == [row.ctypes.data for row in rows]
    assert _core.Rows(rows, "updates").copied == 0


def test_separate_rows_are_read_where_they_lie(rows: np.ndarray) -> None:
    separate = [row.copy() for row in rows]
    assert addresses(separate) == [row.ctypes.data for row in separate]
    assert addresses(tuple(separate)) == [row.ctypes.data for row in separate]


def test_tensors_are_read_where_they_lie(rows: np.ndarray) -> None:
    matrix = torch.from_numpy(rows.copy())
    assert addresses(matrix) == [row.data_ptr() for row in matrix]
    separate = [torch.from_numpy(row.copy()) for row in rows]
    assert addresses(separate) == [row.data_ptr() for row in separate]


def test_rows_apart_in_memory_are_not_copied(rows: np.ndarray) -> None:
    for view in (rows[::2], rows[:, 10:90], rows[::-1], np.broadcast_to(rows[0], rows.shape)):
        assert _core.Rows(view, "updates").copied == 0
        np.testing.assert_allclose(MEAN(view), view.mean(0), atol=1e-6)


def test_numbers_apart_in_memory_are_copied_once(rows: np.ndarray) -> None:
    for view in (np.asfortranarray(rows), rows[:, ::2], rows[:, ::-1]):
        assert _core.Rows(view, "updates").copied == len(rows)
        np.testing.assert_allclose(MEAN(view), view.mean(0), atol=1e-6)
    columns = [rows[:, k] for k in range(5)]
    np.testing.assert_allclose(MEAN(columns), np.mean(columns, 0), atol=1e-6)


def test_numbers_off_their_alignment_are_copied() -> None:
    raw = np.zeros(4 * 6 + 1, np.uint8)
    shifted = raw[1:].view(np.float32)
    shifted[:] = range(6)
    assert not shifted.flags.aligned
    assert _core.Rows([shifted, np.ones(6, np.float32)], "updates").copied == 1
    np.testing.assert_array_equal(MEAN([shifted, shifted]), np.arange(6, dtype=np.float32))


def test_inputs_are_never_written(rows: np.ndarray, tmp_path: Path) -> None:
    class Flat:
        def loss(self, w: np.ndarray) -> float:
            return float(w @ w)

        def gradient(self, w: np.ndarray) -> np.ndarray:
            return w

    rows.tofile(tmp_path / "rows")
    # Pages of a file that the process may not write to: a write ends it.
    mapped = np.memmap(tmp_path / "rows", rows.dtype, mode="r", shape=rows.shape)
    for name, made in boba.rules().items():
        rule = made(f=2) if "f" in made().options else made()
        rule(mapped, server=mapped[:3], model=mapped[0], learning_rate=0.1, oracle=Flat())
        assert (mapped == rows).all(), name
    for name, attack in boba.attacks().items():
        sender = attack(classes=3) if name == "simplex" else attack()
        if name == "inside":  # it needs what only a simulator knows
            with pytest.raises(ValueError, match="inside needs the server's class gradients"):
                sender.forge(mapped, 2)
        else:
            sender.forge(mapped, 2)
        assert (mapped == rows).all(), name


def test_arrays_come_back_as_arrays(rows: np.ndarray) -> None:
    for given in (rows, list(rows), tuple(rows)):
        mean = MEAN(given)
        assert type(mean) is np.ndarray
        assert (mean.dtype, mean.shape) == (rows.dtype, rows.shape[1:])
        assert mean.flags.writeable and mean.flags.c_contiguous and mean.flags.aligned
        np.testing.assert_allclose(mean, rows.mean(0), atol=1e-6)


def test_results_do_not_share_memory(rows: np.ndarray) -> None:
    first, second = MEAN(rows), MEAN(rows)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, rows)


def test_tensors_come_back_as_tensors(rows: np.ndarray) -> None:
    matrix = torch.from_numpy(rows)
    for given in (matrix, list(matrix), [row.requires_grad_() for row in matrix.clone()]):
        mean = MEAN(given)
        assert isinstance(mean, torch.Tensor)
        assert mean.dtype == matrix.dtype and mean.shape == matrix.shape[1:]
        assert not mean.requires_grad
        torch.testing.assert_close(mean, matrix.mean(0))


def test_layers_come_back_as_layers(rows: np.ndarray) -> None:
    def model(row: np.ndarray) -> list[np.ndarray]:
        return [row[:200].reshape(10, 20), row[200:256], row[256:].reshape(())]

    mean = MEAN([model(row) for row in rows])
    assert isinstance(mean, list)
    assert [layer.shape for layer in mean] == [(10, 20), (56,), ()]
    assert all(layer.dtype == rows.dtype for layer in mean)
    for layer, expected in zip(mean, model(rows.mean(0)), strict=True):
        np.testing.assert_allclose(layer, expected, atol=1e-6)
    tensors = [[torch.tensor(layer) for layer in model(row)] for row in rows]
    mean = boba.Krum(f=2)(tensors)
    assert all(isinstance(layer, torch.Tensor) for layer in mean)
    assert [tuple(layer.shape) for layer in mean] == [(10, 20), (56,), ()]
    chosen = boba.Krum(f=2).aggregate(rows).weights.argmax()
    torch.testing.assert_close(mean[0], tensors[chosen][0])


def test_layers_of_a_real_module() -> None:
    torch.manual_seed(0)
    nets = [torch.nn.Linear(4, 3) for _ in range(5)]
    mean = MEAN([list(net.parameters()) for net in nets])
    torch.testing.assert_close(mean[0], torch.stack([net.weight for net in nets]).mean(0).detach())


def test_matrices_of_clients_keep_their_shape(rows: np.ndarray) -> None:
    cubes = rows[:, :256].reshape(len(rows), 4, 8, 8)
    assert MEAN(cubes).shape == (4, 8, 8)
    assert MEAN(list(cubes)).shape == (4, 8, 8)
    np.testing.assert_allclose(MEAN(cubes), cubes.mean(0), atol=1e-6)
    rolled = np.transpose(cubes, (0, 3, 1, 2))
    np.testing.assert_allclose(MEAN(rolled), rolled.mean(0), atol=1e-6)


def test_the_buffer_protocol_is_enough() -> None:
    rows = [array("d", [1.0, 2.0]), array("d", [3.0, 6.0])]
    assert MEAN(rows) == array("d", [2.0, 4.0])
    views = [memoryview(row) for row in rows]
    np.testing.assert_array_equal(MEAN(views), [2, 4])
    matrix = memoryview(np.array([[1.0, 2.0], [3.0, 6.0]]))
    np.testing.assert_array_equal(MEAN(matrix), [2, 4])


class FromElsewhere:
    """An array of some other library: DLPack and a namespace, nothing else."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **kwargs: object) -> object:
        return self.values.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_namespace__(self) -> type[FromElsewhere]:
        return FromElsewhere

    @classmethod
    def from_dlpack(cls, other: object) -> FromElsewhere:
        return cls(np.from_dlpack(other))


def test_dlpack_is_enough_and_comes_back(rows: np.ndarray) -> None:
    for given in (FromElsewhere(rows), [FromElsewhere(row) for row in rows]):
        mean = MEAN(given)
        assert isinstance(mean, FromElsewhere)
        np.testing.assert_allclose(mean.values, rows.mean(0), atol=1e-6)
    layers = [[FromElsewhere(row[:7]), FromElsewhere(row[7:])] for row in rows]
    assert [type(layer) for layer in MEAN(layers)] == [FromElsewhere, FromElsewhere]


def test_other_iterables_are_gathered(rows: np.ndarray) -> None:
    np.testing.assert_array_equal(MEAN(row for row in rows), MEAN(rows))
    np.testing.assert_array_equal(MEAN({"a": rows[0], "b": rows[1]}.values()), MEAN(rows[:2]))


def test_server_rows_may_be_of_another_kind(rows: np.ndarray) -> None:
    expected = boba.FLTrust()(rows, server=rows[:3])
    np.testing.assert_array_equal(boba.FLTrust()(rows, server=torch.from_numpy(rows[:3])), expected)
    np.testing.assert_array_equal(boba.FLTrust()(rows, server=list(rows[:3])), expected)
    whole = rows[:3].mean(0)
    np.testing.assert_allclose(boba.FLTrust()(rows, server_whole=whole), expected, atol=1e-6)
    layers = [[row[:100].reshape(10, 10), row[100:]] for row in rows]
    for given in (whole, [torch.from_numpy(whole[:100]).reshape(10, 10), whole[100:]]):
        trusted = boba.FLTrust()(layers, server_whole=given)
        np.testing.assert_allclose(trusted[0].reshape(-1), expected[:100], atol=1e-6)


def test_torch_is_not_imported_for_those_without_it() -> None:
    import subprocess

    code = (
        "import boba, numpy, sys; boba.Average()(numpy.ones((3, 4))); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"


def test_negated_tensors_have_their_sign(rows: np.ndarray) -> None:
    matrix = torch.from_numpy(rows)
    lazy = torch._neg_view(matrix)  # the memory is that of the matrix; a bit says "negative"
    imaginary = torch.complex(matrix, matrix).conj().imag
    for negated in (lazy, imaginary):
        assert negated.is_neg()
        for given in (negated, list(negated), list(negated.clone().requires_grad_())):
            torch.testing.assert_close(MEAN(given), -matrix.mean(0))
        layers = MEAN([[row[:100], row[100:]] for row in negated])
        torch.testing.assert_close(torch.cat(layers), -matrix.mean(0))
        trusted = boba.FLTrust()(rows, server=-rows[:3])
        torch.testing.assert_close(boba.FLTrust()(matrix, server=negated[:3]).numpy(), trusted)
    with pytest.raises(TypeError, match="updates is complex"):
        MEAN(torch.complex(matrix, matrix).conj())


class Level:
    """An oracle that keeps where it was asked."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def loss(self, w: np.ndarray) -> float:
        self.asked.append(w)
        return 0.0


def test_the_model_may_be_any_buffer() -> None:
    updates = np.zeros((4, 2))
    for model in (
        array("d", [1.0, 2.0]),
        memoryview(array("d", [1.0, 2.0])),
        FromElsewhere(np.array([1.0, 2.0])),
        torch._neg_view(torch.tensor([-1.0, -2.0], dtype=torch.float64)),
        [array("d", [1.0, 2.0])],
    ):
        oracle = Level()
        boba.Zeno(f=1)(updates, model=model, learning_rate=1.0, oracle=oracle)
        np.testing.assert_array_equal(oracle.asked, [[1.0, 2.0]] * len(oracle.asked))
        assert oracle.asked


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_many_rows(count: int) -> None:
    rows = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    np.testing.assert_allclose(MEAN(list(rows)), rows.mean(0), rtol=1e-6)
