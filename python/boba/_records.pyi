# Written by scripts/python_stubs.py from the core's tables.
from dataclasses import dataclass
from typing import Any

import numpy as np

from boba import _core

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
FIELDS: dict[str, list[_core.Field]]
REPORTS: dict[str, type[Any]]

class Measured:
    def __getattr__(self, name: str) -> float: ...

@dataclass(frozen=True, slots=True, kw_only=True)
class Client(Measured):
    index: int
    """row of the client"""
    weight: float | None
    """share of the client's row in the aggregate; null for coordinate rules"""
    accepted: bool
    """true if the rule trusts the client"""
    refused: bool
    """true if the update was unusable; it then had no influence"""
    reason: str
    """reason of the decision, in words"""
    id: str | None
    """who sent the update"""
    bucket: int | None
    """the mixed row that contains the client, after a stage that mixes rows"""
    copy_of: int | None
    """the first client that sent the same update, or nearly the same"""
    in_fit: bool | None
    """boba: whether the client took part in fitting the subspace"""
    label_mix: FloatArray | None
    """boba: estimated share of each class; shares add up to 1, and noise or an attack makes
    some negative"""
    measures: dict[str, float]
    """numbers of the rule about the client, by name"""

@dataclass(frozen=True, slots=True, kw_only=True)
class Subspace:
    dimension: int
    """requested directions: number of classes minus 1"""
    rank: int
    """directions found; the others were below rounding error"""
    fits: int
    """number of fits of the subspace"""
    converged: bool
    """whether the fitted set had settled"""
    trimmed_loss: FloatArray
    """sum of squared residuals of the fitted set, per iteration; never rises"""
    singular_values: FloatArray
    """singular values of the fitted set about its mean, in falling order"""
    explained_variance: FloatArray
    """share of the fitted set's variance along each direction"""
    residual_level: float
    """root mean square residual of the fitted set"""
    noise_singular_value: float
    """the largest singular value of the directions left out"""
    sigma_bound: float
    """upper bound of the sigma of the paper's Assumption 5.3"""
    condition: float
    """growth of rounding in the products; null if infinite"""
    guarantee_possible: bool
    """false if something in this round rules out the guarantee"""
    statements: list[str]
    """the reasons, one sentence each"""

class Verdict:
    _verdict: _core.Verdict
    def __init__(self, verdict: _core.Verdict) -> None: ...
    @property
    def rule(self) -> str:
        """the rule in its canonical spelling: stages and the options that differ from their
        defaults"""
    @property
    def n(self) -> int:
        """number of updates"""
    @property
    def d(self) -> int:
        """their length"""
    @property
    def classes(self) -> int:
        """number of server gradients; 0 if there are none"""
    @property
    def refused(self) -> int:
        """number of unusable updates"""
    @property
    def weights(self) -> FloatArray | None:
        """n numbers: the share of each client's row in the aggregate; null for coordinate
        rules"""
    @property
    def server_weights(self) -> FloatArray:
        """the share of each server row in the aggregate; may be empty"""
    @property
    def absent(self) -> list[str]:
        """clients of an open round that did not come in time"""
    @property
    def sketch(self) -> int | None:
        """the length of the sketches that were compared; absent with exact products"""
    @property
    def accepted(self) -> BoolArray:
        """n booleans"""
    @property
    def measures(self) -> dict[str, float]:
        """numbers of the rule about the round, by name"""
    @property
    def warnings(self) -> list[str]:
        """sentences about guarantees that this round misses"""
    @property
    def notes(self) -> list[str]:
        """other sentences worth knowing"""
    @property
    def subspace(self) -> Subspace | None: ...
