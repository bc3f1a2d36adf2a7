"""The memory of a rule that remembers: kept by the strategy, saved with the model."""

from __future__ import annotations

import numpy as np
import pytest
from flower_fakes import FIRST_NODE, content, play
from flwr.app import RecordDict

import boba
from boba.flower import RobustStrategy

NODES = 8
MODEL = {"w": np.zeros((2, 3), dtype=np.float32)}


def update_of_class(_: object, label: int) -> dict[str, np.ndarray]:
    step = np.zeros_like(MODEL["w"])
    step[label] = 4
    return {"w": step}


def strategy_with(memory: boba.Memory | None = None) -> RobustStrategy:
    return RobustStrategy(
        rule="boba-hull(f=2)", server_update=update_of_class, classes=2, memory=memory
    )


def replies(number: int) -> list[RecordDict]:
    """Mixes of two classes; node 0 sends the opposite, node 1 cannot be read in round 2."""
    rng = np.random.default_rng(number)
    steps = []
    for node in range(NODES):
        share = node / (NODES - 1)
        mix = share * update_of_class(None, 0)["w"] + (1 - share) * update_of_class(None, 1)["w"]
        steps.append(mix + 0.01 * rng.normal(size=mix.shape).astype(np.float32))
    steps[0] = -10 * steps[0]
    if number == 2:
        steps[1] = np.full_like(steps[1], np.nan)
    return [content({"w": MODEL["w"] + step}) for step in steps]


def saved(strategy: RobustStrategy) -> bytes:
    assert strategy.memory is not None
    return strategy.memory.save()


def test_it_is_kept_from_round_to_round() -> None:
    strategy = strategy_with()
    memory = strategy.memory
    assert memory is not None and len(memory) == 0
    for number in range(1, 4):
        _, metrics = play(strategy, MODEL, replies(number), number)
        assert FIRST_NODE in metrics["boba/rejected-nodes"]
    assert strategy.memory is memory
    assert (memory.rounds, len(memory), memory.rule) == (3, NODES, "boba-hull(f=2)")
    # The notes of a rule without a memory say what was not tested.
    assert not any("no memory" in note for report in strategy.reports for note in report.notes)
    for node in range(NODES):
        assert str(FIRST_NODE + node).encode() in saved(strategy)


def test_a_skipped_round_is_not_remembered() -> None:
    strategy = strategy_with()
    play(strategy, MODEL, replies(1), 1)
    before = saved(strategy)
    _, metrics = play(strategy, MODEL, [*replies(2)[:4], *[None] * 4], 2)
    assert metrics["boba/skipped"] == 1 and saved(strategy) == before


def test_silent_nodes_keep_their_state() -> None:
    strategy = strategy_with()
    play(strategy, MODEL, replies(1), 1)
    play(strategy, MODEL, [*replies(3)[:-1], None], 2)
    assert strategy.memory is not None
    assert (strategy.memory.rounds, len(strategy.memory)) == (2, NODES)


def test_a_run_goes_on_from_a_saved_memory() -> None:
    whole = strategy_with()
    for number in range(1, 4):
        play(whole, MODEL, replies(number), number)
    resumed = strategy_with(boba.Memory.load(saved(whole)))
    assert saved(resumed) == saved(whole)
    for number in range(4, 8):
        a, _ = play(whole, MODEL, replies(number), number)
        b, _ = play(resumed, MODEL, replies(number), number)
        assert a["w"].tobytes() == b["w"].tobytes()
    assert saved(resumed) == saved(whole)
    fresh = strategy_with()
    play(fresh, MODEL, replies(7), 7)
    assert saved(fresh) != saved(whole)


def test_rules_without_one_have_none() -> None:
    assert RobustStrategy(rule="mkrum(f=2)").memory is None
    bucketed = RobustStrategy(
        rule="bucketing(s=2) | boba-hull(f=2)", server_update=update_of_class, classes=2
    )
    assert bucketed.memory is None
    empty = boba.Memory()
    strategy = RobustStrategy(memory=empty)
    play(strategy, MODEL, replies(1))
    assert strategy.memory is empty and empty.rounds == 0


def test_a_memory_that_does_not_fit_fails_at_construction() -> None:
    strategy = strategy_with()
    play(strategy, MODEL, replies(1))
    for rule in ("mkrum(f=2)", "boba-hull(f=1)"):
        with pytest.raises(ValueError, match=r"belongs to the rule boba-hull\(f=2\), not to"):
            RobustStrategy(
                rule=rule, server_update=update_of_class, classes=2, memory=strategy.memory
            )
    with pytest.raises(TypeError, match=r"^memory is bytes; it is a boba\.Memory"):
        strategy_with(saved(strategy))  # type: ignore[arg-type]
