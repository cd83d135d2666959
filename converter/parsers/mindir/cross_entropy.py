"""Recognizes `nn.CrossEntropyLoss` with labels, which MindSpore 2.10 exports as a graph of fourteen primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

KINDS = frozenset(
    {"ReduceMax", "Sub", "Exp", "SumExt", "Log", "Add", "ExpandDims", "Equal", "MaskedFill", "GatherD", "Neg"}
)
KINDS |= {"Squeeze", "Div", "Muls"}

_SCALED_AT = "_loss_fn-CrossEntropyLoss/Grad_Div/"
"""Part of the names of the nodes that read the gradient of the loss; the gradient of the smoothed loss is 0."""


def fault(nodes: list[tuple[str, list[str]]], value: Callable[[str], Any]) -> str:
    """Returns how the loss differs from the plain mean of the cross entropy; "" if it does not.

    `nodes` are pairs of primitive and operand names; `value` returns the contents of a constant.
    """
    factors = [_numbers(value(names[1])) for kind, names in nodes if kind == "Muls" and len(names) > 1]
    if sorted(factors) != [(0.0,), (1.0,)]:
        return "uses label smoothing"
    ignored = [_numbers(value(names[1])) for kind, names in nodes if kind == "Equal" and len(names) > 1]
    if any(not numbers or max(numbers) >= 0 for numbers in ignored):
        return "ignores a class (ignore_index)"
    weights = [value(names[0]) for kind, names in nodes if kind == "MaskedFill" and names]
    if any(number != 1 for each in weights if each is not None for number in _numbers(each)):
        return "uses class weights"
    return ""


def _numbers(value: Any) -> tuple[float, ...]:
    array = np.asarray(value)
    return tuple(float(number) for number in array.reshape(-1)) if array.dtype.kind in "biuf" else ()


def scales_at(kind: str, scope: str, number: Callable[[], float | None]) -> list[float | None]:
    """Returns the loss scale in a list if the node applies it, else []; `number` returns the node's first operand."""
    found = number() if kind == "Div" and _SCALED_AT in scope else 0.0
    return [] if found == 0 else [found]
