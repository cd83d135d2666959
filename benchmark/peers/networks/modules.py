"""Networks that torchvision and timm do not have: text encoders and a speech denoiser."""

from __future__ import annotations

import torch
from torch import nn


class _Layer(nn.Module):
    """A BERT layer: attention and a feed-forward block, each followed by a residual add and layer normalization."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm_attention, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape

        def split(y: torch.Tensor) -> torch.Tensor:
            return y.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5 + bias
        mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(batch, length, width)
        x = self.norm_attention(x + self.out(mixed))
        return self.norm_out(x + self.narrow(nn.functional.gelu(self.wide(x))))


class Encoder(nn.Module):
    """A BERT encoder: token ids and an attention mask `[batch, length]` to a vector per token `[batch, length, width]`."""

    def __init__(self, width: int, layers: int, heads: int, length: int = 128, words: int = 30522) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(_Layer(width, heads) for _ in range(layers))
        self.register_buffer("places", torch.arange(length))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.words(ids) + self.positions(self.places))
        bias = (1.0 - mask.to(x.dtype))[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return x


class Denoiser(nn.Module):
    """Two GRU layers between fully connected layers: spectra `[batch, frames, bands]` to a gain per band."""

    def __init__(self, bands: int = 257, width: int = 400) -> None:
        super().__init__()
        self.first = nn.Linear(bands, width)
        self.recurrent = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.wide, self.last = nn.Linear(width, 600), nn.Linear(600, bands)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        x, _ = self.recurrent(torch.relu(self.first(frames)))
        return torch.sigmoid(self.last(torch.relu(self.wide(x))))


class Segmentation(nn.Module):
    """Returns the tensor "out" of a torchvision segmentation network, which returns a dictionary."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.network(image)["out"]
        return scores
