"""Networks for tokens, patches and rows of images."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.reshape(batch, length, self.heads, -1).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = torch.softmax(query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """A transformer layer with pre-normalization (as in ViT) or post-normalization (as in BERT)."""

    def __init__(self, width: int, heads: int, before: bool) -> None:
        super().__init__()
        self.before = before
        self.attention = Attention(width, heads)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x: Tensor) -> Tensor:
        for norm, layer in zip(self.norms, (self.attention, self.dense), strict=True):
            x = x + layer(norm(x)) if self.before else norm(x + layer(x))
        return x


class Bert(nn.Module):
    """An encoder of the size of BERT-mini: token and position embeddings, four layers of width 256."""

    def __init__(self, vocabulary: int, length: int, classes: int = 10, width: int = 256, layers: int = 4) -> None:
        super().__init__()
        self.tokens, self.places, self.norm = (
            nn.Embedding(vocabulary, width), nn.Embedding(length, width), nn.LayerNorm(width),
        )  # fmt: skip
        self.blocks = nn.Sequential(*(Block(width, 4, before=False) for _ in range(layers)))
        self.pool, self.head = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm(self.tokens(ids) + self.places(torch.arange(ids.shape[1])))
        return self.head(torch.tanh(self.pool(self.blocks(x)[:, 0])))


class VisionTransformer(nn.Module):
    """ViT-Tiny: width 192, three heads; `layers` of its twelve."""

    def __init__(self, size: int, patch: int, layers: int = 12, classes: int = 10, width: int = 192) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.chosen = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, 3, before=True) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.chosen.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class TextCNN(nn.Module):
    """Convolutions of three widths over embeddings, with maximum pooling (TextCNN)."""

    def __init__(self, vocabulary: int, classes: int = 10, width: int = 64, channels: int = 64) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.windows = nn.ModuleList(nn.Conv1d(width, channels, size) for size in (3, 4, 5))
        self.slopes = nn.ModuleList(nn.PReLU() for _ in self.windows)
        self.head = nn.Linear(3 * channels, classes)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids).transpose(1, 2)
        layers = zip(self.windows, self.slopes, strict=True)
        return self.head(torch.cat([slope(window(x)).amax(2) for window, slope in layers], 1))


class Recurrent(nn.Module):
    """Two LSTM layers over the rows of an image."""

    def __init__(self, width: int, classes: int = 10, hidden: int = 64) -> None:
        super().__init__()
        self.layers, self.head = nn.LSTM(width, hidden, num_layers=2, batch_first=True), nn.Linear(hidden, classes)

    def forward(self, rows: Tensor) -> Tensor:
        return self.head(self.layers(rows)[0][:, -1])
