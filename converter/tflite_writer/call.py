"""Call: a MindIR node as its writer sees it, with operands as TensorFlow Lite tensors, and emission of operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Node, Value, data_type_of
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import ActivationType, DataType, PadMode
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import SHIFTS, channel_axis, same_quant_params

from .model import Operation, Tensor

SAME, VALID = 0, 1
_FUSED = {ActivationType.NO_ACTIVATION: 0, ActivationType.RELU: 1, ActivationType.RELU1: 2, ActivationType.RELU6: 3}


def _of_unsigned(records: Sequence[QuantParam]) -> bool:
    """Returns whether values with these quantization parameters are uint8 in the source."""
    return bool(records) and DataType(records[0].dstDtype) is DataType.UINT8


class NotRepresentable(Exception):
    """No TensorFlow Lite operation has bit-identical results for a node; `str()` is the reason."""


class OperationList:
    """The operations of a file so far, and one tensor for each value."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._tensors: dict[int, Tensor] = {}
        self._names: set[str] = set()

    @staticmethod
    def is_unsigned(value: Value) -> bool:
        """Returns whether an activation is uint8 in the file."""
        return value.dtype is DataType.UINT8 or _of_unsigned(value.quant)

    def tensor(self, value: Value) -> Tensor:
        """Returns the tensor of an activation."""
        if id(value) not in self._tensors:
            self._tensors[id(value)] = self.new(value.name, value.dtype, value.shape or (), records=value.quant)
        return self._tensors[id(value)]

    def new(
        self,
        name: str,
        dtype: DataType,
        shape: Sequence[int],
        data: Array | None = None,
        records: tuple[QuantParam, ...] = (),
        axis: int = 0,
    ) -> Tensor:
        """Returns a new tensor; values that are uint8 in the source become uint8 again."""
        if dtype is DataType.INT8 and _of_unsigned(records):
            shift = SHIFTS[DataType.UINT8]
            dtype = DataType.UINT8
            records = tuple(replace(record, zeroPoint=record.zeroPoint + shift) for record in records)
            data = None if data is None else (data.astype(np.int16) + shift).astype(np.uint8)
        return Tensor(self._unique(name), dtype, tuple(shape), data, records, axis)

    def _unique(self, name: str) -> str:
        wish, number = name, 1
        while wish in self._names:
            wish, number = f"{name}_{number}", number + 1
        self._names.add(wish)
        return wish


class Call:
    """A node. Writers read it through these methods and `emit` operations; for unsupported nodes, they raise
    `refuse(...)`."""

    def __init__(self, writing: OperationList, node: Node) -> None:
        self.writing = writing
        self.node = node
        self.op: Operator = node.op

    def refuse(self, reason: str) -> NotRepresentable:
        return NotRepresentable(reason)

    # ---- operands ----

    @property
    def input_count(self) -> int:
        return len(self.node.inputs)

    def value(self, index: int) -> Value:
        return self.node.inputs[index]

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Returns the shape of an input, which is fixed."""
        return self.node.inputs[index].shape or ()

    @property
    def output_shape(self) -> tuple[int, ...]:
        return self.node.outputs[0].shape or ()

    def input(self, index: int = 0) -> Tensor:
        """Returns the tensor of an operand: an activation, or a constant."""
        value = self.value(index)
        if value.data is None:
            return self.writing.tensor(value)
        axis = channel_axis(self.op, index, self.node.inputs)
        return self.writing.new(value.name, value.dtype, value.data.shape, value.data, value.quant, axis)

    def inputs(self) -> list[Tensor]:
        return [self.input(index) for index in range(self.input_count)]

    def output(self, index: int = 0) -> Tensor:
        return self.writing.tensor(self.node.outputs[index])

    def outputs(self) -> list[Tensor]:
        return [self.output(index) for index in range(len(self.node.outputs))]

    def weight(self, index: int, perm: tuple[int, ...] | None = None, axis: int = 0) -> Tensor:
        """Returns constant weights, transposed by `perm`; per-channel scales are for dimension `axis` of the result.
        Raises NotRepresentable."""
        value = self.value(index)
        if value.data is None:
            raise self.refuse("its weights are computed")
        if not _of_unsigned(value.quant) and any(record.zeroPoint for record in value.quant):
            raise self.refuse("its weights have a zero point")
        data = value.data if perm is None else value.data.transpose(perm)
        if len(value.quant) not in (1, data.shape[axis]):
            raise self.refuse(f"its weights have {len(value.quant)} scales, not one or one for each channel")
        return self.writing.new(value.name, value.dtype, data.shape, data, value.quant, axis)

    def bias(self, index: int, channels: int) -> Tensor:
        """Returns the bias, int32 with the scales of x * weight; zeros if the node has none, because convolutions need
        one. Raises NotRepresentable."""
        x, weights = self.value(0).quant[0], self.value(1).quant
        records = tuple(QuantParam(scale=x.scale * record.scale) for record in weights)
        if index >= self.input_count:
            return self.writing.new(
                f"{self.node.name}/bias", DataType.INT32, (channels,), np.zeros(channels, np.int32), records
            )
        value = self.value(index)
        if value.data is None or value.data.dtype != np.int32 or value.data.size != channels:
            raise self.refuse("its bias is not a constant with an int32 for each channel")
        return self.writing.new(value.name, DataType.INT32, (channels,), value.data.reshape(-1), records)

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """Returns the contents of an integer operand. Raises NotRepresentable if it is not constant."""
        data = self.value(index).data
        if data is None or data.dtype.kind not in "iu":
            raise self.refuse(f"{what} are computed")
        return tuple(int(number) for number in data.reshape(-1))

    def constant(self, name: str, data: npt.ArrayLike) -> Tensor:
        """Returns a new int32 constant: axes, shapes, paddings."""
        array = np.asarray(data, np.int32)
        return self.writing.new(f"{self.node.name}/{name}", data_type_of(array), array.shape, array)

    def require_equal_quant_params(self) -> None:
        """Raises NotRepresentable unless all int8 operands and results have the same quantization parameters."""
        values = [*self.node.inputs, *self.node.outputs]
        if not all(same_quant_params(one.quant, values[0].quant) for one in values if one.dtype is DataType.INT8):
            raise self.refuse("its operands and results have different scales")

    # ---- attributes of many operators ----

    def fused(self, kind: ActivationType) -> int:
        """Returns the code of a fused activation. Raises NotRepresentable."""
        if kind not in _FUSED:
            raise self.refuse(f"TensorFlow Lite cannot fuse {kind.name} with it")
        return _FUSED[kind]

    def padding(
        self,
        mode: PadMode,
        pads: Sequence[int],
        kernel: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int] = (1, 1),
    ) -> int | None:
        """Returns SAME or VALID if it is equivalent to the node's padding, else None."""
        height, width = self.shape()[1:3]
        before, after, fits = [], [], []
        for size, window, step, gap, result in zip(
            (height, width), kernel, stride, dilation, self.output_shape[1:3], strict=True
        ):
            extent = (window - 1) * gap + 1
            total = max((result - 1) * step + extent - size, 0)
            before.append(total // 2)
            after.append(total - total // 2)
            fits.append((result == -(-size // step), result == (size - extent) // step + 1))
        if mode is PadMode.SAME or (mode is PadMode.PAD and any(pads)):
            same = [before[0], after[0], before[1], after[1]]
            is_same = all(one for one, _ in fits) and (mode is PadMode.SAME or list(pads) == same)
            return SAME if is_same else None
        return VALID if all(one for _, one in fits) else None

    def bordered(self, pads: Sequence[int] | None, filling: int | None = None) -> Tensor:
        """Returns the image, padded by [top, bottom, left, right] with zeros, or with the stored integer `filling`.
        Raises NotRepresentable."""
        if not pads or len(pads) != 4 or min(pads) < 0:
            raise self.refuse("its padding does not match its sizes")
        top, bottom, left, right = pads
        value = self.value(0)
        batch, height, width, channels = self.shape()
        shape = (batch, height + top + bottom, width + left + right, channels)
        padded = self.writing.new(f"{self.node.name}/padded", value.dtype, shape, records=value.quant)
        operands = [self.input(), self.constant("border", [[0, 0], [top, bottom], [left, right], [0, 0]])]
        if filling is None:
            self.emit("PAD", operands, [padded])
        else:
            filled = np.array([filling], np.int8)
            operands.append(self.writing.new(f"{self.node.name}/filling", value.dtype, (1,), filled, value.quant))
            self.emit("PADV2", operands, [padded])
        return padded

    # ---- emission of operations ----

    def emit(
        self, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor] | None = None, **options: float
    ) -> None:
        """Adds an operation; its outputs are the node's by default."""
        self.writing.operations.append(Operation(name, inputs, outputs or self.outputs(), options))
