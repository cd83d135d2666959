"""How a condition is declared, and what several of them ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import ActivationType, DataType

Condition = Callable[[Node, DataType, Version], str | None]
"""Of a node, the type of its kernel and a version: what it does to the node ("passes over ..."), or None."""

CONDITIONS: dict[str, list[Condition]] = defaultdict(list)

FUSED = frozenset({ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6})
"""The activations that kernels apply to their result."""


def condition(names: str, until: Version = Version.V2_7) -> Callable[[Condition], Condition]:
    """Registers a condition of the blank-separated operators; it holds up to the version `until`."""

    def register(function: Condition) -> Condition:
        def limited(node: Node, kind: DataType, version: Version) -> str | None:
            return function(node, kind, version) if version <= until else None

        for name in names.split():
            CONDITIONS[name].append(limited)
        return function

    return register


def has_shape(value: Value) -> bool:
    """Whether every size is known."""
    return value.shape is not None and all(size >= 0 for size in value.shape)


def numbers(node: Node, index: int) -> list[int] | None:
    """The integers of a constant operand; None where it is absent or computed."""
    if len(node.inputs) <= index or node.inputs[index].data is None:
        return None
    data = node.inputs[index].data
    assert data is not None
    return [int(number) for number in np.asarray(data).reshape(-1).astype(np.int64)]


def fused_activation(node: Node) -> ActivationType:
    return ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))
