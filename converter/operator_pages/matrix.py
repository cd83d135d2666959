"""Operator by backend: one cell for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.operator_pages.backends import DELEGATES, delegate_cell, ethosu_cell
from mslite.converter.operator_pages.gradients import Training, training_facts
from mslite.converter.operator_pages.kernels import CONTROL_FLOW, VARIABLES, KernelFacts
from mslite.converter.operator_pages.number_types import (
    QUANTIZES,
    float16_operators,
    int8_operators,
    quantized_operators,
)

COLUMNS = ("float32", "float16", "int8", "C", *DELEGATES, "Ethos-U", "training")
Matrix = Mapping[str, tuple[str, ...]]
"""Operator, in alphabetical order -> its cells, one for each of COLUMNS: `yes`, `part`, `other`, `-`; in the column of training
also `weights` and `step`."""


@dataclass(frozen=True)
class _Cpu:
    """Operators with a kernel for these numbers; `quantized`: those that mslite itself quantizes."""

    float16: frozenset[str]
    int8: frozenset[str]
    quantized: frozenset[str]

    def cells(self, operator: str, kernels: KernelFacts) -> tuple[str, str, str]:
        """float32, float16, int8."""
        if operator in VARIABLES | CONTROL_FLOW:
            return "yes", "part", "-"
        if operator == QUANTIZES:
            return "yes", "part", "yes"
        int8 = "-" if operator not in self.int8 else "yes" if operator in self.quantized else "part"
        if not kernels.data_types:
            return "-", "-", int8
        if "float32" not in kernels.data_types:
            return "other", "other", "other" if int8 == "-" else int8
        return "yes", "yes" if operator in self.float16 else "part", int8


def matrix(kernels: Mapping[str, KernelFacts]) -> Matrix:
    """The cells of all operators."""
    cpu = _Cpu(float16_operators(), int8_operators(), quantized_operators())
    training = training_facts(kernels)
    return {
        name: _row(name, kernels.get(name, KernelFacts()), cpu, training) for name in sorted(OPERATORS, key=str.lower)
    }


def _row(operator: str, kernels: KernelFacts, cpu: _Cpu, training: Training) -> tuple[str, ...]:
    return (
        *cpu.cells(operator, kernels),
        kernels.generated,
        *(delegate_cell(backend, operator) for backend in DELEGATES),
        ethosu_cell(operator),
        training.cell(operator),
    )
