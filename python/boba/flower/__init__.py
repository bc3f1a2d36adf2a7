"""Robust aggregation for Flower federations.

    from boba.flower import RobustStrategy

    strategy = RobustStrategy(rule="boba(f=2)", server_update=update)

RobustStrategy takes every argument of Flower's FedAvg and stands where it stood. docs/flower.md
takes a Flower user through it.
"""

# First: where Flower is missing or too old, it says what to do.
from boba.flower.versions import SUPPORTED_FLWR

# isort: split
from boba.flower.server import (
    LocalTraining,
    ServerOracle,
    ServerUpdate,
    numpy_server_update,
    torch_server_update,
)
from boba.flower.strategy import RobustStrategy

__all__ = [
    "SUPPORTED_FLWR",
    "LocalTraining",
    "RobustStrategy",
    "ServerOracle",
    "ServerUpdate",
    "numpy_server_update",
    "torch_server_update",
]
