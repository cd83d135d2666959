"""Networks with images as outputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def _twice(inner: int, outer: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inner, outer):
        layers += [nn.Conv2d(channels, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """A U-Net with three levels, transposed convolutions and interpolation; a logit for each pixel."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        w = width
        self.down = nn.ModuleList([_twice(3, w), _twice(w, 2 * w), _twice(2 * w, 4 * w), _twice(4 * w, 8 * w)])
        self.wider = nn.ModuleList([nn.ConvTranspose2d(8 * w, 4 * w, 2, 2), nn.ConvTranspose2d(4 * w, 2 * w, 2, 2)])
        self.up = nn.ModuleList([_twice(8 * w, 4 * w), _twice(4 * w, 2 * w), _twice(3 * w, w)])
        self.last = nn.Conv2d(w, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        passed = []
        for number, layer in enumerate(self.down):
            x = layer(functional.max_pool2d(x, 2) if number else x)
            passed.append(x)
        for number, layer in enumerate(self.up):
            if number < len(self.wider):
                x = self.wider[number](x)
            else:
                x = functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
            x = layer(torch.cat([x, passed[2 - number]], 1))
        return self.last(x)


class Autoencoder(nn.Module):
    """An autoencoder for images of 32 x 32 with a code of 32 values and DCGAN's transposed convolutions."""

    def __init__(self, width: int = 16, code: int = 32) -> None:
        super().__init__()
        w = width
        self.encoder = nn.Sequential(
            nn.Conv2d(1, w, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(w, 2 * w, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * w), nn.LeakyReLU(0.2),
            nn.Conv2d(2 * w, 4 * w, 4, 2, 1, bias=False), nn.BatchNorm2d(4 * w), nn.LeakyReLU(0.2),
            nn.Conv2d(4 * w, code, 4),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(code, 4 * w, 4, bias=False), nn.BatchNorm2d(4 * w), nn.ReLU(),
            nn.ConvTranspose2d(4 * w, 2 * w, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * w), nn.ReLU(),
            nn.ConvTranspose2d(2 * w, w, 4, 2, 1, bias=False), nn.BatchNorm2d(w), nn.ReLU(),
            nn.ConvTranspose2d(w, 1, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))
