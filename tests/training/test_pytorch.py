"""Steps of MindSpore's training files against the same steps in PyTorch, in float64."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .files import LENET, ONE_LAYER, Array, arrays, assert_close, batch, build, needs_models, step

pytestmark = [
    needs_models,
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

Weights = dict[str, Any]


def _convolved(x: Any, weight: Any, padding: int) -> Any:
    """Of NCHW; MindSpore's weights are [out, height, width, in]."""
    from torch.nn.functional import conv2d

    return conv2d(x, weight.permute(0, 3, 1, 2), padding=padding)


def _one_layer(weights: Weights, x: Any, labels: Any) -> Any:
    logits = _convolved((x + weights["bias"]).permute(0, 3, 1, 2), weights["layer.weight"], padding=1).flatten(1)
    return -(labels * logits.log_softmax(dim=1)).sum(dim=1).mean()


def _lenet(weights: Weights, x: Any, labels: Any) -> Any:
    from torch.nn.functional import max_pool2d

    x = x.permute(0, 3, 1, 2)
    for name in ("conv1.weight", "conv2.weight"):
        x = max_pool2d(_convolved(x, weights[name], padding=0).relu(), 2)
    x = x.flatten(1)
    for name in ("fc1", "fc2", "fc3"):
        x = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        if name != "fc3":
            x = x.relu()
    return (x - labels).abs().mean()


class _Momentum:
    def __init__(self) -> None:
        self.rate, self.momentum = 0.1, 0.9
        self.sums: dict[str, Array] = {}

    def updated(self, name: str, weight: Array, gradient: Array) -> Array:
        self.sums[name] = self.momentum * self.sums.get(name, 0) + gradient
        return weight - self.rate * self.sums[name]


class _Adam:
    """MindSpore's: epsilon is added to the root of the second moment before its bias is corrected. The powers of this file
    stay what they are at the first step; its numbers are what float32 makes of them."""

    def __init__(self) -> None:
        self.rate, *self.betas, self.epsilon = (float(np.float32(number)) for number in (0.001, 0.9, 0.999, 0.01))
        self.first: dict[str, Array] = {}
        self.second: dict[str, Array] = {}

    def updated(self, name: str, weight: Array, gradient: Array) -> Array:
        b1, b2 = self.betas
        self.first[name] = b1 * self.first.get(name, 0) + (1 - b1) * gradient
        self.second[name] = b2 * self.second.get(name, 0) + (1 - b2) * gradient**2
        rate = self.rate * np.sqrt(1 - b2) / (1 - b1)
        return weight - rate * self.first[name] / (np.sqrt(self.second[name]) + self.epsilon)


@pytest.mark.parametrize(
    ("path", "loss_of", "optimizer"),
    [(ONE_LAYER, _one_layer, _Momentum()), (LENET, _lenet, _Adam())],
    ids=["one layer, Momentum", "LeNet, Adam"],
)
def test_steps(path: Path, loss_of: Callable[[Weights, Any, Any], Any], optimizer: _Momentum | _Adam) -> None:
    """Three steps: each loss, each gradient and each new weight."""
    import torch

    model = build(path)
    weights = arrays(model.get_trainable_params())
    for seed in range(3):
        inputs = batch(model, seed)
        tensors = {
            name: torch.tensor(weight, dtype=torch.float64, requires_grad=True) for name, weight in weights.items()
        }
        expected = loss_of(tensors, *(torch.tensor(values, dtype=torch.float64) for values in inputs))
        expected.backward()
        loss, gradients, updated = step(model, inputs)
        assert abs(loss - expected.item()) <= 1e-6 * abs(expected.item())
        assert gradients.keys() == weights.keys()
        for name, tensor in tensors.items():
            assert_close(gradients[name], tensor.grad.numpy())
            assert_close(updated[name], optimizer.updated(name, weights[name].astype(np.float64), tensor.grad.numpy()))
        weights = updated
