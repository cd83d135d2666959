"""Registers conditions of operators, and helpers that several conditions use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import ActivationType, DataType

Condition = Callable[[Node, DataType, Version], str | None]
"""A function of a node, the element type of its kernel and a version. Returns what the version does wrong, as the end
of the
sentence "MindSpore Lite 2.0 ignores ...", or None."""

CONDITIONS: dict[str, list[Condition]] = defaultdict(list)

FUSED = frozenset({ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6})
"""Activations that kernels can fuse."""


def condition(names: str, until: Version = Version.V2_7) -> Callable[[Condition], Condition]:
    """Registers a condition for the blank-separated operators, in versions up to `until`."""

    def register(function: Condition) -> Condition:
        def limited(node: Node, kind: DataType, version: Version) -> str | None:
            return function(node, kind, version) if version <= until else None

        for name in names.split():
            CONDITIONS[name].append(limited)
        return function

    return register


def has_shape(value: Value) -> bool:
    """Returns whether all dimensions are known."""
    return value.shape is not None and all(size >= 0 for size in value.shape)


def numbers(node: Node, index: int) -> list[int] | None:
    """Returns the integers of a constant input; None if the input is missing or computed."""
    if len(node.inputs) <= index or node.inputs[index].data is None:
        return None
    data = node.inputs[index].data
    assert data is not None
    return [int(number) for number in np.asarray(data).reshape(-1).astype(np.int64)]


def fused_activation(node: Node) -> ActivationType:
    return ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))
