"""8-bit graphs for the tests of Ethos-U."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode, QuantType
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Ceil

RECORD = QuantParam(scale=0.25, zeroPoint=-7)
SHAPE = (1, 8, 8, 4)


class Builder:
    """Adds nodes on tensors with one shape and the same quantization parameters; `unsigned`: as from a uint8 source model."""

    def __init__(self, unsigned: bool = False) -> None:
        self.unsigned = unsigned
        self.record = QuantParam(scale=0.25, zeroPoint=-7, dstDtype=int(DataType.UINT8 if unsigned else DataType.INT8))
        self.graph = Graph("main")

    def input(self, name: str = "x") -> Value:
        self.graph.inputs.append(self._value(name))
        return self.graph.inputs[-1]

    def _value(self, name: str) -> Value:
        return Value(name, DataType.INT8, SHAPE, None, Format.NHWC, (self.record,))

    def node(self, op: Operator, *inputs: Value, name: str) -> Value:
        result = self._value(name)
        self.graph.nodes.append(Node(op, f"{name}_node", inputs, (result,), QuantType.QUANT_ALL))
        return result

    def convolution(self, x: Value, name: str) -> Value:
        weight = constant(f"{name}/weight", (np.arange(4 * 9 * 4).reshape(4, 3, 3, 4) % 255 - 127).astype(np.int8))
        kind, scales = self.record.dstDtype, [0.01] if self.unsigned else [0.01, 0.02, 0.03, 0.04]
        weight.quant = tuple(QuantParam(scale=float(np.float32(scale)), dstDtype=kind) for scale in scales)
        bias = constant(f"{name}/bias", np.array([100, -200, 0, 7], np.int32))
        bias.quant = tuple(QuantParam(scale=self.record.scale * record.scale) for record in weight.quant)
        op = Conv2DFusion(
            format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.SAME,
            pad_list=(0,) * 4, mode=1, group=1, in_channel=4, out_channel=4, activation_type=ActivationType.RELU6,
        )  # fmt: skip
        return self.node(op, x, weight, bias, name=name)

    def add(self, a: Value, b: Value, name: str) -> Value:
        return self.node(AddFusion(), a, b, name=name)

    def times(self, a: Value, b: Value, name: str) -> Value:
        return self.node(MulFusion(), a, b, name=name)

    def pool(self, x: Value, name: str) -> Value:
        op = MaxPoolFusion(kernel_size=(3, 3), strides=(1, 1), pad=(0,) * 4, pad_mode=PadMode.SAME, format=Format.NHWC)
        return self.node(op, x, name=name)

    def leaky(self, x: Value, name: str) -> Value:
        return self.node(Activation(activation_type=ActivationType.LEAKY_RELU, alpha=0.125), x, name=name)

    def foreign(self, x: Value, name: str) -> Value:
        """Returns a quantized node that is not written to a file."""
        return self.node(Ceil(), x, name=name)

    def unsigned_border(self, x: Value, name: str, dtype: DataType) -> Value:
        """Returns a cast between int8 and uint8, as at the inputs and outputs of a model."""
        record = QuantParam(scale=0.25, zeroPoint=121, dstDtype=int(DataType.UINT8))
        result = Value(name, dtype, SHAPE, None, Format.NHWC, (record if dtype is DataType.UINT8 else self.record,))
        op = QuantDTypeCast(src_t=int(x.dtype), dst_t=int(dtype))
        self.graph.nodes.append(Node(op, f"{name}_node", (x,), (result,)))
        return result

    def module(self, *outputs: Value) -> Module:
        self.graph.outputs = list(outputs)
        return Module([self.graph])


def names(nodes: Sequence[Node]) -> list[str]:
    return [node.name for node in nodes]
