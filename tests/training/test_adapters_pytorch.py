"""A step of a transformer's low-rank adapters against the same step in PyTorch, in float64."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .files import arrays, build, step
from .test_adapters import ADAPTED, ALPHA, RANK, convert
from .transformer import HEADS, ROWS, SMALL, sentences, transformer

LENGTH, WIDTH = SMALL.length, SMALL.width

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


class _Transformer:
    """What tests/training/transformer.py writes; products add what their adapter says."""

    def __init__(self, weights: dict[str, Any], adapters: dict[str, Any]) -> None:
        self.weights, self.adapters = weights, adapters

    def linear(self, x: Any, name: str) -> Any:
        weight = f"{name}.weight"
        y = x @ self.weights[weight] + self.weights[f"{name}.bias"]
        a, b = (self.adapters.get(f"{weight}.lora_{letter}") for letter in "AB")
        return y if a is None else y + x @ a.T @ b.T * (ALPHA / RANK)

    def norm(self, x: Any, name: str) -> Any:
        from torch.nn.functional import layer_norm

        return layer_norm(x, [WIDTH], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def block(self, x: Any, name: str) -> Any:
        y = self.norm(x, f"{name}.norm1")
        q, k, v = (
            self.linear(y, f"{name}.{one}").reshape(ROWS, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)
            for one in "qkv"
        )
        mixed = (q @ k.transpose(2, 3)).softmax(-1) @ v
        x = x + self.linear(mixed.transpose(1, 2).reshape(ROWS, LENGTH, WIDTH), f"{name}.o")
        return x + self.linear(self.linear(self.norm(x, f"{name}.norm2"), f"{name}.up").relu(), f"{name}.down")

    def scores(self, ids: Any) -> Any:
        x = self.weights["words"][ids]
        for name in ("block0", "block1"):
            x = self.block(x, name)
        return self.linear(self.norm(x, "norm").mean(1), "head")


def test_steps_are_those_of_pytorch(tmp_path: Path) -> None:
    """The losses of five steps by SGD, and each gradient and matrix after them, within 1e-5 of the largest."""
    import torch

    weights = transformer(tmp_path / "former.onnx")
    settings = (f"lora_rank={RANK}", f"lora_alpha={ALPHA}", "lora_layers=block*", "learning_rate=0.5")
    model = build(convert(tmp_path / "former.onnx", tmp_path / "lora", *settings))
    adapters = {
        name: torch.tensor(value.astype(np.float64), requires_grad=True)
        for name, value in arrays(model.get_trainable_params()).items()
    }
    assert {name.rsplit(".lora_", 1)[0] for name in adapters} == set(ADAPTED)
    net = _Transformer({name: torch.tensor(value.astype(np.float64)) for name, value in weights.items()}, adapters)
    for number in range(5):
        ids, labels = sentences(number)
        loss, gradients, matrices = step(model, [ids, labels])
        expected = torch.nn.functional.cross_entropy(net.scores(torch.tensor(ids)), torch.tensor(labels).long())
        for matrix in adapters.values():
            matrix.grad = None
        expected.backward()
        assert loss == pytest.approx(expected.item(), rel=1e-5)
        for name, matrix in adapters.items():
            assert np.abs(gradients[name] - matrix.grad.numpy()).max() <= 1e-5 * max(matrix.grad.abs().max(), 1e-3)
            with torch.no_grad():
                matrix -= 0.5 * matrix.grad
            assert np.abs(matrices[name] - matrix.detach().numpy()).max() <= 1e-5 * matrix.abs().max()
