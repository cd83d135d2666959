"""Makes steps that do not come from a node (copies, control flow), and tensors from a plan."""

from __future__ import annotations

import math

import numpy as np

from mslite import _codegen
from mslite.codegen.program import CONTROL, COPY, ControlFlowNest, Step, Storage, Tensor
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN


def written_tensor(written: _codegen.CodegenTensor, storage: Storage) -> Tensor:
    """Makes a tensor from one of a plan."""
    dtype = DataType(written.dtype)
    shape = tuple(written.dims)
    element = numpy_type(dtype)
    data = None
    if written.data is not None and storage is Storage.CONSTANT:
        data = np.frombuffer(written.data, element).reshape(shape)
    return Tensor(written.name, dtype, shape, storage, math.prod(shape) * element.itemsize, data, _records(written))


def _records(written: _codegen.CodegenTensor) -> tuple[QuantParam, ...]:
    rounding = ROUND_HALF_TO_EVEN if written.rounds_even else QuantParam().roundType
    return tuple(
        QuantParam(scale=scale, zeroPoint=zero, dstDtype=source, roundType=rounding)
        for scale, zero, source in written.quant
    )


def root(tensor: Tensor) -> Tensor:
    """Returns the tensor whose memory an alias uses."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def copy_step(value: Tensor, target: Tensor) -> Step:
    """Makes a step that copies `value` to `target`."""
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


def control_step(name: str, nest: ControlFlowNest, inputs: list[Tensor], outputs: list[Tensor]) -> Step:
    """Makes a step that runs a nest."""
    return Step(
        name=name,
        operator="Loop" if nest.loops else "Branch",
        kernel=CONTROL,
        inputs=list(inputs),
        outputs=outputs,
        derived=b"",
        parts=(1,),
        shared_size=0,
        scratch_size=0,
        nest=nest,
    )


def with_rows(tensor: Tensor, rows: int) -> Tensor:
    """Makes a tensor like `tensor` with another number of rows."""
    shape = (tensor.shape[0], rows, *tensor.shape[2:])
    return Tensor(
        tensor.name,
        tensor.dtype,
        shape,
        Storage.ACTIVATION,
        math.prod(shape) * numpy_type(tensor.dtype).itemsize,
        quant=tensor.quant,
    )


class VariableSnapshots:
    """Makes copies of the old values of variables, for readers after the assignment."""

    def __init__(self, assigned: set[Tensor]) -> None:
        self.steps: list[Step] = []
        self._assigned = assigned
        self._copies: dict[Tensor, Tensor] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """Returns the tensor, or a copy of its old value if it is a variable that is assigned."""
        if root(tensor) not in self._assigned:
            return tensor
        if tensor not in self._copies:
            copy = Tensor(f"{tensor.name}_before", tensor.dtype, tensor.shape, Storage.ACTIVATION, tensor.size)
            copy.quant = tensor.quant
            self._copies[tensor] = copy
            self.steps.append(copy_step(tensor, copy))
        return self._copies[tensor]
