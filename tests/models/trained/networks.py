"""The networks in PyTorch: inputs as the data modules return them, outputs are class scores [N, classes]."""

from __future__ import annotations

import torch
from torch import nn

from . import messages


def convolution(channels: int, out: int, kernel: int | tuple[int, int], stride: int = 1, groups: int = 1) -> nn.Module:
    """Convolution with SAME padding, batch normalization, ReLU."""
    height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = (height // 2, width // 2)
    layer = nn.Conv2d(channels, out, (height, width), stride, padding, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(out), nn.ReLU())


class Residual(nn.Module):
    """Residual block: x + two 3 x 3 convolutions of x, then ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = convolution(channels, channels, 3)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.second(self.first(x)))


class Cnn(nn.Module):
    """A small residual network for [N, 1, 28, 28]."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            convolution(1, 16, 3), nn.MaxPool2d(2), Residual(16), convolution(16, 32, 3, 2), Residual(32),
            convolution(32, 32, 3, groups=32), convolution(32, 64, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Dropout(0.2), nn.Linear(64, 10),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.body(x)
        return scores


class DsCnn(nn.Module):
    """Depthwise-separable convolutions over MFCC frames [N, 1, 49, 10], after Zhang et al., arXiv 1711.07128."""

    def __init__(self, classes: int, channels: int = 64, blocks: int = 4) -> None:
        super().__init__()
        layers = [nn.BatchNorm2d(1), convolution(1, channels, (9, 3), 2)]
        for _ in range(blocks):
            layers += [convolution(channels, channels, 3, groups=channels), convolution(channels, channels, 1)]
        self.body = nn.Sequential(
            *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(channels, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.body(x)
        return scores


class Block(nn.Module):
    """A transformer encoder layer with pre-normalization and GELU."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_dense = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(0.1)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """[N, length, width] -> [N, heads, length, width / heads]."""
        return x.reshape(-1, x.shape[1], self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(query @ key.transpose(2, 3) * query.shape[-1] ** -0.5, dim=-1)
        joined = (weights @ value).transpose(1, 2).reshape(-1, x.shape[1], x.shape[2])
        result: torch.Tensor = self.out(joined)
        return result

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.attention(self.before_attention(x)))
        return x + self.dropout(self.dense(self.before_dense(x)))


class TextTransformer(nn.Module):
    """Character codes [N, 64] -> scores of the languages; a convolution converts the characters to 32 tokens."""

    def __init__(self, classes: int, width: int = 48, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(messages.VOCABULARY, width)
        self.tokens = nn.Conv1d(width, width, 5, 2, 2)
        self.position = nn.Parameter(0.02 * torch.randn(1, messages.LENGTH // 2, width))
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = torch.relu(self.tokens(self.embedding(x).transpose(1, 2))).transpose(1, 2)
        scores: torch.Tensor = self.head(self.norm(self.blocks(tokens + self.position)).mean(1))
        return scores


class Vit(nn.Module):
    """A vision transformer over the sixteen 7 x 7 patches of [N, 1, 28, 28]."""

    def __init__(self, width: int = 64, layers: int = 2) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, width, 7, 7)
        self.position = nn.Parameter(0.02 * torch.randn(1, 16, width))
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2) + self.position
        scores: torch.Tensor = self.head(self.norm(self.blocks(tokens)).mean(1))
        return scores
