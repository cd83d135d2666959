"""Collective operators of distributed training. They are read and written, but not run."""

from __future__ import annotations

from .._declare import Operator, enum, integer, operator, text
from ..enums import ReduceMode


@operator(201, training=True, since_1_3=False)
class AllGather(Operator):
    """Gathers a tensor from all devices."""

    group: str | None = text(0)
    rank_size: int = integer(1)


@operator(202, training=True, since_1_3=False)
class ReduceScatter(Operator):
    """Reduces over devices and scatters the result."""

    group: str | None = text(0)
    mode: ReduceMode = enum(1, ReduceMode.ReduceMean)
    rank_size: int = integer(2)
