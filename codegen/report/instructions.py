"""How many instructions a step takes: a linear model of the kernels, by processor.

A step costs `per_mac` x its MACs + `per_output` x the elements of its output + CALL. The numbers are fitted to whole networks counted
in QEMU, at the options that `targets` names; they are estimates that say where the time goes before anything is flashed.
Processors without numbers of their own have no estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mslite.codegen.program import COPY, Step


@dataclass(frozen=True)
class Cost:
    """Instructions."""

    per_mac: float
    per_output: float


CALL = 150
"""Of a step: fetching its operands, calling, and the kernel's own beginning."""

_CONVOLUTION, _DEPTHWISE, _DENSE = "convolution", "depthwise", "dense"
_COSTS: dict[str, dict[str, Cost]] = {
    "cortex-m4": {_CONVOLUTION: Cost(1.2, 20), _DEPTHWISE: Cost(4.0, 15), _DENSE: Cost(1.2, 20)},
    "cortex-m55": {_CONVOLUTION: Cost(0.25, 8), _DEPTHWISE: Cost(0.8, 6), _DENSE: Cost(0.3, 10)},
}
_LIKE = {"cortex-m7": "cortex-m4", "cortex-m33": "cortex-m4", "cortex-m85": "cortex-m55"}
"""The same instructions."""
_OUTPUT = {"SoftmaxFusion": 250.0, "Softmax": 250.0, "AddFusion": 20.0, "MulFusion": 14.0}
_OTHER = 10.0
"""Of an operator that nobody measured, per element of the larger of input and output."""


def instructions(step: Step, target: str) -> int | None:
    """The estimate, or None for processors without one."""
    costs = _COSTS.get(_LIKE.get(target, target))
    if costs is None:
        return None
    outputs = sum(prod(output.shape) for output in step.outputs)
    if step.kernel == COPY:
        return CALL + sum(output.size for output in step.outputs)
    if step.macs:
        cost = costs[_kind(step)]
        return round(CALL + cost.per_mac * step.macs + cost.per_output * outputs)
    most = max([outputs, *(prod(operand.shape) for operand in step.inputs if operand is not None)])
    return round(CALL + _OUTPUT.get(step.operator, _OTHER) * most)


def _kind(step: Step) -> str:
    if "depthwise" in step.kernel:
        return _DEPTHWISE
    return _CONVOLUTION if step.operator.startswith("Conv2D") else _DENSE
