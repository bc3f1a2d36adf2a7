"""The example app: its clients, and its README in Flower's simulation."""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from federation_support import (
    EXAMPLE,
    Workshop,
    accuracies,
    free_ports,
    readme_blocks,
)


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    # Ray's sockets need a short path.
    ray = tempfile.mkdtemp(prefix="boba-ray-", dir="/tmp")
    made = Workshop(tmp_path, RAY_TMPDIR=ray, FLWR_LOCAL_SUPERLINK_HTTP_API_PORT=str(free_ports(1)))
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(ray, ignore_errors=True)


@pytest.fixture
def robustfl(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield importlib.import_module("robustfl.client_app")
    for name in [name for name in sys.modules if name.split(".")[0] == "robustfl"]:
        del sys.modules[name]


@pytest.mark.timeout(300)
def test_the_readme_runs_in_simulation(workshop: Workshop, tmp_path: Path) -> None:
    (commands,) = readme_blocks("Simulation")
    collapsed, robust = accuracies(workshop.run(commands, tmp_path / "runs.log", 240))
    assert collapsed < 0.5
    assert robust > 0.95


@pytest.mark.timeout(60)
def test_the_app_has_its_own_files_only(workshop: Workshop, tmp_path: Path) -> None:
    """Keys and homes of a federation in the folder must not travel to the clients."""
    workshop.run(
        "python keys.py fed --nodes 1\nmkdir -p fed/home-0/apps\n"
        "cp robustfl/task.py fed/home-0/apps/\nflwr build",
        tmp_path / "build.log",
        50,
    )
    (fab,) = workshop.app.glob("*.fab")
    with zipfile.ZipFile(fab) as archive:
        names = {name for name in archive.namelist() if not name.startswith(".info")}
    assert names == {"pyproject.toml"} | {
        f"robustfl/{name}.py" for name in ("__init__", "client_app", "server_app", "task")
    }


def test_private_keys_are_private(workshop: Workshop, tmp_path: Path) -> None:
    workshop.run("python keys.py fed --nodes 2", tmp_path / "keys.log", 30)
    for name in ("server.key", "node-0", "node-1"):
        assert (workshop.app / "fed" / name).stat().st_mode & 0o777 == 0o600
    again = workshop.start("python keys.py fed --nodes 2", tmp_path / "again.log")
    assert again.wait(30) != 0
    assert "is there already" in (tmp_path / "again.log").read_text()


def test_the_attacks(robustfl: ModuleType) -> None:
    received = [np.array([1.0, 2.0], np.float32)]
    trained = [np.array([1.5, 1.0], np.float32)]
    (sent,) = robustfl.attack("minus10", received, trained)
    assert sent.tolist() == [-4.0, 12.0]
    (sent,) = robustfl.attack("nan", received, trained)
    assert np.isnan(sent).all()
    with pytest.raises(ValueError, match="minus10, nan"):
        robustfl.attack("steal", received, trained)


def test_the_data_are_skewed_and_always_the_same(robustfl: ModuleType) -> None:
    task = sys.modules["robustfl.task"]
    for partition in range(10):
        inputs, labels = task.client_data(partition)
        again, _ = task.client_data(partition)
        assert inputs.tobytes() == again.tobytes()
        assert (labels == partition % task.CLASSES).mean() > 0.8
    assert len({task.client_data(p)[0].tobytes() for p in range(10)}) == 10
