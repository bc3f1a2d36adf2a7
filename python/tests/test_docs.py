"""The Python of README.md and docs/python.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import boba

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_examples_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    gammas = rng.normal(size=(4, 50))
    honest = rng.dirichlet([0.4] * 4, size=60) @ gammas + 0.01 * rng.normal(size=(60, 50))
    names = {
        "updates": np.vstack([honest, boba.InnerProductManipulation().forge(honest, 3)]),
        "gammas": gammas,
        "honest": honest,
        "w": np.zeros(50),
        "weights": np.zeros(50),
        "learning_rate": 0.1,
    }
    found = blocks(page)
    assert found
    for block in found:
        # "..." stands for the user's own code.
        exec(block.replace("        ...", "        return float(w @ w)"), {"boba": boba, **names})
    assert "accepted" in capsys.readouterr().out


def test_the_table_of_classes_is_complete() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for table in (boba.rules(), boba.stages(), boba.attacks()):
        for name, made in table.items():
            assert made.__name__ in page and name in page


def test_the_page_for_byzfl_names_real_options() -> None:
    page = (ROOT / "docs" / "byzfl.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if not line.startswith("| `"):
            continue
        name, arguments = re.match(r"`(\w+)\(([^)]*)\)", cells[2]).groups()  # type: ignore[union-attr]
        options = getattr(boba, name)().options
        for argument in filter(None, re.split(r",\s*", arguments)):
            assert argument.split("=")[0].strip() in options, line
