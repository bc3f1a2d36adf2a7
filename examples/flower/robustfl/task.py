"""Data, model and local training: softmax regression on four classes of points.

Everything is made up from fixed seeds, so there is nothing to download and every run of a node is
the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CLASSES = 4
FEATURES = 20
SAMPLES = 200
TEST_SAMPLES = 2000
BATCH = 20

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]
Weights = list[Floats]

# The first numbers of the seeds, so that no two kinds of data share one.
_CENTRES, _CLIENT, _TEST, _SERVER, _BATCHES = range(5)


def initial_weights() -> Weights:
    """The model before training: all zero, every class as likely as another."""
    return [np.zeros((FEATURES, CLASSES), np.float32), np.zeros(CLASSES, np.float32)]


def client_data(partition: int) -> tuple[Floats, Labels]:
    """What one client holds: nine tenths of one class, one tenth of the next."""
    rng = np.random.default_rng([_CLIENT, partition])
    main = partition % CLASSES
    labels = np.where(rng.random(SAMPLES) < 0.9, main, (main + 1) % CLASSES)
    return _points(rng, labels), labels


def test_data() -> tuple[Floats, Labels]:
    """All classes alike; nobody trains on it."""
    rng = np.random.default_rng([_TEST])
    labels = rng.integers(CLASSES, size=TEST_SAMPLES)
    return _points(rng, labels), labels


def server_data(count: int) -> list[tuple[Floats, Labels]]:
    """A few samples of each class, which the server holds itself."""
    rng = np.random.default_rng([_SERVER])
    classes = (np.full(count, label) for label in range(CLASSES))
    return [(_points(rng, labels), labels) for labels in classes]


def accuracy(weights: Weights, inputs: Floats, labels: Labels) -> float:
    """The share of points that the model gets right."""
    return float((_scores(weights, inputs).argmax(axis=1) == labels).mean())


def gradient(weights: Weights, inputs: Floats, labels: Labels) -> Weights:
    """Of the mean cross-entropy."""
    scores = _scores(weights, inputs)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(labels)), labels] -= 1
    shares /= len(labels)
    return [inputs.T @ shares, shares.sum(axis=0)]


def train(
    partition: int, received: Weights, lr: float, steps: int, mu: float, turn: int
) -> Weights:
    """Local training: gradient descent on batches, FedProx's pull to the start if mu is not 0."""
    inputs, labels = client_data(partition)
    rng = np.random.default_rng([_BATCHES, partition, turn])
    weights = [array.copy() for array in received]
    for _ in range(steps):
        batch = rng.integers(len(labels), size=BATCH)
        slopes = gradient(weights, inputs[batch], labels[batch])
        for weight, slope, start in zip(weights, slopes, received):
            weight -= np.float32(lr) * (slope + np.float32(mu) * (weight - start))
    return weights


def _points(rng: np.random.Generator, labels: Labels) -> Floats:
    centres = np.random.default_rng([_CENTRES]).normal(size=(CLASSES, FEATURES))
    points = centres[labels] + 1.2 * rng.normal(size=(len(labels), FEATURES))
    return points.astype(np.float32)


def _scores(weights: Weights, inputs: Floats) -> Floats:
    matrix, bias = weights
    return inputs @ matrix + bias
