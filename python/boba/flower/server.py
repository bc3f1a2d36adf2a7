"""The server's own updates, one for each class, from a few samples that it holds.

A server update answers the question: what would a client reply that held this class only? It runs
the clients' local procedure on the server's samples of the class and returns the update, trained
minus received, as a client's is. Rate, batch size and the number of steps should be those of the
clients: a rule compares the two. A server holds fewer samples than a client, so an epoch of its own
is fewer steps; say how many with `steps`.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from flwr.app import ArrayRecord
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Arrays: TypeAlias = "Mapping[str, NDArray[Any]] | Sequence[NDArray[Any]]"
Batch: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"


class ServerUpdate(Protocol):
    """The update, trained minus received, of a client that holds one class only.

    Arrays come back by name, or as a list with all of the model's arrays in its order. An object
    that knows the number of its classes says so in an attribute `classes`, and the number of
    samples of each in `counts`; for others RobustStrategy is told.
    """

    def __call__(self, arrays: ArrayRecord, label: int, /) -> Arrays: ...


class ServerOracle(Protocol):
    """Loss of the server's data, and its gradient, at a model given by name.

    For the rules that probe: selfrej, avgrej, zeno, bygars.
    """

    def loss(self, model: Mapping[str, NDArray[Any]], /) -> float: ...

    def gradient(self, model: Mapping[str, NDArray[Any]], /) -> Arrays: ...


@dataclass(frozen=True)
class LocalTraining:
    """A server update that trains on the samples of one class; the helpers below make one."""

    train: Callable[[ArrayRecord, int], Arrays]
    counts: tuple[int, ...]

    @property
    def classes(self) -> int:
        """How many classes there are samples of."""
        return len(self.counts)

    def __call__(self, arrays: ArrayRecord, label: int, /) -> Arrays:
        return self.train(arrays, label)


@dataclass(frozen=True)
class _Plan:
    """How long and in which batches to train."""

    lr: float
    local_epochs: int
    steps: int | None
    batch_size: int | None

    def __post_init__(self) -> None:
        if not 0 < self.lr < math.inf:
            raise ValueError(f"lr={self.lr} is not a number above 0")
        for name in ("local_epochs", "steps", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}={value} is below 1")

    def batches(self, count: int) -> Iterator[slice]:
        """The batches of a class with count samples, in order."""
        size = self.batch_size or count
        epoch = [slice(begin, begin + size) for begin in range(0, count, size)]
        total = self.steps or self.local_epochs * len(epoch)
        return itertools.islice(itertools.cycle(epoch), total)


def numpy_server_update(
    gradient: Callable[[list[NDArray[Any]], NDArray[Any], NDArray[Any]], Sequence[NDArray[Any]]],
    samples: Sequence[Batch],
    *,
    lr: float,
    local_epochs: int = 1,
    steps: int | None = None,
    batch_size: int | None = None,
    proximal_mu: float = 0.0,
) -> LocalTraining:
    """Gradient descent in NumPy on the server's samples of a class.

    gradient(weights, inputs, targets) gives the gradient of the mean loss, an array for each of
    the weights; what it gives for integers and booleans is not used. samples[z] are the inputs and
    targets of class z. Batches are taken in the samples' order, again and again until local_epochs
    or, if given, steps are done; without batch_size a batch is all of them. proximal_mu is
    FedProx's, for clients that use it.
    """
    counts = _counts(samples)
    plan = _Plan(lr, local_epochs, steps, batch_size)

    def train(arrays: ArrayRecord, label: int) -> list[NDArray[Any]]:
        received = arrays.to_numpy_ndarrays()
        weights = [array.copy() for array in received]
        for batch in plan.batches(counts[label]):
            inputs, targets = samples[label]
            slopes = gradient(weights, inputs[batch], targets[batch])
            for weight, start, slope in zip(weights, received, slopes, strict=True):
                if _is_real(weight):
                    weight -= (lr * (slope + proximal_mu * (weight - start))).astype(weight.dtype)
        return [
            weight - start if _is_real(weight) else np.zeros_like(start)
            for weight, start in zip(weights, received)
        ]

    return LocalTraining(train, counts)


def torch_server_update(
    model: torch.nn.Module,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    samples: Sequence[tuple[torch.Tensor, torch.Tensor]],
    *,
    lr: float,
    local_epochs: int = 1,
    steps: int | None = None,
    batch_size: int | None = None,
    proximal_mu: float = 0.0,
    optimizer: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer] | None = None,
) -> LocalTraining:
    """Training of a PyTorch model on the server's samples of a class, on the model's device.

    loss(model(inputs), targets) is the mean loss; samples[z] are the inputs and targets of class
    z. Batches are taken as numpy_server_update takes them. Without optimizer, which is called anew
    for each class, it is SGD with rate lr. The model is copied; yours is never changed. Layers
    with randomness, such as dropout, draw from PyTorch's generator.
    """
    import torch

    counts = _counts(samples)
    plan = _Plan(lr, local_epochs, steps, batch_size)
    worker = copy.deepcopy(model)

    def train(arrays: ArrayRecord, label: int) -> dict[str, NDArray[Any]]:
        _load(worker, arrays)
        worker.train()
        parameters = [p for p in worker.parameters() if p.requires_grad]
        start = [p.detach().clone() for p in parameters]
        descent = optimizer(parameters) if optimizer else torch.optim.SGD(parameters, lr=lr)
        device = parameters[0].device
        inputs, targets = (tensor.to(device) for tensor in samples[label])
        for batch in plan.batches(counts[label]):
            descent.zero_grad()
            value = loss(worker(inputs[batch]), targets[batch])
            if proximal_mu:
                pull = sum(((p - s) ** 2).sum() for p, s in zip(parameters, start))
                value = value + proximal_mu / 2 * pull
            torch.autograd.backward(value)
            descent.step()
        return _difference(worker, arrays)

    return LocalTraining(train, counts)


def _load(model: torch.nn.Module, arrays: ArrayRecord) -> None:
    # Through DLPack, which needs no NumPy of PyTorch's own version.
    from torch.utils.dlpack import from_dlpack

    def tensor(value: NDArray[Any]) -> torch.Tensor:
        # DLPack learned booleans late; as bytes they are loaded by every release.
        return from_dlpack(value.astype(np.uint8) if value.dtype.kind == "b" else value.copy())

    model.load_state_dict({name: tensor(array.numpy()) for name, array in arrays.items()})


def _difference(model: torch.nn.Module, arrays: ArrayRecord) -> dict[str, NDArray[Any]]:
    """Of the real numbers only: no rule sees the other buffers."""
    trained = model.state_dict()
    received = {name: array.numpy() for name, array in arrays.items()}
    return {
        name: np.from_dlpack(trained[name].detach().cpu().contiguous()) - value
        for name, value in received.items()
        if _is_real(value)
    }


def _is_real(value: NDArray[Any]) -> bool:
    return value.dtype.kind == "f"


def _counts(samples: Sequence[tuple[Any, Any]]) -> tuple[int, ...]:
    if not samples:
        raise ValueError("a server update needs samples of at least one class")
    for label, (inputs, targets) in enumerate(samples):
        if len(inputs) == 0 or len(inputs) != len(targets):
            raise ValueError(
                f"class {label} has {len(inputs)} inputs and {len(targets)} targets; "
                "it needs as many of one as of the other, and at least one"
            )
    return tuple(len(inputs) for inputs, _ in samples)
