"""Tensors of a program, by their numbers in the plan."""

from __future__ import annotations

import numpy as np

from mslite import _codegen
from mslite.codegen.lowering.liveness import needed_tensors
from mslite.codegen.lowering.steps import written_tensor
from mslite.codegen.program import Storage, Tensor
from mslite.converter.mindir.graph import numpy_type


class ProgramTensors:
    """Makes the tensors of a program on demand. `tensors[number]` is a tensor that was made or set before."""

    def __init__(self, plan: _codegen.CodegenPlan) -> None:
        self.plan = plan
        self.needed = needed_tensors(plan)
        self._written = plan.tensors  # each access makes a new list
        self._made: dict[int, Tensor] = {}
        self._variables: list[Tensor | None] = [None] * len(plan.variables)

    def __contains__(self, number: int) -> bool:
        return number in self._made

    def __getitem__(self, number: int) -> Tensor:
        return self._made[number]

    def __setitem__(self, number: int, tensor: Tensor) -> None:
        self._made[number] = tensor

    def operand(self, number: int) -> Tensor:
        """Returns a tensor that is read. If no step has made it, it is a constant."""
        if number not in self._made:
            self._made[number] = self.like(number, Storage.CONSTANT)
        return self._made[number]

    def like(self, number: int, storage: Storage) -> Tensor:
        """Makes a new tensor from the one in the plan."""
        return written_tensor(self._written[number], storage)

    def variable(self, variable: int, number: int) -> Tensor:
        """Returns a variable. Tensor `number` has the same data type and shape."""
        found = self._variables[variable]
        if found is None:
            written = self.plan.variables[variable]
            found = self._variables[variable] = self.like(number, Storage.VARIABLE)
            found.name = written.name
            found.data = np.frombuffer(written.initial, numpy_type(found.dtype)).reshape(found.shape)
        return found
