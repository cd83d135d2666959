"""Connects steps of a program with those of the runtime's plan, which prepares kernels for parts of them."""

from __future__ import annotations

from dataclasses import replace

from mslite import _codegen
from mslite.codegen.lowering.steps import with_rows
from mslite.codegen.program import Band, Program, Step, Tensor


class PlanSteps:
    """Maps steps of the program to steps of the plan."""

    def __init__(self, plan: _codegen.CodegenPlan, target: str) -> None:
        self._plan = plan
        self._target = target
        self._numbers: dict[Step, int] = {}
        """Indices of the steps in the plan."""

    def note(self, step: Step, number: int) -> None:
        """Records that `step` is step `number` of the plan."""
        self._numbers[step] = number

    def program(self, name: str, inputs: list[Tensor], outputs: list[Tensor], steps: list[Step]) -> Program:
        """Returns a program with functions that prepare kernels for parts of its steps."""
        return Program(name, self._target, inputs, outputs, steps, self._cut, self._cut_channels, self._call_numbers)

    def _cut(self, step: Step, band: Band) -> Step | None:
        """Implements `Program.cut`."""
        number = self._numbers[step]
        written = self._plan.cut(number, band.pad_before, band.rows_in, band.pad_after, band.rows_out)
        if written is None:
            return None
        target = step.outputs[0]
        assert step.rows is not None
        places = (step.rows.input, *step.rows.others)
        inputs = [
            with_rows(operand, band.rows_in) if operand is not None and place in places else operand
            for place, operand in enumerate(step.inputs)
        ]
        return replace(
            step,
            inputs=inputs,
            outputs=[with_rows(target, band.rows_out)],
            derived=written.derived,
            parts=tuple(written.parts),
            shared_size=written.shared_bytes,
            scratch_size=written.scratch_bytes,
            in_place=-1,
            overlaps=(),
            macs=step.macs * band.rows_out // target.shape[1],
            rows=None,
        )

    def _cut_channels(self, step: Step, first: int, count: int) -> Step | None:
        """Implements `Program.cut_channels`."""
        written = self._plan.cut_channels(self._numbers[step], first, count)
        if written is None:
            return None
        return replace(
            step,
            derived=written.derived,
            parts=tuple(written.parts),
            shared_size=written.shared_bytes,
            scratch_size=written.scratch_bytes,
            packed=dict(written.packed),
        )

    def _call_numbers(self, step: Step) -> _codegen.Int8CallParameters | None:
        """Implements `Program.numbers`."""
        if step not in self._numbers:
            return None
        return self._plan.numbers(self._numbers[step])
