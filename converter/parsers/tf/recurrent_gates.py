"""Recognizes gates of recurrent cells: activations of sums of matmuls with constant weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, BiasAdd, DivFusion, Maximum, Minimum, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, Split, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Squeeze

Floats = npt.NDArray[np.float32]

_NAMES = {ActivationType.SIGMOID: "Sigmoid", ActivationType.TANH: "Tanh", ActivationType.RELU: "Relu"}


@dataclass(frozen=True)
class Gate:
    name: str
    parameters: tuple[float, ...]
    """Alpha and beta of the activation; empty if it has none."""
    inner: Value
    part: slice | None = None
    """The columns of `inner` that the gate reads; None: all."""


@dataclass
class Sum:
    """bias + sum of source @ products[source] + sum of source * scales[source]; all have `width` columns."""

    width: int
    bias: Floats
    products: dict[Value, Floats] = field(default_factory=dict)
    scales: dict[Value, Floats] = field(default_factory=dict)

    def columns(self, part: slice) -> Sum:
        products = {source: matrix[:, part] for source, matrix in self.products.items()}
        scales = {source: vector[part] for source, vector in self.scales.items()}
        return Sum(len(self.bias[part]), self.bias[part], products, scales)

    def add(self, other: Sum) -> None:
        self.bias = self.bias + other.bias
        for source, matrix in other.products.items():
            self.products[source] = self.products[source] + matrix if source in self.products else matrix
        for source, vector in other.scales.items():
            self.scales[source] = self.scales[source] + vector if source in self.scales else vector


def _activated(op: Operator) -> bool:
    return getattr(op, "activation_type", ActivationType.NO_ACTIVATION) is not ActivationType.NO_ACTIVATION


def is_call(value: Value, kind: type[Operator]) -> bool:
    node = value.producer
    return node is not None and isinstance(node.op, kind) and len(node.inputs) == 2 and not _activated(node.op)


def operands(value: Value, kind: type[Operator]) -> Iterator[tuple[Value, Value]]:
    """Yields the operands of the binary operator `kind` that computes a value, in both orders; nothing for other
    values."""
    if is_call(value, kind):
        assert value.producer is not None
        first, second = value.producer.inputs
        yield first, second
        yield second, first


def same_function(first: Gate, second: Gate) -> bool:
    return (first.name, first.parameters) == (second.name, second.parameters)


def _row_of(vector: Value) -> Value | None:
    """Returns the value [1, n] that was reshaped to a vector [n], or None."""
    node = vector.producer
    if node is None or not isinstance(node.op, (Squeeze, Reshape)) or vector.shape is None:
        return None
    return node.inputs[0] if node.inputs[0].shape == (1, *vector.shape) else None


def _columns_of(split: Node, value: Value) -> slice | None:
    """Returns the columns of an output of Split; None if unknown."""
    begin = 0
    for output in split.outputs:
        if output.shape is None or len(output.shape) != 2 or output.shape[1] < 0:
            return None
        if output is value:
            return slice(begin, begin + output.shape[1])
        begin += output.shape[1]
    return None


class GateReader:
    """Recognizes gates; `constant` returns the elements of a constant value, None for other values."""

    def __init__(self, constant: Callable[[Value], Array | None]) -> None:
        self.constant = constant
        self._sums: dict[Value, Sum | None] = {}

    def gate(self, value: Value) -> Gate | None:
        """Returns the gate that computes a value, or None."""
        node = value.producer
        if node is None:
            return None
        if isinstance(node.op, Activation):
            name = _NAMES.get(node.op.activation_type)
            return None if name is None else Gate(name, (), node.inputs[0])
        if isinstance(node.op, Split) and node.op.axis in (1, -1):
            whole, part = self.gate(node.inputs[0]), _columns_of(node, value)
            return None if whole is None or part is None or whole.part is not None else replace(whole, part=part)
        return self._hard_sigmoid(value)

    def _hard_sigmoid(self, value: Value) -> Gate | None:
        """Returns a hard sigmoid, or None: min(max(alpha * x + beta, 0), 1), in either order, or relu6(x + beta) /
        6."""
        sixth = self._with_number(value, DivFusion)
        relu6 = sixth[0].producer if sixth is not None and sixth[1] == 6 else None
        if relu6 is not None and isinstance(relu6.op, Activation):
            shifted = self._with_number(relu6.inputs[0], AddFusion)
            is_relu6 = relu6.op.activation_type is ActivationType.RELU6
            return (
                Gate("HardSigmoid", (1 / 6, shifted[1] / 6), shifted[0]) if shifted is not None and is_relu6 else None
            )
        bounds: dict[type[Operator], float] = {}
        for kind in (Maximum, Minimum) if is_call(value, Maximum) else (Minimum, Maximum):
            taken = self._with_number(value, kind)
            if taken is None:
                return None
            value, bounds[kind] = taken
        shifted = self._with_number(value, AddFusion)
        scaled = self._with_number(shifted[0], MulFusion) if shifted is not None else None
        if bounds != {Maximum: 0.0, Minimum: 1.0} or shifted is None or scaled is None:
            return None
        return Gate("HardSigmoid", (scaled[1], shifted[1]), scaled[0])

    def _with_number(self, value: Value, kind: type[Operator]) -> tuple[Value, float] | None:
        """Returns the operand and the scalar constant of a binary operator, or None; a divisor must be the constant."""
        for operand, other in operands(value, kind):
            if kind is DivFusion and value.producer is not None and operand is not value.producer.inputs[0]:
                continue
            number = self.constant(other)
            if number is not None and number.size == 1:
                return operand, float(np.asarray(number, np.float32).item())
        return None

    def inside(self, gate: Gate) -> Sum | None:
        """Returns the sum inside a gate, or None."""
        whole = self.sum_of(gate.inner)
        return whole if whole is None or gate.part is None else whole.columns(gate.part)

    def sums_over(self, gates: Sequence[Gate], sources: tuple[Value, Value]) -> list[Sum] | None:
        """Returns the sums inside the gates; None unless each has a matmul with both sources and no other one."""
        sums = []
        for gate in gates:
            found = self.inside(gate)
            if found is None or set(found.products) != set(sources):
                return None
            sums.append(found)
        return sums if len({found.width for found in sums}) == 1 else None

    def sum_of(self, value: Value) -> Sum | None:
        if value not in self._sums:
            self._sums[value] = None  # guards against cycles
            self._sums[value] = self._read_sum(value)
        return self._sums[value]

    def _read_sum(self, value: Value) -> Sum | None:
        node = value.producer
        if node is None or value.rank != 2 or value.shape is None or value.shape[1] < 1:
            return None
        width = value.shape[1]
        if isinstance(node.op, MatMulFusion):
            return self._product_sum(value, width)
        if isinstance(node.op, BiasAdd) or is_call(value, AddFusion):
            return self._added(node.inputs, width, value.shape[0] == 1)
        if isinstance(node.op, Split) and node.op.axis in (1, -1):
            whole, part = self.sum_of(node.inputs[0]), _columns_of(node, value)
            return None if whole is None or part is None else whole.columns(part)
        if isinstance(node.op, StridedSlice):
            return self._columns(node, node.op)
        if is_call(value, MulFusion):
            for source, other in permutations(node.inputs, 2):
                vector = self._vector(other, width)
                if vector is not None and source.rank == 2:
                    return Sum(width, np.zeros(width, np.float32), {}, {source: vector})
        return None

    def _added(self, operands: Sequence[Value], width: int, is_row: bool) -> Sum | None:
        """Returns the sum of operands, or None. If the result has a single row, an operand may be a vector."""
        total = Sum(width, np.zeros(width, np.float32))
        for operand in operands:
            vector = self._vector(operand, width)
            if is_row and operand.shape == (width,):
                operand = _row_of(operand) or operand
            part = Sum(width, vector) if vector is not None else self.sum_of(operand)
            if part is None or part.width != width:
                return None
            total.add(part)
        return total

    def _columns(self, node: Node, op: StridedSlice) -> Sum | None:
        """Returns the columns x[:, begin:end] of a sum, or None."""
        numbers = [self.constant(value) for value in node.inputs[1:]]
        whole = self.sum_of(node.inputs[0])
        if whole is None or len(numbers) != 3 or any(array is None or array.size != 2 for array in numbers):
            return None
        begin, end, stride = (np.asarray(array, np.int64).tolist() for array in numbers)
        rows_stay = op.begin_mask & 1 and op.end_mask & 1 and stride == [1, 1]
        if not rows_stay or op.ellipsis_mask or op.new_axis_mask or op.shrink_axis_mask:
            return None
        first, last = (None if op.begin_mask & 2 else begin[1]), (None if op.end_mask & 2 else end[1])
        return whole.columns(slice(first, last))

    def product(self, value: Value) -> tuple[Value, Floats] | None:
        """Returns the operand and the matrix of a matmul with a constant matrix, or None."""
        node = value.producer
        if node is None or not isinstance(node.op, MatMulFusion) or len(node.inputs) != 2 or node.op.transpose_a:
            return None
        matrix = self.constant(node.inputs[1])
        if matrix is None or matrix.ndim != 2 or matrix.dtype != np.float32 or _activated(node.op):
            return None
        array = np.asarray(matrix, np.float32)
        return node.inputs[0], array.T if node.op.transpose_b else array

    def _product_sum(self, value: Value, width: int) -> Sum | None:
        """Returns a matmul as a sum; a concatenated operand is split into its parts. None for other values."""
        found = self.product(value)
        if found is None:
            return None
        source, matrix = found
        joined = source.producer
        parts = (
            joined.inputs
            if joined is not None and isinstance(joined.op, Concat) and joined.op.axis in (1, -1)
            else (source,)
        )
        total, begin = Sum(width, np.zeros(width, np.float32)), 0
        for part in parts:
            if part.shape is None or len(part.shape) != 2 or part.shape[1] < 0:
                return None
            rows = matrix[begin : begin + part.shape[1]]
            total.add(Sum(width, np.zeros(width, np.float32), {part: rows}))
            begin += part.shape[1]
        return total if begin == len(matrix) else None

    def _vector(self, value: Value, width: int) -> Floats | None:
        """Returns a constant vector that broadcasts over rows, or None."""
        array = self.constant(value)
        if array is None or array.dtype != np.float32 or array.ndim > 2 or array.size not in (1, width):
            return None
        if array.size > 1 and array.shape[-1] != width:
            return None
        return np.broadcast_to(np.asarray(array, np.float32).reshape(-1), (width,)).copy()
