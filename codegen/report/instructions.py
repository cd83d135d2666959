"""How many instructions a step takes: a linear model of the kernels, by processor.

A step costs `per_mac` x its MACs + `per_output` x the elements of its output + CALL. The numbers are fitted to the int8
kernels in four whole networks counted in QEMU, at the options that `targets` names, and come within
a fifth of these; they say where the time goes before anything is flashed. Other types, and processors without numbers of
their own, have no estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mslite.codegen.program import COPY, Step
from mslite.converter.mindir.ops.enums import DataType


@dataclass(frozen=True)
class Cost:
    """Instructions."""

    per_mac: float
    per_output: float


CALL = 100
"""Of a step: fetching its operands, calling, and the kernel's own beginning."""

_CONVOLUTION, _DEPTHWISE, _DENSE = "convolution", "depthwise", "dense"
_COSTS: dict[str, dict[str, Cost]] = {
    "cortex-m4": {_CONVOLUTION: Cost(1.15, 30), _DEPTHWISE: Cost(1.5, 22.5), _DENSE: Cost(1.25, 20)},
    "cortex-m55": {_CONVOLUTION: Cost(0.15, 8.5), _DEPTHWISE: Cost(1.0, 10.5), _DENSE: Cost(0.17, 7.5)},
}
_LIKE = {"cortex-m7": "cortex-m4", "cortex-m33": "cortex-m4", "cortex-m85": "cortex-m55"}
"""The same instructions."""
_ELEMENT = {
    "cortex-m4": {"AddFusion": 50.0, "AvgPoolFusion": 7.3, "Softmax": 150.0},
    "cortex-m55": {"AddFusion": 22.0, "AvgPoolFusion": 6.3, "Softmax": 150.0},
}
"""Of operators without MACs, per element of the larger of input and output."""
_OTHER = 10.0
"""Of one that nobody measured."""


def instructions(step: Step, target: str) -> int | None:
    """The estimate, or None for processors and types without one."""
    if step.nest is not None or (step.call is not None and step.call.more_instructions is None):
        return None
    target = _LIKE.get(target, target)
    costs = _COSTS.get(target)
    if costs is None or any(output.dtype is not DataType.INT8 for output in step.outputs):
        return None
    outputs = sum(prod(output.shape) for output in step.outputs)
    if step.kernel == COPY:
        return CALL + sum(output.size for output in step.outputs)
    if step.macs:
        cost = costs[_kind(step)]
        return round(CALL + cost.per_mac * step.macs + cost.per_output * outputs)
    most = max([outputs, *(prod(operand.shape) for operand in step.inputs if operand is not None)])
    return round(CALL + _ELEMENT[target].get(step.operator, _OTHER) * most)


def _kind(step: Step) -> str:
    if "depthwise" in step.kernel:
        return _DEPTHWISE
    return _CONVOLUTION if step.operator.startswith("Conv2D") else _DENSE
