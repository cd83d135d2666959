"""Valid programs as torch.export writes them, for comparison with malicious archives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Containers(nn.Module):
    """Inputs and outputs in lists, tuples and dictionaries; a buffer with stride 0."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.register_buffer("shift", torch.ones(1).expand(3))

    def forward(self, x: torch.Tensor, more: dict[str, Any], *, scale: torch.Tensor) -> dict[str, Any]:
        y = self.layer(x) + self.shift
        return {"y": y * scale, "rest": [(y.mean() * 2.5, more["a b"][0] + 1)]}


class Condition(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,)) + torch.nonzero(x).shape[0]


class Shared(nn.Module):
    """Two names of one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.two = nn.Linear(4, 4)
        self.two.weight = self.one.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.two(torch.relu(self.one(x)))


def _dynamic() -> torch.export.ExportedProgram:
    sizes = ({2: torch.export.Dim.DYNAMIC, 3: torch.export.Dim.AUTO},)
    network = nn.Upsample(scale_factor=2, mode="bilinear")
    return torch.export.export(network, (torch.randn(2, 3, 7, 16),), dynamic_shapes=sizes)


def _containers() -> torch.export.ExportedProgram:
    arguments = {"more": {"a b": [torch.tensor(2.0)]}, "scale": torch.tensor(1.0)}
    return torch.export.export(Containers().eval(), (torch.randn(2, 4),), arguments)


NETWORKS: dict[str, Callable[[], torch.export.ExportedProgram]] = {
    "dynamic": _dynamic,
    "containers": _containers,
    "cond": lambda: torch.export.export(Condition(), (torch.randn(4),)),
    "lstm": lambda: torch.export.export(nn.LSTM(4, 5, batch_first=True), (torch.randn(2, 7, 4),)),
    "shared": lambda: torch.export.export(Shared().eval(), (torch.randn(2, 4),)),
}
