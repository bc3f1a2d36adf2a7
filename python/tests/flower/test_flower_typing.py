"""boba.flower under mypy's strict rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.timeout(320)
def test_the_package_passes_strict_checks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-p", "boba.flower"],
        cwd=ROOT,
        env={**os.environ, "MYPY_CACHE_DIR": str(ROOT / "build" / "mypy-cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
