"""What becomes of buffers: integers and running statistics, which no rule sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boba.flower.layout import Layout

BufferPolicy = Literal["median", "average", "keep"]
POLICIES: tuple[str, ...] = get_args(BufferPolicy)


def combine_buffers(
    layout: Layout,
    policy: BufferPolicy,
    usable: Sequence[Mapping[str, NDArray[Any]]],
    accepted: Sequence[Mapping[str, NDArray[Any]]],
) -> dict[str, NDArray[Any]]:
    """The buffers of the next global model.

    The median is that of all usable replies, not of the accepted: most replies are honest, while
    a rule such as Krum accepts one, whose update may be honest and whose buffers may not. Of an
    even number it is the lower one, so it is a value that a client sent and an integer stays one.
    The average is that of the accepted; with nobody accepted the server's own stay.
    """
    kept = {slot.name: layout.values[slot.name] for slot in layout.buffers}
    sources = usable if policy == "median" else accepted
    if policy == "keep" or not sources:
        return kept
    combined: dict[str, NDArray[Any]] = {}
    for name, own in kept.items():
        stack = np.stack([values[name] for values in sources])
        if policy == "median":
            result = np.sort(stack, axis=0)[(len(sources) - 1) // 2]
        else:
            result = _average(stack, own.dtype)
        combined[name] = np.asarray(result, dtype=own.dtype).reshape(own.shape)
    return combined


def _average(stack: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    # Shares are added, not values: the sum of a few huge values must not overflow. A float64 mean
    # of large integers is off in its last digits; the nearest integer is what is asked for.
    with np.errstate(all="ignore"):
        mean: NDArray[Any] = (stack.astype(np.float64) / len(stack)).sum(axis=0)
    if dtype.kind == "f":
        return mean
    if dtype.kind == "b":
        return mean >= 0.5
    info = np.iinfo(dtype)
    whole: NDArray[Any] = np.clip(np.rint(mean), _inside(info.min), _inside(info.max))
    return whole.astype(dtype)


def _inside(bound: int) -> float:
    """The float64 nearest to a bound that is not beyond it: 2^63 - 1 itself rounds up to 2^63."""
    rounded = float(bound)
    return rounded if abs(int(rounded)) <= abs(bound) else float(np.nextafter(rounded, 0.0))
