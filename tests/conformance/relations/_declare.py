"""The registry of relations, and functions that they use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..view import NodeView, Operand

RELATIONS: dict[str, Callable[[NodeView], str | None]] = {}

IMAGE_RANK = 4


def relation(function: Callable[[NodeView], str | None]) -> Callable[[NodeView], str | None]:
    RELATIONS[function.__name__] = function
    return function


def known(operand: Operand) -> tuple[int, ...] | None:
    """Returns the shape if all dimensions are known."""
    dims = operand.dims
    return None if dims is None or min(dims, default=0) < 0 else dims


def attribute(node: NodeView, name: str) -> Any:
    return getattr(node.node.primitive, name)
