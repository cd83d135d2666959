"""Estimates the number of instructions of a step with a linear cost model for each processor.

A step costs `per_mac` x MACs + `per_output` x output elements + CALL. The coefficients were fitted to instruction
counts of int8 kernels in four networks under QEMU, compiled with the options in `targets`; the estimates differ by up
to a fifth from these counts. There are no estimates for other data types, and none for processors that are not listed
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mslite.codegen.program import COPY, Step
from mslite.converter.mindir.ops.enums import DataType


@dataclass(frozen=True)
class Cost:
    """Instructions per multiply-accumulate and per output element."""

    per_mac: float
    per_output: float


CALL = 100
"""Instructions per call of a kernel: loading arguments, the call, and the kernel's setup."""

_CONVOLUTION, _DEPTHWISE, _DENSE = "convolution", "depthwise", "dense"
_COSTS: dict[str, dict[str, Cost]] = {
    "cortex-m4": {_CONVOLUTION: Cost(1.15, 30), _DEPTHWISE: Cost(1.5, 22.5), _DENSE: Cost(1.25, 20)},
    "cortex-m55": {_CONVOLUTION: Cost(0.15, 8.5), _DEPTHWISE: Cost(1.0, 10.5), _DENSE: Cost(0.17, 7.5)},
}
_LIKE = {"cortex-m7": "cortex-m4", "cortex-m33": "cortex-m4", "cortex-m85": "cortex-m55"}
"""Processors with the same instruction set as one with coefficients."""
_ELEMENT = {
    "cortex-m4": {"AddFusion": 50.0, "AvgPoolFusion": 7.3, "Softmax": 150.0},
    "cortex-m55": {"AddFusion": 22.0, "AvgPoolFusion": 6.3, "Softmax": 150.0},
}
"""Instructions of operators without MACs, per element of the larger of input and output."""
_OTHER = 10.0
"""Same, for operators that were not measured."""


def instructions(step: Step, target: str) -> int | None:
    """Returns the estimated instructions of a step, or None if there is no estimate for the processor or data type."""
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
