"""What users give, as rows of the core, and back.

A ``Form`` remembers what the updates looked like, so that the aggregate can look the same.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from boba import _core

Flat = np.ndarray[Any, np.dtype[Any]]
Give = Callable[[Flat], Any]
Shapes = tuple[tuple[int, ...], ...]


class Form:
    """How the rows of an input look to the user."""

    def __init__(
        self, give: Give, shapes: Shapes, matrix: Callable[[Flat], Any] | None = None
    ) -> None:
        """Takes what turns a flat NumPy row, and perhaps a matrix of them, into the user's kind.

        The shapes are those of a row's layers: one, where a row is an array; none without rows.
        """
        self.give = give
        self.shapes = shapes
        self._matrix = matrix

    def read_rows(self, value: Any, what: str) -> _core.Rows:
        """Reads rows that are shaped like these, or flat."""
        rows, form = read(value, what)
        self._check(form.shapes, what)
        return rows

    def read_row(self, value: Any, what: str) -> _core.Rows:
        """Reads a row that is shaped like these, or flat."""
        row, form = read_one(value, what)
        self._check(form.shapes, what)
        return row

    def flatten(self, value: Any, dtype: str, what: str) -> Flat:
        """Joins an array or a list of layers, shaped like a row or flat, to one vector."""
        layers = value if isinstance(value, (list, tuple)) else [value]
        arrays = [_numpy(layer, what) for layer in layers]
        if not arrays:
            raise ValueError(f"{what} is a list of no layers")
        self._check(tuple(layer.shape for layer in arrays), what)
        joined: Flat = np.concatenate([layer.reshape(-1) for layer in arrays])
        return joined.astype(dtype, copy=False)

    def _check(self, shapes: Shapes, what: str) -> None:
        """Refuses what is shaped otherwise. The length of flat rows is checked by the core."""
        flat = len(shapes) == 1 and len(shapes[0]) == 1
        if flat or not shapes or not self.shapes or shapes == self.shapes:
            return
        raise ValueError(
            f"{what} has {_shapes_text(shapes)}; an update has {_shapes_text(self.shapes)}; "
            "it is shaped like an update, or flat"
        )

    def give_rows(self, rows: Flat) -> Any:
        """Gives a matrix of rows: an array where the input was one, else a list."""
        return self._matrix(rows) if self._matrix else [self.give(row) for row in rows]


def new_rows(like: _core.Rows, count: int) -> Flat:
    """Makes room for rows of the same type and length."""
    return np.empty((count, like.length), like.dtype)


def read(value: Any, what: str) -> tuple[_core.Rows, Form]:
    """Reads an input with a row for each client or class."""
    if not isinstance(value, (list, tuple)):
        if _is_array(value) or not isinstance(value, Iterable):
            return _read_matrix(value, what)
        value = list(value)
    first = value[0] if value else None
    if isinstance(first, (list, tuple)):
        return _read_layers(value, what, [f"{what}[{i}]" for i in range(len(value))])
    rows = _core.Rows([_unwrap(row) for row in value], what)
    give = _giver(first)
    shape = rows.shape
    return rows, Form(
        give if len(shape) == 1 else lambda row: give(row.reshape(shape)),
        (shape,) if value else (),
    )


def read_one(value: Any, what: str) -> tuple[_core.Rows, Form]:
    """Reads a single row: an array, or a list of layers."""
    if isinstance(value, (list, tuple)):
        return _read_layers([value], what, [what])
    values = _layer(value, what)
    if values.ndim == 0:
        raise ValueError(f"{what} is a single number, not a row")
    give = _giver(value)
    shape = values.shape
    return _core.Rows(values[np.newaxis], what), Form(
        lambda row: give(row.reshape(shape)), (shape,)
    )


def _read_matrix(value: Any, what: str) -> tuple[_core.Rows, Form]:
    rows = _core.Rows(_unwrap(value), what)
    give = _giver(value)
    shape = rows.shape
    return rows, Form(
        lambda row: give(row.reshape(shape)),
        (shape,),
        lambda matrix: give(matrix.reshape(len(matrix), *shape)),
    )


def _read_layers(value: Sequence[Any], what: str, names: Sequence[str]) -> tuple[_core.Rows, Form]:
    """Reads a list of layers for each client, which need not be neighbours in memory."""
    first = [_layer(layer, f"{names[0]}[{k}]") for k, layer in enumerate(value[0])]
    if not first:
        raise ValueError(f"{names[0]} is a list of no layers")
    shapes = tuple(layer.shape for layer in first)
    for k, layer in enumerate(first):
        if layer.dtype != first[0].dtype:
            raise TypeError(
                f"{names[0]}[{k}] is {layer.dtype}, {names[0]}[0] is {first[0].dtype}; "
                "all layers have one type"
            )
    ends = np.cumsum([layer.size for layer in first]).tolist()
    flat = np.empty((len(value), ends[-1]), first[0].dtype)
    for client, row, name in zip(value, flat, names, strict=True):
        _copy_layers(client, row, first, name)
    givers = [_giver(layer) for layer in value[0]]

    def give(row: Flat) -> list[Any]:
        begins = [0, *ends]
        return [
            giver(row[begin:end].reshape(shape))
            for giver, shape, begin, end in zip(givers, shapes, begins, ends, strict=False)
        ]

    return _core.Rows(flat, what), Form(give, shapes)


def _copy_layers(client: Any, row: Flat, first: Sequence[Flat], name: str) -> None:
    if not isinstance(client, (list, tuple)):
        raise TypeError(f"{name} is {type(client).__name__}; it is a list of layers as the first")
    if len(client) != len(first):
        raise ValueError(f"{name} has {len(client)} layers, the first has {len(first)}")
    begin = 0
    for k, (layer, like) in enumerate(zip(client, first, strict=True)):
        values = _layer(layer, f"{name}[{k}]")
        if values.shape != like.shape:
            raise ValueError(
                f"{name}[{k}] has the shape {values.shape}, the first client's {like.shape}"
            )
        if values.dtype != like.dtype:
            raise TypeError(f"{name}[{k}] is {values.dtype}, the first client's is {like.dtype}")
        row[begin : begin + values.size] = values.reshape(-1)
        begin += values.size


def _layer(value: Any, name: str) -> Flat:
    values = _numpy(value, name)
    if values.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} is {values.dtype}; boba takes float32 and float64")
    return values


def _numpy(value: Any, name: str) -> Flat:
    value = _unwrap(value)
    if not _is_array(value):
        raise TypeError(f"{name} is {type(value).__name__}; it is an array of float32 or float64")
    _core.check_copied(value, name)
    if isinstance(value, np.ndarray):
        return value
    try:
        return np.from_dlpack(value) if hasattr(value, "__dlpack__") else np.asarray(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        where = f" on {value.device}" if hasattr(value, "device") else ""
        kind = f" of {value.dtype}" if hasattr(value, "dtype") else ""
        raise TypeError(
            f"{name} is {type(value).__name__}{where}{kind}; boba takes float32 and float64 in "
            "main memory"
        ) from error


def _torch_tensor(value: Any) -> bool:
    """Tells tensors of PyTorch, without importing it for those who do not use it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _unwrap(value: Any) -> Any:
    """Gives a view that is quicker to read than a tensor: the same memory as a NumPy array."""
    if type(value) is np.ndarray:  # most are, and the questions below take time
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("a masked array has no number where it is masked; fill it first")
    if not _torch_tensor(value):
        return value
    try:
        # Tensors may be negated or conjugated by a bit that others do not see.
        value = value.detach().resolve_neg().resolve_conj()
        return value.numpy()
    except (RuntimeError, TypeError):  # another device or type: the core says which
        return value


def _shapes_text(shapes: Shapes) -> str:
    return f"the shape{'s' if len(shapes) > 1 else ''} {', '.join(map(str, shapes))}"


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return hasattr(value, "__array__")
    return True


def _giver(example: Any) -> Give:
    """Gives what turns a NumPy array into the example's kind."""
    if _torch_tensor(example):
        from_numpy: Give = sys.modules["torch"].from_numpy
        return from_numpy
    if isinstance(example, array):
        return lambda values: array(example.typecode, values.tobytes())
    if not isinstance(example, np.ndarray) and hasattr(example, "__array_namespace__"):
        from_dlpack: Give = example.__array_namespace__().from_dlpack
        return from_dlpack
    return lambda values: values
