"""A user's program, for the type checker: every line of it must be understood."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from typing_extensions import assert_type

import boba

updates = np.ones((5, 4), np.float32)

result = boba.aggregate(
    updates, rule="boba(f=1)", server=np.eye(2, 4, dtype=np.float32), seed=3, threads=2
)
assert_type(result, boba.Result)
assert_type(result.rule, str)
assert_type(result.clients, boba.Clients)
assert_type(result.clients[0], boba.Client)
assert_type(result.clients[1:3], list[boba.Client])
assert_type(result.clients[0].label_mix is None, bool)
assert_type(result.clients[0].residual, float)
assert_type(result.summary(), str)
assert_type(result.warnings, list[str])
if result.weights is not None:
    assert_type(float(result.weights.sum()), float)

memory = boba.Memory(most=1000)
assert_type(memory.save(), bytes)
assert_type(boba.Memory.load(memory.save()), boba.Memory)
assert_type((len(memory), memory.rounds, memory.rule), tuple[int, int, str])
boba.aggregate(updates, boba.BobaHull(classes=2), ids="abcde", memory=memory)

krum = boba.MultiKrum(f=1)
assert_type(krum.f, int)
assert_type(boba.Median(even="lower").even, Literal["mean", "lower"])
vector: Any = krum(updates)
assert_type(krum.aggregate(updates), boba.Result)
assert_type(boba.Bucketing(s=2) | boba.Krum(f=1), boba.Rule)
assert_type(boba.Krum(f=1) | boba.ServerMix(lambda_=0.5), boba.Rule)
assert_type(boba.rule("krum(f=1)"), boba.Rule)
assert_type(boba.rules(), dict[str, type[boba.Rule]])
attack = boba.InnerProductManipulation(gamma=10)
assert_type(attack.gamma, float)
rows: Any = attack.forge(updates, byzantine=2)


class ServerLoss:
    """Serves the probing rules."""

    def loss(self, w: Any) -> float:
        """Gives the loss at w."""
        return 0.0

    def gradient(self, w: Any) -> Any:
        """Gives the gradient at w."""
        return w


oracle: boba.Oracle = ServerLoss()
boba.Zeno(f=1).aggregate(updates, model=updates[0], learning_rate=0.1, oracle=oracle)
