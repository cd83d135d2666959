"""Steps that come from no node of their own, and tensors as a written plan has them."""

from __future__ import annotations

import math

import numpy as np

from mslite import _codegen
from mslite.codegen.program import CONTROL, COPY, Nest, Step, Storage, Tensor
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN


def written_tensor(written: _codegen.WrittenTensor, storage: Storage) -> Tensor:
    dtype = DataType(written.dtype)
    shape = tuple(written.dims)
    element = numpy_type(dtype)
    data = None
    if written.data is not None and storage is Storage.CONSTANT:
        data = np.frombuffer(written.data, element).reshape(shape)
    return Tensor(written.name, dtype, shape, storage, math.prod(shape) * element.itemsize, data, _records(written))


def _records(written: _codegen.WrittenTensor) -> tuple[QuantParam, ...]:
    rounding = ROUND_HALF_TO_EVEN if written.rounds_even else QuantParam().roundType
    return tuple(
        QuantParam(scale=scale, zeroPoint=zero, dstDtype=source, roundType=rounding)
        for scale, zero, source in written.quant
    )


def root(tensor: Tensor) -> Tensor:
    """The tensor whose memory it is."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def copy_step(value: Tensor, target: Tensor) -> Step:
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


def control_step(name: str, nest: Nest, inputs: list[Tensor], outputs: list[Tensor]) -> Step:
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


class OldValues:
    """Copies of what variables held before this run gave them other values, for those who read it afterwards."""

    def __init__(self, assigned: set[Tensor]) -> None:
        self.steps: list[Step] = []
        self._assigned = assigned
        self._copies: dict[Tensor, Tensor] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """The tensor, or the copy of it where it is a variable that is assigned."""
        if root(tensor) not in self._assigned:
            return tensor
        if tensor not in self._copies:
            copy = Tensor(f"{tensor.name}_before", tensor.dtype, tensor.shape, Storage.ACTIVATION, tensor.size)
            copy.quant = tensor.quant
            self._copies[tensor] = copy
            self.steps.append(copy_step(tensor, copy))
        return self._copies[tensor]
