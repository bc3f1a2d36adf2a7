"""A real federation on loopback: SuperLink and ten SuperNodes as processes, TLS, node keys.

What runs is the example's README, word for word.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from federation_support import (
    Workshop,
    accuracies,
    free_ports,
    kill_machine,
    readme_blocks,
    wait_for,
)

NODES = 10
FOLDER = "fed"


class Federation(Workshop):
    """The example, deployed as its README says."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports(NODES + 1)
        super().__init__(folder, PORT=str(ports), NODE_PORT=str(ports + 1))
        self.port = ports
        self.logs = folder
        up, self.runs = readme_blocks("Deployment")
        assert up.strip() == f"./deploy.sh {FOLDER} {NODES}"
        log = folder / "deploy.log"
        self.deploy = self.start(f"exec {up}", log)

        def is_up() -> bool:
            assert self.deploy.poll() is None, log.read_text()
            return "the federation is up" in log.read_text()

        wait_for("federation is up", is_up, 150)

    def node_log(self, node: int) -> str:
        return (self.app / FOLDER / f"node-{node}.log").read_text()

    def node_id(self, node: int) -> str:
        return re.findall(r"SuperNode ID: (\d+)", self.node_log(node))[0]

    def pid(self, node: int) -> int:
        return int((self.app / FOLDER / f"node-{node}.pid").read_text())

    def audit(self, name: str, query: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.app / name) as db:
            return db.execute(query).fetchall()

    def close(self) -> None:
        """Ctrl-C must be enough."""
        self.deploy.send_signal(signal.SIGINT)
        try:
            self.deploy.wait(180)  # eleven processes say goodbye; a busy machine is slow at it
            self.settle(20)
        finally:
            left = self.end()
        assert not left, left


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    made: list[Federation] = []
    folder = tmp_path_factory.mktemp("federation")
    try:
        made.append(Federation(folder))
        yield made[0]
        made[0].close()
    finally:
        for federation in made:
            federation.end()


@pytest.fixture(scope="module")
def readme_runs(federation: Federation) -> list[float]:
    """FedAvg without attackers, FedAvg with two, boba with two."""
    output = federation.run(federation.runs, federation.logs / "runs.log", 400)
    found = accuracies(output)
    assert len(found) == 3, output[-4000:]
    return found


@pytest.mark.timeout(600)
def test_fedavg_collapses_and_boba_does_not(readme_runs: list[float]) -> None:
    clean, collapsed, robust = readme_runs
    assert clean > 0.9
    assert collapsed < 0.5
    assert robust >= clean - 0.02


@pytest.mark.timeout(600)
def test_the_audit_names_the_attackers(federation: Federation, readme_runs: list[float]) -> None:
    rejected = federation.audit(
        "rounds.db", "SELECT round, node FROM clients WHERE outcome = 'rejected'"
    )
    evil = {federation.node_id(0), federation.node_id(1)}
    rounds = {round_number for round_number, _ in rejected}
    assert rounds == {1, 2}
    for number in rounds:
        assert evil <= {node for round_number, node in rejected if round_number == number}
    assert federation.audit("rounds.db", "SELECT sum(asked), max(skipped) FROM rounds") == [
        (2 * NODES, "")
    ]


@pytest.mark.timeout(120)
def test_the_connection_is_tls_and_checked(federation: Federation) -> None:
    url = f"https://127.0.0.1:{federation.port}/health"
    trusted = ssl.create_default_context(cafile=str(federation.app / FOLDER / "ca.crt"))
    with urllib.request.urlopen(url, context=trusted, timeout=10) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(url, context=ssl.create_default_context(), timeout=10)
    with pytest.raises((urllib.error.URLError, ConnectionError, OSError)):
        urllib.request.urlopen(url.replace("https", "http"), timeout=10)


@pytest.mark.timeout(120)
def test_a_node_without_a_registered_key_stays_outside(federation: Federation) -> None:
    stranger = federation.app / "fed-stranger"
    log = federation.logs / "stranger.log"
    federation.run(f"python keys.py {stranger} --nodes 1", federation.logs / "keys.log", 60)
    port = free_ports(1)
    process = federation.start(
        f"FLWR_HOME={stranger}/home exec flower-supernode --superlink 127.0.0.1:{federation.port}"
        f" --root-certificates {FOLDER}/ca.crt --auth-supernode-private-key {stranger}/node-0"
        f" --node-config 'partition-id=0 num-partitions=1' --port {port} --max-retries 2",
        log,
    )
    try:
        status = process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"it is still there:\n{log.read_text()[-2000:]}") from None
    assert status != 0
    assert "SuperNode ID" not in log.read_text()


@pytest.mark.timeout(600)
def test_a_killed_node_and_a_reply_of_nan_stop_nothing(
    federation: Federation, readme_runs: list[float]
) -> None:
    victim = NODES - 1
    seen = federation.node_log(victim).count("Receiving: train")
    settings = (
        'rule="boba(f=3)" attackers=3 attack="minus10,minus10,nan" rounds=2 timeout=90'
        ' audit="killed.db"'
    )
    log = federation.logs / "killed.log"
    process = federation.start(
        f"export FLWR_HOME=$PWD/{FOLDER}/flwr\n"
        f"flwr run . deployment --stream --run-config '{settings}'",
        log,
    )
    wait_for(
        "the victim has its message",
        lambda: federation.node_log(victim).count("Receiving: train") > seen,
        90,
    )
    kill_machine(federation.pid(victim))
    assert process.wait(240) == 0, log.read_text()[-4000:]
    (reached,) = accuracies(log.read_text())
    assert reached >= readme_runs[0] - 0.02

    def fate(node: int) -> list[tuple[object, ...]]:
        return federation.audit(
            "killed.db",
            "SELECT round, outcome, reason FROM clients"
            f" WHERE node = '{federation.node_id(node)}' ORDER BY round",
        )

    # Flower reports a node that sends no sign of life for a minute; the timeout may come first.
    assert fate(victim)[0][1] in ("failed", "silent")
    assert [outcome for _, outcome, _ in fate(2)] == ["refused", "refused"]
    assert "NaN" in str(fate(2)[0][2])
    for attacker in (0, 1):
        assert all(outcome == "rejected" for _, outcome, _ in fate(attacker))
    assert federation.audit("killed.db", "SELECT round, skipped FROM rounds") == [(1, ""), (2, "")]
