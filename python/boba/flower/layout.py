"""What the arrays of a model are, and how a reply becomes a row.

A model's arrays are of two kinds. Trainable ones are real numbers; joined end to end they are the
row that a rule sees. Buffers are the rest: integers, booleans and what the user names, such as the
running statistics of batch normalisation. No rule sees them.

Everything here distrusts the reply. Its bytes are parsed by hand, since a header may promise an
array of any size, and memory must not be taken on a client's word.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, RecordDict
from numpy.typing import NDArray

from boba.flower.text import shown

# Batch normalisation of PyTorch: statistics of the data, not parameters.
DEFAULT_BUFFER_NAMES = ("*running_mean", "*running_var", "*num_batches_tracked")

# Its functions have types in some releases of NumPy only.
_npy: Any = np.lib.format

_NUMPY_STYPE = "numpy.ndarray"
_NAMES_SHOWN = 3


class Refusal(Exception):
    """A reply cannot be used; the text says why."""


@dataclass(frozen=True)
class Slot:
    """One array of the model; start and stop are its place in the row, 0 and 0 for a buffer."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int
    stop: int


class Layout:
    """The arrays of a model, as the server last sent them."""

    def __init__(self, arrays: ArrayRecord, buffer_names: Iterable[str]) -> None:
        """Reads the server's own arrays; raises ValueError where they are of no use."""
        patterns = tuple(buffer_names)
        self.values: dict[str, NDArray[Any]] = {}
        trainable: list[Slot] = []
        buffers: list[Slot] = []
        length = 0
        for name, array in arrays.items():
            value = array.numpy()
            self.values[name] = value
            _check_kind(name, value.dtype)
            if _is_buffer(name, value.dtype, patterns):
                buffers.append(Slot(name, value.shape, value.dtype, 0, 0))
                continue
            _check_trainable(name, value)
            trainable.append(Slot(name, value.shape, value.dtype, length, length + value.size))
            length += value.size
        if length == 0:
            raise ValueError(
                f"the model has no trainable numbers; its {len(buffers)} arrays are all buffers"
            )
        self.trainable = tuple(trainable)
        self.buffers = tuple(buffers)
        self.length = length
        wide = any(slot.dtype.itemsize > 4 for slot in trainable)
        self.dtype: np.dtype[Any] = np.dtype(np.float64 if wide else np.float32)

    def read(self, record: RecordDict) -> dict[str, NDArray[Any]]:
        """The arrays of a reply by name, or Refusal. They look into the reply's bytes."""
        records = list(record.array_records.values())
        if len(records) != 1:
            raise Refusal(f"the reply has {len(records)} array records; 1 is expected")
        sent = records[0]
        missing = [name for name in self.values if name not in sent]
        if missing:
            raise Refusal(f"arrays are missing: {_listed(missing)}")
        unknown = [str(name) for name in sent if name not in self.values]
        if unknown:
            raise Refusal(f"the model has no arrays {_listed(unknown)}")
        return {
            slot.name: _decode(slot, sent[slot.name]) for slot in (*self.trainable, *self.buffers)
        }

    def row(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """The update of a reply as a gradient, global minus reply; Refusal if not finite."""
        out = np.empty(self.length, dtype=self.dtype)
        with np.errstate(all="ignore"):
            for slot in self.trainable:
                np.subtract(
                    self.values[slot.name].reshape(-1),
                    values[slot.name].reshape(-1),
                    out=out[slot.start : slot.stop],
                    dtype=self.dtype,
                )
        if not np.isfinite(out).all():
            self._refuse_values(values)
            raise Refusal("the difference to the global model overflows")
        for slot in self.buffers:
            if slot.dtype.kind == "f":
                _check_finite(slot.name, values[slot.name])
        return out

    def step(self, direction: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The trainable arrays after one step against a gradient, in their own types."""
        with np.errstate(all="ignore"):
            return {
                slot.name: (
                    self.values[slot.name] - direction[slot.start : slot.stop].reshape(slot.shape)
                ).astype(slot.dtype)
                for slot in self.trainable
            }

    def at(self, point: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The whole model with a row as its trainable arrays, for an oracle."""
        model = {
            slot.name: point[slot.start : slot.stop].reshape(slot.shape).astype(slot.dtype)
            for slot in self.trainable
        }
        return model | {slot.name: self.values[slot.name].copy() for slot in self.buffers}

    def point(self) -> NDArray[Any]:
        """The trainable arrays of the model as one row."""
        return self.join(self.values, "the model")

    def join(
        self,
        values: Mapping[str, NDArray[Any]] | Sequence[NDArray[Any]],
        what: str,
    ) -> NDArray[Any]:
        """A row from arrays of the server's own; ValueError where they do not fit.

        A sequence has one array for each of the model's, buffers too, in the model's order; a
        mapping may leave buffers out.
        """
        if not isinstance(values, Mapping):
            if len(values) != len(self.values):
                raise ValueError(
                    f"{what} has {len(values)} arrays; the model has {len(self.values)}"
                )
            values = dict(zip(self.values, values))
        out = np.empty(self.length, dtype=self.dtype)
        for slot in self.trainable:
            if slot.name not in values:
                raise ValueError(f"{what} lacks array '{slot.name}'")
            value = np.asarray(values[slot.name])
            if value.shape != slot.shape:
                raise ValueError(
                    f"{what}: array '{slot.name}' has shape {value.shape}; "
                    f"the model's has {slot.shape}"
                )
            out[slot.start : slot.stop] = value.reshape(-1)
        if not np.isfinite(out).all():
            raise ValueError(f"{what} has NaN or infinity")
        return out

    def _refuse_values(self, values: Mapping[str, NDArray[Any]]) -> None:
        for slot in self.trainable:
            _check_finite(slot.name, values[slot.name])


def _is_buffer(name: str, dtype: np.dtype[Any], patterns: Sequence[str]) -> bool:
    return dtype.kind in "iub" or any(fnmatchcase(name, pattern) for pattern in patterns)


def _check_kind(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "fiub":
        raise ValueError(
            f"array '{name}' of the model is {dtype}; arrays are real numbers, integers or "
            "booleans, buffers too"
        )


def _check_trainable(name: str, value: NDArray[Any]) -> None:
    if value.dtype.kind != "f" or value.dtype.itemsize > 8:
        raise ValueError(
            f"array '{name}' of the model is {value.dtype}; trainable arrays are float16, float32 "
            "or float64. Name it in buffer_names if it is not trained"
        )
    if not np.isfinite(value).all():
        raise ValueError(f"array '{name}' of the global model has NaN or infinity")


def _check_finite(name: str, value: NDArray[Any]) -> None:
    bad = value.size - int(np.count_nonzero(np.isfinite(value)))
    if bad:
        raise Refusal(f"array '{name}' has {bad} of {value.size} values that are NaN or infinite")


def _decode(slot: Slot, array: Array) -> NDArray[Any]:
    """The array in a reply's bytes, without a copy, if it is exactly what the slot expects."""
    if array.stype != _NUMPY_STYPE:
        raise Refusal(f"array '{slot.name}' is serialised as '{shown(str(array.stype))}'")
    stream = io.BytesIO(array.data)
    try:
        version = _npy.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = _npy.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, fortran, dtype = _npy.read_array_header_2_0(stream)
        else:
            raise ValueError(f"version {version} of the format")
    except Exception as error:
        # numpy's parser raises many kinds on hostile bytes; a client must not choose which of
        # them stops the server.
        raise Refusal(f"array '{slot.name}' cannot be read") from error
    if dtype != slot.dtype or array.dtype != str(slot.dtype):
        raise Refusal(
            f"array '{slot.name}' is {shown(str(array.dtype))} ({shown(str(dtype))} inside); "
            f"{slot.dtype} is expected"
        )
    if shape != slot.shape or tuple(array.shape) != slot.shape:
        raise Refusal(
            f"array '{slot.name}' has shape {shown(str(tuple(array.shape)))} "
            f"({shown(str(shape))} inside); {slot.shape} is expected"
        )
    size = math.prod(slot.shape)
    offset = stream.tell()
    if len(array.data) - offset != size * slot.dtype.itemsize:
        raise Refusal(
            f"array '{slot.name}' has {len(array.data) - offset} bytes; "
            f"{size * slot.dtype.itemsize} are expected"
        )
    if size == 0:
        return np.empty(slot.shape, dtype=slot.dtype)
    flat = np.frombuffer(array.data, dtype=slot.dtype, count=size, offset=offset)
    return flat.reshape(slot.shape, order="F" if fortran else "C")


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(f"'{shown(name)}'" for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return first if more <= 0 else f"{first} and {more} more"
