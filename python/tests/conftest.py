"""What all tests share: a time limit, and rows to work with."""

from __future__ import annotations

import numpy as np
import pytest

# The slowest test takes seconds; a hung one must not hold the machine.
SECONDS = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.iter_markers("timeout")):
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(params=["float32", "float64"])
def rows(request: pytest.FixtureRequest) -> np.ndarray:
    """Eleven clients of 257 numbers, no two distances equal."""
    return np.random.default_rng(7).normal(size=(11, 257)).astype(request.param)
