"""Every test here is a server inside of a run."""

import sys
from pathlib import Path

import pytest

# pytest imports tests without their folder; the helpers beside them are imported by name.
sys.path.insert(0, str(Path(__file__).parent))

from flower_fakes import be_a_server


@pytest.fixture(autouse=True)
def _inside_a_run() -> None:
    be_a_server()
