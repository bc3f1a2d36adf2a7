"""The strategy's tests on other releases of Flower, in an environment of their own.

CI has one release, the newest that pip finds. Others are tried on demand, since every one of them
is fetched from PyPI:

    BOBA_FLWR_RELEASES="oldest 1.28" python -m pytest python/tests/flower/test_oldest.py

"oldest" is the lower end of the supported range.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import boba
from boba.flower import SUPPORTED_FLWR

TESTS = Path(__file__).parent
RELEASES = os.environ.get("BOBA_FLWR_RELEASES", "").split()
# These need Flower's commands, which change from release to release, or mypy, or this file.
ELSEWHERE = ("test_federation.py", "test_example.py", "test_flower_typing.py", "test_oldest.py")


def oldest() -> str:
    (found,) = re.findall(r">=([\d.]+)", SUPPORTED_FLWR)
    return str(found)


def run(*command: str | Path, seconds: float) -> str:
    # Neither this environment's packages nor this tree's may stand in for what is installed there.
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        done = subprocess.run(
            command,
            env=env,
            cwd=TESTS,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"no end after {seconds} s: {late.output}") from None
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.mark.skipif(not RELEASES, reason="set BOBA_FLWR_RELEASES=oldest to fetch that release")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("release", RELEASES)
def test_the_strategy_works_with(release: str, tmp_path: Path) -> None:
    version = oldest() if release == "oldest" else release
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--system-site-packages", venv, seconds=120)
    python = venv / "bin" / "python"
    run(
        *(python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"),
        *(f"flwr=={version}.*", "numpy<2", "packaging", "pytest>=8,<10", "pytest-timeout>=2.3,<3"),
        seconds=600,
    )
    # The package as it is installed here, compiled already.
    library = sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)})
    shutil.copytree(Path(boba.__file__).parent, Path(library) / "boba")
    files = sorted(path for path in TESTS.glob("test_*.py") if path.name not in ELSEWHERE)
    output = run(
        *(python, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", "-q", "-rs"),
        *("--timeout=120", *files),
        seconds=400,
    )
    installed = run(
        python, "-c", "import flwr, boba; print(flwr.__version__, boba.__file__)", seconds=60
    )
    assert installed.startswith(f"{version}.") and str(venv) in installed
    passed = re.findall(r"(\d+) passed", output)
    assert passed and int(passed[0]) > 100, output
    print(f"flwr {installed.split()[0]}: {output.strip().splitlines()[-1]}")
