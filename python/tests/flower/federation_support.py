"""Processes of a real federation: started with a mark, found by it, and ended by it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "flower"
_MARK = "BOBA_TEST_FEDERATION"


def readme_blocks(section: str) -> list[str]:
    """The shell commands of a section of the example's README, as they stand there."""
    text = (EXAMPLE / "README.md").read_text()
    (body,) = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^```sh\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)


def accuracies(output: str) -> list[float]:
    """What each run ended with."""
    return [float(number) for number in re.findall(r"^final accuracy ([\d.]+)$", output, re.M)]


def wait_for(what: str, happened: Callable[[], bool], seconds: float) -> None:
    """Until it happened; fails with what was waited for."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.1)


def free_ports(count: int) -> int:
    """The first of count adjacent ports that nobody has, below those that the system hands out."""
    start = 20000 + os.getpid() % 4000
    for first in range(start, start + 6000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")


def _default_signals() -> None:
    """Ctrl-C ends a command even if the tests run where it is ignored: in a script's background."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Workshop:
    """A copy of the example, an environment for its commands, and all processes made there."""

    def __init__(self, folder: Path, **extra: str) -> None:
        self.app = folder / "app"
        shutil.copytree(EXAMPLE, self.app, ignore=shutil.ignore_patterns("fed*", "__pycache__"))
        self.mark = uuid.uuid4().hex
        tools = Path(sys.executable).parent
        self.env = os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "FLWR_HOME": str(folder / "flwr"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
            "RAY_USAGE_STATS_ENABLED": "0",
            # One thread for each process: there are more processes than processors.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            _MARK: self.mark,
            **extra,
        }

    def start(self, commands: str, log: Path) -> subprocess.Popen[bytes]:
        """Runs commands in the background, their output in a file."""
        with log.open("wb") as output:
            return subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=self.app,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_default_signals,
            )

    def run(self, commands: str, log: Path, seconds: float) -> str:
        """Runs commands to their end and gives their output."""
        process = self.start(commands, log)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end after {seconds} s:\n{log.read_text()[-4000:]}") from None
        output = log.read_text()
        assert status == 0, output[-4000:]
        return output

    def alive(self) -> list[int]:
        """Processes with the mark; those that ended and wait for their parent do not count."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                marked = f"{_MARK}={self.mark}".encode() in (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marked and state not in "ZX":
                found.append(int(entry.name))
        return found

    def settle(self, seconds: float) -> None:
        """Gives processes that are about to end the time for it."""
        end = time.monotonic() + seconds
        while self.alive() and time.monotonic() < end:
            time.sleep(0.1)

    def end(self) -> list[str]:
        """Ends whatever is still there, and says what that was."""
        left = [_command(pid) for pid in self.alive()]
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.alive():
                _kill(pid, number)
            self.settle(5)
        assert not self.alive(), "processes that cannot be ended"
        return left


def kill_machine(pid: int) -> None:
    """Kills a process and its descendants at once, as a power cut does."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    for member in family:
        _kill(member, signal.SIGKILL)


def _kill(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return f"{pid}: " + b" ".join(words).decode(errors="replace")[:200]
    return f"{pid}: gone"
