"""Image classifiers: the published architectures, at full width unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

Activation = Callable[[], nn.Module]


def convolution(
    inner: int,
    outer: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: Activation | None = nn.ReLU,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
) -> nn.Sequential:
    """A convolution with SAME padding, batch normalization, and an activation."""
    layers = [
        nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outer, epsilon, momentum),
    ]
    return nn.Sequential(*layers, *([activation()] if activation else []))


def pooled(x: Tensor) -> Tensor:
    """Global average pooling."""
    return functional.adaptive_avg_pool2d(x, 1).flatten(1)


class LeNet(nn.Module):
    """LeNet-5 for images of 32 x 32."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.dense = nn.ModuleList([nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, classes)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.first, self.second):
            x = functional.max_pool2d(torch.relu(layer(x)), 2)
        x = x.flatten(1)
        for layer in self.dense[:-1]:
            x = torch.relu(layer(x))
        return self.dense[-1](x)


class Residual(nn.Module):
    """The basic block of ResNet."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(convolution(inner, outer, 3, stride), convolution(outer, outer, 3, activation=None))
        same = stride == 1 and inner == outer
        self.shortcut = nn.Identity() if same else convolution(inner, outer, 1, stride, activation=None)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, classes: int = 10, width: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(3, width, 7, 2), nn.MaxPool2d(3, 2, 1))
        blocks, inner = [], width
        for stage in range(4):
            for block in range(2):
                blocks.append(Residual(inner, width << stage, 2 if stage and not block else 1))
                inner = width << stage
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inner, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(pooled(self.blocks(self.stem(x))))


class Squeeze(nn.Module):
    """Squeeze-and-excitation: scales each channel by a function of the whole image."""

    def __init__(self, channels: int, narrow: int, activation: Activation, gate: Activation) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, narrow, 1), nn.Conv2d(narrow, channels, 1)
        self.activation, self.gate = activation(), gate()

    def forward(self, x: Tensor) -> Tensor:
        seen = functional.adaptive_avg_pool2d(x, 1)
        return x * self.gate(self.up(self.activation(self.down(seen))))


class Inverted(nn.Module):
    """The inverted residual of MobileNetV2, MobileNetV3 and EfficientNet."""

    def __init__(
        self,
        inner: int,
        hidden: int,
        outer: int,
        kernel: int,
        stride: int,
        activation: Activation,
        squeeze: nn.Module | None = None,
        epsilon: float = 1e-5,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        rest = {"epsilon": epsilon, "momentum": momentum}
        widening = [convolution(inner, hidden, 1, activation=activation, **rest)] if hidden != inner else []
        self.body = nn.Sequential(
            *widening,
            convolution(hidden, hidden, kernel, stride, hidden, activation, **rest),
            *([squeeze] if squeeze else []),
            convolution(hidden, outer, 1, activation=None, **rest),
        )
        self.adds = stride == 1 and inner == outer

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


class MobileNetV2(nn.Module):
    STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    """Expansion, channels, blocks, stride of the first block."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, 32, 3, 2, activation=nn.ReLU6)]
        inner = 32
        for wider, outer, count, stride in self.STAGES:
            for block in range(count):
                layers.append(Inverted(inner, inner * wider, outer, 3, 1 if block else stride, nn.ReLU6))
                inner = outer
        self.features = nn.Sequential(*layers, convolution(inner, 1280, 1, activation=nn.ReLU6))
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(pooled(self.features(x)))


def _rounded(channels: float) -> int:
    """Rounds to a multiple of 8, at least 90 % of the value."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found + 8 if found < 0.9 * channels else found


class MobileNetV3Small(nn.Module):
    BLOCKS = (
        (3, 16, 16, True, nn.ReLU, 2), (3, 72, 24, False, nn.ReLU, 2), (3, 88, 24, False, nn.ReLU, 1),
        (5, 96, 40, True, nn.Hardswish, 2), (5, 240, 40, True, nn.Hardswish, 1), (5, 240, 40, True, nn.Hardswish, 1),
        (5, 120, 48, True, nn.Hardswish, 1), (5, 144, 48, True, nn.Hardswish, 1), (5, 288, 96, True, nn.Hardswish, 2),
        (5, 576, 96, True, nn.Hardswish, 1), (5, 576, 96, True, nn.Hardswish, 1),
    )  # fmt: skip
    """Kernel, hidden channels, channels, squeeze-and-excitation, activation, stride."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        rest = {"epsilon": 1e-3, "momentum": 0.01}
        layers: list[nn.Module] = [convolution(3, 16, 3, 2, activation=nn.Hardswish, **rest)]
        inner = 16
        for kernel, hidden, outer, squeezes, activation, stride in self.BLOCKS:
            squeeze = Squeeze(hidden, _rounded(hidden / 4), nn.ReLU, nn.Hardsigmoid) if squeezes else None
            layers.append(Inverted(inner, hidden, outer, kernel, stride, activation, squeeze, **rest))
            inner = outer
        self.features = nn.Sequential(*layers, convolution(96, 576, 1, activation=nn.Hardswish, **rest))
        self.head = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(), nn.Linear(1024, classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(pooled(self.features(x)))


class EfficientNetB0(nn.Module):
    STAGES = (
        (3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3), (5, 1, 6, 112, 3), (5, 2, 6, 192, 4), (3, 1, 6, 320, 1),
    )  # fmt: skip
    """Kernel, stride of the first block, expansion, channels, blocks."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, 32, 3, 2, activation=nn.SiLU)]
        inner = 32
        for kernel, stride, wider, outer, count in self.STAGES:
            for block in range(count):
                hidden = inner * wider
                squeeze = Squeeze(hidden, inner // 4, nn.SiLU, nn.Sigmoid)
                layers.append(Inverted(inner, hidden, outer, kernel, 1 if block else stride, nn.SiLU, squeeze))
                inner = outer
        self.features = nn.Sequential(*layers, convolution(inner, 1280, 1, activation=nn.SiLU))
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(pooled(self.features(x)))


class Shuffled(nn.Module):
    """The unit of ShuffleNetV2: half of the channels are passed through, then the halves are shuffled."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        half = outer // 2
        entering = inner if stride > 1 else half
        self.body = nn.Sequential(
            convolution(entering, half, 1),
            convolution(half, half, 3, stride, half, activation=None),
            convolution(half, half, 1),
        )
        self.beside = (
            nn.Sequential(convolution(inner, inner, 3, 2, inner, activation=None), convolution(inner, half, 1))
            if stride > 1
            else None
        )

    def forward(self, x: Tensor) -> Tensor:
        if self.beside is None:
            passing, entering = x.chunk(2, 1)
        else:
            passing, entering = self.beside(x), x
        x = torch.cat([passing, self.body(entering)], 1)
        batch, channels, height, width = x.shape
        return x.reshape(batch, 2, channels // 2, height, width).transpose(1, 2).reshape(x.shape)


class ShuffleNetV2(nn.Module):
    """The variant of width 1.0."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        units, inner = [], 24
        for outer, count in ((116, 4), (232, 8), (464, 4)):
            for unit in range(count):
                units.append(Shuffled(inner, outer, 1 if unit else 2))
                inner = outer
        self.features = nn.Sequential(
            convolution(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1), *units, convolution(inner, 1024, 1)
        )
        self.head = nn.Linear(1024, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(pooled(self.features(x)))


class Fire(nn.Module):
    def __init__(self, inner: int, narrow: int, wide: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inner, narrow, 1)
        self.one, self.three = nn.Conv2d(narrow, wide, 1), nn.Conv2d(narrow, wide, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.one(x)), torch.relu(self.three(x))], 1)


class SqueezeNet(nn.Module):
    """Version 1.1, which has no normalization."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()

        def pool() -> nn.Module:
            return nn.MaxPool2d(3, 2, ceil_mode=True)

        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, 2), nn.ReLU(), pool(), Fire(64, 16, 64), Fire(128, 16, 64), pool(), Fire(128, 32, 128),
            Fire(256, 32, 128), pool(), Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256),
        )  # fmt: skip
        self.classifier = nn.Conv2d(512, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        return pooled(torch.relu(self.classifier(self.features(x))))


class Growing(nn.Module):
    """A layer of DenseNet: its output is concatenated to the input channels."""

    def __init__(self, inner: int, growth: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(inner), nn.ReLU(), nn.Conv2d(inner, 4 * growth, 1, bias=False),
            nn.BatchNorm2d(4 * growth), nn.ReLU(), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], 1)


class DenseNet(nn.Module):
    """DenseNet-121 as published, or with other numbers of layers."""

    def __init__(self, counts: Sequence[int] = (6, 12, 24, 16), growth: int = 32, classes: int = 10) -> None:
        super().__init__()
        inner = 2 * growth
        layers: list[nn.Module] = [convolution(3, inner, 7, 2), nn.MaxPool2d(3, 2, 1)]
        for number, count in enumerate(counts):
            for _ in range(count):
                layers.append(Growing(inner, growth))
                inner += growth
            layers += [nn.BatchNorm2d(inner), nn.ReLU()]
            if number < len(counts) - 1:
                layers += [nn.Conv2d(inner, inner // 2, 1, bias=False), nn.AvgPool2d(2)]
                inner //= 2
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(inner, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(pooled(self.features(x)))
