"""Plans the memory of loops and branches. The arenas of their blocks share memory in the workspace of the CONTROL
step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mslite.codegen.memory.options import Inputs, MemoryOptions
from mslite.codegen.program import ControlFlowNest, ControlFlowPlan, Plan, Program, Step

_ALIGNMENT = 16
"""Alignment of the blocks' arenas."""


def plan_control_flow(
    program: Program, options: MemoryOptions, plan: Callable[[Program, MemoryOptions], Plan]
) -> dict[Step, ControlFlowPlan]:
    """Plans the blocks of all nests with the function `plan`, and sets the workspace sizes of the steps that run
    them."""
    inner = replace(options, inputs=Inputs.CALLER, fuse_rows=False, moves=False, fast_size=None)
    found = {}
    for step in program.steps:
        if step.nest is not None:
            found[step] = _plan(step.nest, inner, plan)
            step.shared_size = found[step].size
    return found


def _plan(
    nest: ControlFlowNest, options: MemoryOptions, plan: Callable[[Program, MemoryOptions], Plan]
) -> ControlFlowPlan:
    plans = [plan(block.program, options) for block in nest.blocks]
    offsets, end = {}, 0
    for tensor in sorted(nest.carried, key=lambda one: -one.size):
        offsets[tensor] = end
        end += tensor.size + -tensor.size % options.alignment
    base = end + -end % max(_ALIGNMENT, options.alignment)
    return ControlFlowPlan(offsets, base, plans, base + max((one.size for one in plans), default=0))
