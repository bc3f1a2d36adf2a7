"""Client metrics, which are claims: numbers that no one can check.

Flower's default averages them with the clients' own sample counts as weights. One client that
claims 10^18 samples then decides every metric, and one that leaves a key out stops the run. Here a
metric is the median of what the clients say, and a record that does not look like the others is
left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import TypeGuard

from flwr.app import MetricRecord, RecordDict

OWN_PREFIX = "boba/"

# A record's name, and its keys in order, each with the length of its list, or -1 for a number.
_Shape = tuple[str, tuple[tuple[str, int], ...]]


def median_metrics(records: Sequence[RecordDict], weighted_by_key: str) -> MetricRecord:
    """The lower median of each number that more than half of the clients report.

    The sample count is left out, as Flower does; lists, and values that are not finite, are too.
    """
    reported: dict[str, list[int | float]] = {}
    for record in records:
        for key, value in _merged(record).items():
            if key != weighted_by_key and not key.startswith(OWN_PREFIX) and _is_finite(value):
                reported.setdefault(key, []).append(value)
    return MetricRecord(
        {
            key: float(median_low(values))
            for key, values in sorted(reported.items())
            if 2 * len(values) > len(records)
        }
    )


def consistent(
    records: Sequence[RecordDict], among: Sequence[RecordDict], weighted_by_key: str
) -> list[RecordDict]:
    """Those with one metric record of the shape that most have, all finite, the weight above 0.

    This is what a user's own function of Flower's kind may rely on. The shape is the one that more
    than half of `among` have; where there is none, half of the clients or more could choose it, and
    no record is given.
    """
    counts = Counter(_shape(record, weighted_by_key) for record in among)
    counts.pop(None, None)
    for shape, count in counts.items():
        if 2 * count > len(among):
            return [record for record in records if _shape(record, weighted_by_key) == shape]
    return []


def _merged(record: RecordDict) -> dict[str, int | float | list[int] | list[float]]:
    values: dict[str, int | float | list[int] | list[float]] = {}
    for metrics in record.metric_records.values():
        values.update(metrics)
    return values


def _is_finite(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite float64: Python's integers have no upper end."""
    try:
        return isinstance(value, (int, float)) and math.isfinite(float(value))
    except OverflowError:
        return False


def _shape(record: RecordDict, weighted_by_key: str) -> _Shape | None:
    """None where the record is of no use to anybody."""
    records = list(record.metric_records.items())
    if len(records) != 1:
        return None
    name, metrics = records[0]
    weight = metrics.get(weighted_by_key)
    if not _is_finite(weight) or weight <= 0:
        return None
    shape = []
    for key, value in metrics.items():
        values = value if isinstance(value, list) else [value]
        if not all(_is_finite(number) for number in values):
            return None
        shape.append((key, len(value) if isinstance(value, list) else -1))
    return name, tuple(sorted(shape))
