"""Memories of earlier rounds: kept, saved, pickled, shared, refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import boba

RULE = boba.BobaHull(f=2)
SERVER = np.random.default_rng(5).normal(size=(3, 40))
IDS = [f"client-{i}" for i in range(12)]


def updates(seed: int) -> np.ndarray:
    """Ten clients near their label mixes; the last two are always far from every mix."""
    mixes = np.random.default_rng(6).dirichlet([0.5] * 3, size=12)
    rows = mixes @ SERVER + 0.05 * np.random.default_rng(seed).normal(size=(12, 40))
    rows[10:] *= -8
    return rows


def remember(memory: boba.Memory, rounds: range, rule: boba.Rule = RULE) -> boba.Result:
    for seed in rounds:
        result = rule.aggregate(updates(seed), server=SERVER, ids=IDS, memory=memory)
    return result


def test_it_changes_what_the_rule_knows() -> None:
    alone = RULE.aggregate(updates(0), server=SERVER, ids=IDS)
    assert any("no memory of earlier rounds" in note for note in alone.notes)
    assert "suspicion" not in alone.clients[0].measures
    memory = boba.Memory()
    assert (len(memory), memory.rounds, memory.rule, memory.most) == (0, 0, "", 100_000)
    assert repr(memory) == "<boba.Memory: 0 clients, 0 rounds>"
    first = remember(memory, range(1))
    assert first.clients[11].suspicion == pytest.approx(0.02) and first.clients[0].suspicion == 0
    result = remember(memory, range(1, 6))
    assert result.clients[11].suspicion == pytest.approx(1 - 0.98**6)
    assert "mix_change" in result.clients[0].measures
    assert (len(memory), memory.rounds, memory.rule) == (12, 6, "boba-hull(f=2)")
    assert repr(memory) == "<boba.Memory: 12 clients, 6 rounds of boba-hull(f=2)>"


@pytest.mark.parametrize(
    "call",
    [
        lambda rows, **given: boba.aggregate(rows, "boba-hull(f=2)", **given).vector,
        lambda rows, **given: boba.aggregate(rows, RULE, **given).vector,
        lambda rows, **given: boba.rule(" boba-hull( f=2 )")(rows, **given),
        lambda rows, **given: RULE(rows, **given),
    ],
)
def test_every_way_to_aggregate_takes_one(call: Callable[..., np.ndarray]) -> None:
    expected, memory = boba.Memory(), boba.Memory()
    for seed in range(3):
        result = RULE.aggregate(updates(seed), server=SERVER, ids=IDS, memory=expected)
        vector = call(updates(seed), server=SERVER, ids=IDS, memory=memory)
        np.testing.assert_array_equal(vector, result.vector)
    assert memory.save() == expected.save()


def test_an_open_round_adds_itself_once() -> None:
    memory = boba.Memory()
    remember(memory, range(2))
    opened = boba.OpenRound(RULE, updates(0)[0], cohort=IDS, server=SERVER)
    for name, row in reversed(list(zip(IDS, updates(2), strict=True))):
        opened.submit(name, row)
    first = opened.close(memory=memory)
    assert first.clients[11].suspicion == pytest.approx(1 - 0.98**3)
    saved = memory.save()
    for again in (memory, boba.Memory(), None):
        result = opened.close(memory=again)
        np.testing.assert_array_equal(result.vector, first.vector)
        assert result.clients[11].suspicion == first.clients[11].suspicion
    assert memory.rounds == 3 and memory.save() == saved


COPIES: list[Callable[[boba.Memory], boba.Memory]] = [
    lambda memory: boba.Memory.load(memory.save()),
    lambda memory: boba.Memory.load(bytearray(memory.save())),
    lambda memory: boba.Memory.load(memoryview(memory.save())),
    copy.copy,
    copy.deepcopy,
    *(
        lambda memory, protocol=protocol: pickle.loads(pickle.dumps(memory, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_goes_on_as_the_original(copied: Callable[[boba.Memory], boba.Memory]) -> None:
    memory = boba.Memory(most=11)
    remember(memory, range(6))
    other = copied(memory)
    assert type(other) is boba.Memory and other is not memory
    assert (repr(other), other.most) == (repr(memory), 11)
    assert other.save() == memory.save()
    a, b = remember(memory, range(6, 8)), remember(other, range(6, 8))
    np.testing.assert_array_equal(a.vector, b.vector)
    assert other.save() == memory.save() and memory.rounds == 8


def test_clients_are_known_by_their_ids() -> None:
    memory = boba.Memory()
    remember(memory, range(5))
    order = np.random.default_rng(1).permutation(12)
    result = RULE.aggregate(
        updates(5)[order], server=SERVER, ids=[IDS[i] for i in order], memory=memory
    )
    suspicious = {client.id for client in result.clients if client.suspicion > 0}
    assert suspicious == {"client-10", "client-11"}
    strangers = RULE.aggregate(updates(5), server=SERVER, ids=range(12), memory=memory)
    assert strangers.clients[11].suspicion == pytest.approx(0.02)
    assert len(memory) == 24
    nobody = RULE.aggregate(updates(5), server=SERVER, memory=memory)
    assert "the updates have no ids, so the memory remembers no client" in nobody.notes
    assert (len(memory), memory.rounds) == (24, 8)


def test_it_keeps_at_most_so_many_clients() -> None:
    memory = boba.Memory(most=12)
    remember(memory, range(3))
    for number in range(4):
        RULE.aggregate(
            np.vstack([updates(3)[:10], updates(4)[:5]]),
            server=SERVER,
            ids=[*IDS[:10], *(f"new-{number}-{i}" for i in range(5))],
            memory=memory,
        )
        assert len(memory) == 12
    saved = memory.save()
    assert all(name.encode() in saved for name in IDS[:10]) and b"client-11" not in saved


def test_a_round_that_fails_is_not_added() -> None:
    memory = boba.Memory()
    remember(memory, range(2))
    saved = memory.save()
    for rows, server, error in [
        (updates(2) * np.nan, SERVER, boba.RefusedError),
        (updates(2), SERVER[:, :5], ValueError),
        (updates(2), SERVER[[0, 0, 0]], ValueError),
        (updates(2), SERVER[:2], ValueError),
    ]:
        with pytest.raises(error):
            RULE.aggregate(rows, server=server, ids=IDS, memory=memory)
        assert memory.save() == saved


def test_a_refused_update_fails_the_round() -> None:
    memory = boba.Memory()
    bad = updates(0)
    bad[3, 7] = np.nan
    result = RULE.aggregate(bad, server=SERVER, ids=IDS, memory=memory)
    assert result.clients[3].refused and len(memory) == 12
    assert remember(memory, range(1)).clients[3].suspicion == pytest.approx(0.02 * 0.98)


def test_it_belongs_to_one_rule() -> None:
    memory = boba.Memory()
    remember(memory, range(1))
    with pytest.raises(ValueError, match=r"belongs to the rule boba-hull\(f=2\), not to boba-hull"):
        boba.BobaHull(f=1)(updates(1), server=SERVER, ids=IDS, memory=memory)
    with pytest.raises(ValueError, match="the number of classes has changed"):
        RULE(updates(1), server=SERVER[:2], ids=IDS, memory=memory)
    # Rules without a memory leave it alone.
    boba.Krum(f=2)(updates(1), ids=IDS, memory=memory)
    assert memory.rounds == 1


def test_rules_say_whether_they_use_one() -> None:
    assert RULE.uses_memory and (RULE | boba.ServerMix()).uses_memory
    assert not boba.Krum(f=1).uses_memory
    assert not (boba.Bucketing(s=2) | RULE).uses_memory  # a bucket is no client


def test_threads_take_turns() -> None:
    memory = boba.Memory()

    def work(thread: int) -> None:
        for seed in range(10):
            ids = [f"{thread}-{i}" for i in range(12)]
            RULE(updates(seed), server=SERVER, ids=ids, memory=memory, threads=1)
            assert len(memory) >= 12 and memory.rounds > seed
            boba.Memory.load(memory.save())

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert (memory.rounds, len(memory)) == (60, 72)


def test_bytes_that_cannot_be_loaded() -> None:
    memory = boba.Memory()
    remember(memory, range(2))
    saved = memory.save()
    for at in range(0, len(saved), 37):
        wrong = bytearray(saved)
        wrong[at] ^= 1
        for damaged in (bytes(wrong), saved[:at], saved + saved[:at] + b"x"):
            with pytest.raises(ValueError, match=r"^memory: "):
                boba.Memory.load(damaged)
    later = bytearray(saved)
    later[len("boba memory\n")] = 9
    with pytest.raises(ValueError, match="version 9; this boba reads version 1"):
        boba.Memory.load(later)
    for value in ("text", None, 5, [1, 2]):
        with pytest.raises(TypeError, match=r"^saved is \w+; it is the bytes that save\(\) gave"):
            boba.Memory.load(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("most", "error", "sentence"),
    [
        (0, ValueError, "^most=0 is below 1"),
        (-1, ValueError, r"^most=-1 is outside \[0, "),
        (2**64, ValueError, "^most=18446744073709551616 is outside"),
        (1.5, TypeError, "^most is float; it is a whole number"),
        ("many", TypeError, "^most is str; it is a whole number"),
    ],
)
def test_sizes_that_are_refused(most: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        boba.Memory(most)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [b"bytes", {}, True, boba.Memory])
def test_arguments_that_are_not_memories(value: object) -> None:
    sentence = rf"^memory is {type(value).__name__}; it is a boba.Memory"
    for call in (
        lambda: RULE(updates(0), server=SERVER, ids=IDS, memory=value),  # type: ignore[arg-type]
        lambda: boba.aggregate(updates(0), "average", memory=value),  # type: ignore[arg-type]
        lambda: boba.OpenRound("average", updates(0)[0], most=1).close(memory=value),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=sentence):
            call()
