"""The supported Flower releases are stated once, and these tests run on one of them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import tomllib
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from boba.flower import SUPPORTED_FLWR

ROOT = Path(__file__).resolve().parents[3]


def test_the_installed_release_is_in_the_range() -> None:
    assert version("flwr") in SpecifierSet(SUPPORTED_FLWR)


def test_pyproject_states_the_same_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [Requirement(text) for text in project["optional-dependencies"]["flower"]]
    (flwr,) = [requirement for requirement in requirements if requirement.name == "flwr"]
    assert flwr.specifier == SpecifierSet(SUPPORTED_FLWR)


def test_the_example_does_not_fetch_what_others_call_boba() -> None:
    """On PyPI boba is somebody else's package, and so may be what is named after ours."""
    text = (ROOT / "examples" / "flower" / "pyproject.toml").read_text()
    requirements = [Requirement(line) for line in tomllib.loads(text)["project"]["dependencies"]]
    assert {requirement.name for requirement in requirements} == {"flwr", "numpy"}


@pytest.mark.parametrize(
    "path",
    [
        "docs/flower.md",
        "examples/flower/README.md",
        "examples/flower/deploy.sh",
        "python/boba/flower/versions.py",
    ],
)
def test_nobody_is_told_to_install_it_by_name(path: str) -> None:
    text = (ROOT / path).read_text().replace("Do not `pip install boba`", "")
    assert not re.search(r"""pip install ['"]?boba""", text)


def test_without_flower_the_error_says_how_to_get_it() -> None:
    """In a process that finds no flwr."""
    code = "import sys; sys.modules['flwr'] = None; import boba.flower"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert f"needs Flower {SUPPORTED_FLWR}" in done.stderr
    assert "pip install '.[flower]' in a clone of boba" in done.stderr


def test_the_documentation_states_the_same_range() -> None:
    page = (ROOT / "docs" / "flower.md").read_text()
    (stated,) = re.findall(r"Flower releases `([^`]+)`", page)
    assert SpecifierSet(stated) == SpecifierSet(SUPPORTED_FLWR)
