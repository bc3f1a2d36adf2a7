"""Stubs: current, true to the running classes, and understood by a strict type checker."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import boba
from boba import _core

ROOT = Path(__file__).parents[2]
PACKAGE = Path(boba.__file__).parent


def mypy(*arguments: str, module: str = "mypy") -> subprocess.CompletedProcess[str]:
    # Not in the tree: its folder boba/ of C++ sources would be taken for the package.
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(sys.executable).parent,
        env={**os.environ, "MYPY_CACHE_DIR": str(ROOT / "build" / "mypy-cache")},
    )


def test_the_stubs_are_what_the_tables_give() -> None:
    spec = importlib.util.spec_from_file_location(
        "python_stubs", ROOT / "scripts" / "python_stubs.py"
    )
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, stub in script.stubs().items():
        there = (ROOT / "python" / "boba" / name).read_text(encoding="utf-8")
        assert there == stub, "run build/python-venv/bin/python scripts/python_stubs.py --write"


def test_the_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_classes.pyi").exists()


@pytest.mark.timeout(320)
def test_a_users_program_passes_strict_checks() -> None:
    done = mypy("--strict", str(Path(__file__).parent / "sample_program.py"))
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(320)
def test_mistakes_of_a_user_are_found(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(
        "import boba\n"
        "boba.MultiKrum(g=1)\n"
        "boba.Median(even='upper')\n"
        "boba.Krum(f='two')\n"
        "boba.aggregate([], rule=3)\n"
        "boba.Krum(f=1).f = 2\n"
    )
    done = mypy("--strict", str(program))
    assert {int(line.split(":")[1]) for line in done.stdout.splitlines() if " error: " in line} == {
        2,
        3,
        4,
        5,
        6,
    }


@pytest.mark.timeout(320)
def test_stubs_and_classes_agree() -> None:
    done = mypy("boba._classes", module="mypy.stubtest")
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(320)
def test_the_package_passes_strict_checks() -> None:
    modules = [f"boba.{path.stem}" for path in PACKAGE.glob("_*.py") if path.stem != "__init__"]
    done = mypy("--strict", *(word for module in ["boba", *modules] for word in ("-m", module)))
    assert done.returncode == 0, done.stdout


def test_the_stub_of_the_module_names_what_it_has() -> None:
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())

    def names(body: list[ast.stmt]) -> set[str]:
        return {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}

    there = {name for name in vars(_core) if not name.startswith("__")}
    there -= {"version", "most_clients"}
    assert names(tree.body) - {"Option", "Entry", "Field"} == there
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in (
            "Rows",
            "Verdict",
            "Memory",
            "Aggregator",
            "OpenRound",
            "Upload",
        ):
            running = {name for name in vars(getattr(_core, node.name)) if not name.startswith("_")}
            assert {name for name in names(node.body) if not name.startswith("_")} == running


def test_the_sample_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "sample_program.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
