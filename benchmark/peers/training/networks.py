"""Defines the networks of the training benchmark in PyTorch, with random weights of a fixed seed.

`python -m mslite.benchmark.peers.training.networks NAME BATCH PATH` writes PATH.onnx with unfused BatchNormalization nodes,
PATH.cfg with the training parameters for the converter, and PATH.npz with a batch of data.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

RATE, MOMENTUM = 0.001, 0.9


@dataclass(frozen=True)
class Network:
    """A network to train.

    `shape` is the shape of one sample, without the batch. With `vocabulary`, inputs are token ids. With `classes`, outputs are
    logits and labels are class indices; without, the network is trained to reproduce its input.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    classes: int = 0
    vocabulary: int = 0
    frozen: str = ""
    """Name prefix of the frozen part."""

    def data(self, batch: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Returns random inputs `[batch, *shape]` and labels, with a fixed seed."""
        rng = np.random.default_rng(7)
        x: np.ndarray[Any, Any]
        if self.vocabulary:
            x = rng.integers(0, self.vocabulary, (batch, *self.shape)).astype(np.int32)
        else:
            x = rng.standard_normal((batch, *self.shape)).astype(np.float32)
        return x, rng.integers(0, self.classes, batch).astype(np.int32) if self.classes else x

    def module(self) -> nn.Module:
        """Returns the network in train mode. Frozen layers are in eval mode."""
        torch.manual_seed(7)
        made = self.make().train()
        if self.frozen:
            part = made.get_submodule(self.frozen).eval()
            for parameter in part.parameters():
                parameter.requires_grad_(False)
        return made


def _lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def _normalized(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class _Inverted(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        layers = [*_normalized(inputs, inner, 1), nn.ReLU6()] if expansion > 1 else []
        layers += [*_normalized(inner, inner, 3, stride, groups=inner), nn.ReLU6(), *_normalized(inner, outputs, 1)]
        self.layers = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layers(x)
        return x + y if self.adds else y


class _MobileNetV2(nn.Module):
    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [*_normalized(3, 32, 3, 2), nn.ReLU6()]
        inputs = 32
        for expansion, outputs, repeats, stride in (
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
        ):  # fmt: skip
            for i in range(repeats):
                layers.append(_Inverted(inputs, outputs, stride if i == 0 else 1, expansion))
                inputs = outputs
        self.features = nn.Sequential(*layers, *_normalized(320, 1280, 1), nn.ReLU6())
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.classifier(self.features(x).mean((2, 3)))
        return y


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *_normalized(inputs, outputs, 3, stride), nn.ReLU(), *_normalized(outputs, outputs, 3)
        )
        self.short = nn.Sequential(*_normalized(inputs, outputs, 1, stride)) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.relu(self.layers(x) + self.short(x))
        return y


def _resnet18() -> nn.Module:
    layers: list[nn.Module] = [*_normalized(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs in (64, 128, 256, 512):
        layers += [_Residual(inputs, outputs, 2 if outputs > inputs else 1), _Residual(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class _EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape

        def split(y: torch.Tensor) -> torch.Tensor:
            return y.reshape(batch, length, self.heads, -1).permute(0, 2, 1, 3)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = torch.softmax(query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        mixed = (weights @ value).permute(0, 2, 1, 3).reshape(batch, length, width)
        x = self.first(x + self.out(mixed))
        y: torch.Tensor = self.second(x + self.outer(nn.functional.gelu(self.inner(x))))
        return y


class _Transformer(nn.Module):
    def __init__(self, vocabulary: int, length: int, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        # A buffer, not a parameter: mslite's converter does not train constants of an Add.
        self.register_buffer("places", torch.randn(length, width) * 0.02)
        self.layers = nn.Sequential(*(_EncoderLayer(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(self.layers(self.tokens(tokens) + self.places).mean(1))
        return y


class _Lstm(nn.Module):
    """Classifies an image; the LSTM reads one row of pixels per time step."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.rows = nn.LSTM(width, units, batch_first=True)
        self.head = nn.Linear(units, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(self.rows(x)[0][:, -1])
        return y


def _double(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(*_normalized(inputs, outputs, 3), nn.ReLU(), *_normalized(outputs, outputs, 3), nn.ReLU())


class _UNet(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.down = nn.ModuleList([_double(3, width), _double(width, 2 * width), _double(2 * width, 4 * width)])
        self.bottom = _double(4 * width, 8 * width)
        widths = (4 * width, 2 * width, width)
        self.grow = nn.ModuleList([nn.ConvTranspose2d(2 * n, n, 2, 2) for n in widths])
        self.up = nn.ModuleList([_double(2 * n, n) for n in widths])
        self.last = nn.Conv2d(width, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for down in self.down:
            x = down(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for grow, up in zip(self.grow, self.up, strict=True):
            x = up(torch.cat([kept.pop(), grow(x)], 1))
        y: torch.Tensor = self.last(x)
        return y


NETWORKS = {
    "lenet_28": Network(_lenet, (1, 28, 28), classes=10),
    "lstm_28": Network(lambda: _Lstm(28, 128), (28, 28), classes=10),
    "mobilenet_v2_224": Network(_MobileNetV2, (3, 224, 224), classes=1000),
    "mobilenet_v2_224_head": Network(_MobileNetV2, (3, 224, 224), classes=1000, frozen="features"),
    "resnet18_224": Network(_resnet18, (3, 224, 224), classes=1000),
    "transformer_128": Network(lambda: _Transformer(8000, 128, 256, 4, 4), (128,), classes=2, vocabulary=8000),
    "unet_128": Network(_UNet, (3, 128, 128)),
}


def write(network: Network, batch: int, path: Path) -> None:
    """Writes the ONNX file without constant folding or fused batch normalization, the training parameters and the data."""
    x, labels = network.data(batch)
    np.savez(path.with_suffix(".npz"), x=x, labels=labels)
    lines = ["[train_param]", "optimizer=Momentum", f"learning_rate={RATE}", f"momentum={MOMENTUM}"]
    lines.append(f"loss={'SparseSoftmaxCrossEntropy' if network.classes else 'MeanSquaredError'}")
    if network.frozen:
        lines.append(f"frozen={network.frozen}.*")
    path.with_suffix(".cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
    module = network.module().eval()
    module.training = True  # only the outer module, else the exporter merges equal parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (torch.from_numpy(x),), str(path.with_suffix(".onnx")), dynamo=False,
            training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, input_names=["x"],
        )  # fmt: skip


if __name__ == "__main__":
    write(NETWORKS[sys.argv[1]], int(sys.argv[2]), Path(sys.argv[3]))
