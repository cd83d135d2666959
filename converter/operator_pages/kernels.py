"""What the kernels of the runtime and of generated C take: data types, instruction sets, targets."""

from __future__ import annotations

from dataclasses import dataclass

from mslite import _codegen, _native
from mslite.converter.mindir.reference import CASES
from mslite.converter.operator_pages.cases import has_fixed_shapes
from mslite.converter.operator_pages.data_types import types_of_operators

_VECTOR_ISAS = ("scalar", "avx2", "avx512", "neon")
"""A kernel of `kernels/simd/` is compiled for all of these, even if this machine lacks some."""

_TARGETS = {
    "x86": ("avx2",),
    "Arm": ("neon", "neon_dot"),
    "Cortex-M": ("micro", "dsp", "mve"),
}
"""Targets of generated C, and the instruction sets whose kernels are for them alone."""

VARIABLES = frozenset({"ReadVariable", "AssignVariable"})
"""They have no kernel. The runtime and generated C keep the tensor from run to run."""

CONTROL_FLOW = frozenset({"Call", "PartialFusion", "Switch", "SwitchLayer"})
"""They have no kernel. The executor runs them; in generated C they are branches and loops of C."""


@dataclass(frozen=True)
class KernelFacts:
    """The kernels of one operator."""

    data_types: tuple[str, ...] = ()
    """Data types that some kernel takes for the float inputs or of the first input."""
    cast_types: tuple[str, ...] = ()
    """Data types that are computed in float32, int32 or int64 between casts."""
    instruction_sets: tuple[str, ...] = ()
    generated: str = "-"
    """Generated C: `yes`, `part` if only some cases have fixed output shapes, or `-`."""
    optimized_targets: tuple[str, ...] = ()
    """Targets of generated C with kernels of their own besides the portable ones."""


def kernel_facts() -> dict[str, KernelFacts]:
    """Operator -> facts, for operators that run."""
    runtime: dict[str, set[str]] = {}
    for _, operator, isa, _ in _native.kernels():
        runtime.setdefault(operator, set()).add(isa)
    generated = {operator: set(isas) for operator, isas in runtime.items()}
    for _, operator, isa, _ in _codegen.kernels():
        generated[operator].add(isa)
    types, fixed = types_of_operators(), _shapes_of_cases()
    facts = {}
    for operator, isas in runtime.items():
        taken, cast = types.get(operator, ([], []))
        facts[operator] = KernelFacts(
            tuple(taken),
            tuple(cast),
            _in_order(isas),
            # Operators on quantized integers alone have no case. Their output shapes are those of their inputs.
            _generated(fixed.get(operator, {True})),
            tuple(target for target, own in _TARGETS.items() if generated[operator] & set(own)),
        )
    return facts | dict.fromkeys(VARIABLES | CONTROL_FLOW, KernelFacts(generated="yes"))


def _shapes_of_cases() -> dict[str, set[bool]]:
    """Operator -> whether its cases have fixed output shapes."""
    found: dict[str, set[bool]] = {}
    for case in CASES:
        if len(found.setdefault(case.op.name, set())) < 2:
            found[case.op.name].add(has_fixed_shapes(case))
    return found


def _generated(fixed: set[bool]) -> str:
    return "-" if fixed == {False} else "part" if False in fixed else "yes"


def _in_order(found: set[str]) -> tuple[str, ...]:
    """Vector kernels have all of `_VECTOR_ISAS`, on any machine."""
    if found == {"scalar"}:
        return ("scalar",)
    others = sorted(found - set(_VECTOR_ISAS))
    return (*_VECTOR_ISAS, *others)
