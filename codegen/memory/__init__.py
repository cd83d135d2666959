"""The memory plan of generated C: order of the steps, offsets in the arena, and a check of the plan."""

from mslite.codegen.memory.check import MemoryPlanError, check_plan
from mslite.codegen.memory.options import Inputs, MemoryOptions
from mslite.codegen.memory.planner import needed_memory, plan_memory

__all__ = ["Inputs", "MemoryOptions", "MemoryPlanError", "check_plan", "needed_memory", "plan_memory"]
