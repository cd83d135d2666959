"""Programs that change buffers, so that the second run depends on the first one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class RunningMean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.full((1, 3), 0.5))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.state.mul_(0.9).add_(x)
        return self.state + 1, x * 2


class Cache(nn.Module):
    """Keys and values of earlier tokens; one of the buffers is not saved with the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 2, 8, 4))
        self.register_buffer("values", torch.zeros(1, 2, 8, 4), persistent=False)
        self.register_buffer("position", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = (torch.arange(8) <= self.position)[None, None, None, :]
        at = self.position.reshape(1)
        self.keys.index_copy_(2, at, x * 2)
        self.values.index_copy_(2, at, x + 1)
        self.position.add_(1)
        return F.scaled_dot_product_attention(x, self.keys, self.values, attn_mask=seen)


class StreamingConvolution(nn.Module):
    """Rows of images, of which the last ones are kept; 4-D buffers, whose layout the converter changes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 5, 3, padding=(0, 1))
        self.register_buffer("past", torch.zeros(1, 3, 2, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([self.past, x], 2)
        self.past.copy_(rows[:, :, -2:])
        return self.layer(rows)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(4, 5, batch_first=True)
        self.register_buffer("hidden", torch.zeros(1, 1, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, hidden = self.layer(x, self.hidden)
        self.hidden.copy_(hidden)
        return y


class Swapped(nn.Module):
    """Two buffers that are exchanged, and buffers of other data types."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(1, 3))
        self.register_buffer("b", torch.ones(1, 3))
        self.register_buffer("is_first", torch.tensor([True]))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(a + x)
        y = torch.where(self.is_first, x, self.a)
        self.is_first.fill_(False)
        self.calls += 1
        return y, self.calls, self.b


class Last(nn.Module):
    """Returns the input of an earlier run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("x", torch.zeros(1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.x.clone()
        self.x.copy_(x)
        return y


class Counted(nn.Module):
    """A buffer that no output depends on."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * 2


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, lambda x, a: x + a, lambda x, a: x - a * 2, (x, self.sum.clone()))
        self.sum.copy_(y)
        return y


class Mapped(nn.Module):
    """Each row is combined with its row of the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.ones(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.vmap(lambda x, row: (x * row).sum() + row)(x, self.rows)
        self.rows.add_(x)
        return y


class Converted(nn.Module):
    """The value that is copied into a buffer has another data type, or fewer rows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.ones(2, 3))
        self.register_buffer("integers", torch.zeros(1, 3, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, z = self.rows + x, self.integers + x
        self.rows.copy_(x)
        self.integers.copy_(x * 10)
        return y, z


class Twins(nn.Module):
    """Two buffers that get the same value, one that no output depends on, and one that is never read."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(1, 3))
        self.register_buffer("b", torch.ones(1, 3))
        self.register_buffer("c", torch.ones(1, 3))
        self.register_buffer("output", torch.ones(1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2 + self.a - self.b
        z = x + self.a
        self.a.copy_(z)
        self.b.copy_(z)
        self.c.copy_(z)
        self.output.copy_(x)
        return y


class ChangedInput(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2


class NamedTwice(nn.Module):
    """One tensor with two names: a change through one name is read through the other."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(1, 3))
        self.register_buffer("b", self.a)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.a.add_(x)
        return self.b * 2


STATEFUL: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], set[str]]] = {
    "mean": (RunningMean, (1, 3), {"state"}),
    "cache": (Cache, (1, 2, 1, 4), {"keys", "values", "position"}),
    "convolution": (StreamingConvolution, (1, 3, 4, 6), {"past"}),
    "recurrent": (Recurrent, (1, 3, 4), {"hidden"}),
    "swapped": (Swapped, (1, 3), {"a", "b", "is_first", "calls"}),
    "last": (Last, (1, 3), {"x"}),
    "counted": (Counted, (1, 3), set()),
    "branching": (Branching, (1, 3), {"sum"}),
    "mapped": (Mapped, (2, 3), {"rows"}),
    "converted": (Converted, (1, 3), {"rows", "integers"}),
    "twins": (Twins, (1, 3), {"a", "b"}),
    "named_twice": (NamedTwice, (1, 3), {"b"}),
}
"""The network, the shape of its input, and the buffers that become variables."""


def exported(network: nn.Module, *inputs: Any) -> torch.export.ExportedProgram:
    return torch.export.export(network.eval(), inputs)
