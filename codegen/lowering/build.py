"""A written plan becomes a `Program`: dead steps go, reshapes become aliases, variables are copied at the end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mslite import _codegen
from mslite.codegen.program import COPY, Band, Overlap, Program, RowWise, Step, Storage, Tensor
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantised import ROUND_HALF_TO_EVEN

ALIASES = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims"})
"""Operators that give the same elements, in the same order, another shape."""

_PRODUCTS = frozenset(
    {"Conv2DFusion", "Conv2DAddFusion", "Conv2dTransposeFusion", "MatMulFusion", "FullConnection", "LSTM", "GRU"}
)
"""Operators whose floating-point operations are multiply-accumulates, two for each."""


def program_of(plan: _codegen.WrittenPlan, name: str, target: str) -> Program:
    return _Builder(plan).build(name, target)


class _Builder:
    def __init__(self, plan: _codegen.WrittenPlan) -> None:
        self._plan = plan
        self._written = plan.tensors
        self._tensors: dict[int, Tensor] = {}
        self._numbers: dict[Step, int] = {}
        """Places of steps in the written plan."""

    def build(self, name: str, target: str) -> Program:
        for number in self._plan.inputs:
            self._tensors[number] = self._tensor(number, Storage.INPUT)
        variables = [self._variable(variable) for variable in self._plan.variables]
        steps = []
        for number, step in _live(self._plan):
            if step.op in ALIASES and step.in_place == 0:
                source = self._operand(step.inputs[0])
                alias = self._tensor(step.outputs[0], Storage.ACTIVATION)
                alias.alias_of = source
                alias.storage = source.storage
                self._tensors[step.outputs[0]] = alias
            else:
                steps.append(self._step(step))
                self._numbers[steps[-1]] = number
        assigned = [
            (variable, self._operand(number))
            for variable, written in zip(variables, self._plan.variables, strict=True)
            for number in written.writes
        ]
        old = _OldValues({variable for variable, _ in assigned})
        moves = [(variable, old.of(value)) for variable, value in assigned if _root(value) is not variable]
        inputs = [self._tensors[number] for number in self._plan.inputs]
        outputs = [old.of(self._operand(number)) for number in self._plan.outputs]
        steps += [*old.steps, *(_copy(value, variable) for variable, value in moves)]
        return Program(name, target, inputs, outputs, steps, self._cut, self._cut_channels, self._call_numbers)

    def _step(self, step: _codegen.WrittenStep) -> Step:
        packed = dict(step.packed)
        inputs = [self._operand(number, has_data=place not in packed) for place, number in enumerate(step.inputs)]
        for number in step.outputs:
            self._tensors[number] = self._tensor(number, Storage.ACTIVATION)
        return Step(
            name=step.name,
            operator=step.op,
            kernel=step.kernel,
            inputs=[None if place in step.unread else tensor for place, tensor in enumerate(inputs)],
            outputs=[self._tensors[number] for number in step.outputs],
            derived=step.derived,
            parts=tuple(step.parts),
            shared_size=step.shared_bytes,
            scratch_size=step.scratch_bytes,
            packed=packed,
            in_place=step.in_place,
            overlaps=tuple(Overlap(place, lead) for place, lead in enumerate(step.leads) if lead >= 0),
            macs=step.flops // 2 if step.op in _PRODUCTS else 0,
            rows=self._rows(step),
        )

    def _rows(self, step: _codegen.WrittenStep) -> RowWise | None:
        if not step.rows[0]:
            return None
        others = [place for place, number in enumerate(step.inputs) if place and self._is_computed(number)]
        return RowWise(*step.rows, others=tuple(others))

    def _is_computed(self, number: int) -> bool:
        return number in self._tensors and self._tensors[number].storage is not Storage.CONSTANT

    def _cut(self, step: Step, band: Band) -> Step | None:
        """`Program.cut`."""
        number = self._numbers[step]
        written = self._plan.cut(number, band.pad_before, band.rows_in, band.pad_after, band.rows_out)
        if written is None:
            return None
        target = step.outputs[0]
        assert step.rows is not None
        places = (step.rows.input, *step.rows.others)
        inputs = [
            _with_rows(operand, band.rows_in) if operand is not None and place in places else operand
            for place, operand in enumerate(step.inputs)
        ]
        return replace(
            step,
            inputs=inputs,
            outputs=[_with_rows(target, band.rows_out)],
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
        """`Program.cut_channels`."""
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

    def _call_numbers(self, step: Step) -> _codegen.CallNumbers | None:
        """`Program.numbers`."""
        if step not in self._numbers:
            return None
        return self._plan.numbers(self._numbers[step])

    def _operand(self, number: int, has_data: bool = True) -> Tensor:
        if number not in self._tensors:
            self._tensors[number] = self._tensor(number, Storage.CONSTANT)
        return self._tensors[number]

    def _tensor(self, number: int, storage: Storage) -> Tensor:
        written = self._written[number]
        dtype = DataType(written.dtype)
        shape = tuple(written.dims)
        element = numpy_type(dtype)
        data = None
        if written.data is not None and storage is Storage.CONSTANT:
            data = np.frombuffer(written.data, element).reshape(shape)
        return Tensor(written.name, dtype, shape, storage, math.prod(shape) * element.itemsize, data, _records(written))

    def _variable(self, variable: _codegen.WrittenVariable) -> Tensor:
        number = (variable.reads or variable.writes)[0]
        tensor = self._tensor(number, Storage.VARIABLE)
        tensor.name = variable.name
        tensor.data = np.frombuffer(variable.initial, numpy_type(tensor.dtype)).reshape(tensor.shape)
        for read in variable.reads:
            self._tensors[read] = tensor
        return tensor


class _OldValues:
    """Copies of what variables held before this run gave them other values, for those who read it afterwards."""

    def __init__(self, assigned: set[Tensor]) -> None:
        self.steps: list[Step] = []
        self._assigned = assigned
        self._copies: dict[Tensor, Tensor] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """The tensor, or the copy of it where it is a variable that is assigned."""
        if _root(tensor) not in self._assigned:
            return tensor
        if tensor not in self._copies:
            copy = Tensor(f"{tensor.name}_before", tensor.dtype, tensor.shape, Storage.ACTIVATION, tensor.size)
            copy.quant = tensor.quant
            self._copies[tensor] = copy
            self.steps.append(_copy(tensor, copy))
        return self._copies[tensor]


def _root(tensor: Tensor) -> Tensor:
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def _copy(value: Tensor, target: Tensor) -> Step:
    return Step(
        name=target.name,
        operator="AssignVariable" if target.storage is Storage.VARIABLE else "Identity",
        kernel=COPY,
        inputs=[value],
        outputs=[target],
        derived=b"",
        parts=(1,),
        shared_size=0,
        scratch_size=0,
    )


def _with_rows(tensor: Tensor, rows: int) -> Tensor:
    """A tensor of its own, like `tensor` but for the number of rows."""
    shape = (tensor.shape[0], rows, *tensor.shape[2:])
    return Tensor(
        tensor.name,
        tensor.dtype,
        shape,
        Storage.ACTIVATION,
        math.prod(shape) * numpy_type(tensor.dtype).itemsize,
        quant=tensor.quant,
    )


def _live(plan: _codegen.WrittenPlan) -> list[tuple[int, _codegen.WrittenStep]]:
    """The steps that some output or variable depends on, with their numbers, in their order."""
    needed = {*plan.outputs, *(number for variable in plan.variables for number in variable.writes)}
    live = []
    for number, step in reversed(list(enumerate(plan.steps))):
        if needed.intersection(step.outputs):
            needed.update(step.inputs)
            live.append((number, step))
    return live[::-1]


def _records(written: _codegen.WrittenTensor) -> tuple[QuantParam, ...]:
    rounding = ROUND_HALF_TO_EVEN if written.rounds_even else QuantParam().roundType
    return tuple(
        QuantParam(scale=scale, zeroPoint=zero, dstDtype=source, roundType=rounding)
        for scale, zero, source in written.quant
    )
