"""A common form of the inputs of all recurrent operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.recurrent import GRU, LSTM, GRUSequence, LSTMSequence, RNNSequence
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, is_quantized
from mslite.converter.passes.target.writer import Writer

Numbers = npt.NDArray[np.float32]
General = RNNSequence | GRUSequence | LSTMSequence

GATES = {"RNNSequence": 1, "GRUSequence": 3, "LSTMSequence": 4}
_DEFAULTS = {
    "RNNSequence": ("Tanh",),
    "GRUSequence": ("Sigmoid", "Tanh"),
    "LSTMSequence": ("Sigmoid", "Tanh", "Tanh"),
}
REMEDY = "Leave out --targetVersion, or export the layer in another form"


@dataclass(frozen=True)
class Layer:
    """A recurrent layer. x is [time, batch, input]; the first dimension of all other tensors is the directions."""

    op: General
    x: Value
    w: Numbers
    r: Numbers
    bias: Numbers
    """[directions, 2 * gates * hidden]: for x, then for the hidden state."""
    lengths: Value | None = None
    hidden: Value | None = None
    """[directions, batch, state]; None: zeros."""
    cell: Value | None = None
    peepholes: Numbers | None = None
    projection: Numbers | None = None
    projection_bias: Numbers | None = None
    normalization: Numbers | None = None

    @property
    def gates(self) -> int:
        return GATES[self.op.name]

    @property
    def directions(self) -> int:
        return int(self.w.shape[0])

    @property
    def units(self) -> int:
        return int(self.w.shape[1]) // self.gates

    @property
    def state(self) -> int:
        """The size of the hidden state, after a projection."""
        return int(self.r.shape[2])

    @property
    def reversed(self) -> bool:
        return self.op.direction == "reverse"

    def functions(self) -> list[str]:
        """ONNX's names of the activations, for all directions."""
        return self.op.activations.split() if self.op.activations else [*_DEFAULTS[self.op.name]] * self.directions

    def is_plain(self) -> bool:
        """Whether the layer has the usual formulas with weights, biases and initial states only."""
        more = (self.peepholes, self.projection, self.normalization)
        flags = [self.op.clip]
        if isinstance(self.op, LSTMSequence):
            flags += [self.op.input_forget, self.op.input_is_rest, self.op.cell_clip]
        if isinstance(self.op, GRUSequence):
            flags.append(self.op.linear_before_reset)
        usual = [*_DEFAULTS[self.op.name]] * self.directions
        return self.functions() == usual and not any(flags) and all(one is None for one in more)


def read_layer(node: Node, writer: Writer) -> Layer:
    """Returns the inputs of a node, time first and dequantized. Raises Blocked."""
    if node.inputs[0].rank != 3:
        raise Blocked("the rank of its input is unknown", REMEDY)
    if isinstance(node.op, LSTM):
        return _lstm(node, node.op, writer)
    if isinstance(node.op, GRU):
        general = GRUSequence(
            direction="bidirectional" if node.op.bidirectional else "forward",
            has_bias=True,
            has_sequence_lengths=len(node.inputs) > 5,
            has_initial_hidden=True,
        )
        order = (0, 1, 2, 3, 5, 4) if len(node.inputs) > 5 else (0, 1, 2, 3, 4)
        return _general(node, general, order, writer)
    assert isinstance(node.op, General)
    return _general(node, node.op, range(len(node.inputs)), writer)


def _general(node: Node, op: General, order: Sequence[int], writer: Writer) -> Layer:
    rest = iter(order[3:])

    def place(flag: str) -> int | None:
        return next(rest) if getattr(op, flag, False) else None

    def numbers(index: int | None) -> Numbers | None:
        return None if index is None else real_array(node, index)

    def value(index: int | None) -> Value | None:
        return None if index is None else real_value(node, index, writer)

    w, r = real_array(node, order[1]), real_array(node, order[2])
    bias = numbers(place("has_bias"))
    lengths = place("has_sequence_lengths")
    hidden = value(place("has_initial_hidden"))
    cell = value(place("has_initial_cell"))
    layer = Layer(
        op,
        real_value(node, order[0], writer),
        w,
        r,
        np.zeros((w.shape[0], 2 * w.shape[1]), np.float32) if bias is None else bias,
        None if lengths is None else node.inputs[lengths],
        hidden,
        cell,
        peepholes=numbers(place("has_peepholes")),
        projection=numbers(place("has_projection")),
        projection_bias=numbers(place("has_projection_bias")),
        normalization=numbers(place("has_normalization")),
    )
    if getattr(op, "rounding", 0):
        writer.context.note(
            f"'{node.name}' rounds its state to 8 bits in each step, which the target version does not: its weights "
            "become "
            "float values"
        )
    return _time_first(layer, writer)


def _time_first(layer: Layer, writer: Writer) -> Layer:
    if not layer.op.layout:
        return layer
    swap = writer.ints(1, 0, 2)

    def swapped(value: Value | None) -> Value | None:
        return None if value is None else writer.emit(Transpose(), value, swap)

    x, hidden, cell = writer.emit(Transpose(), layer.x, swap), swapped(layer.hidden), swapped(layer.cell)
    return replace(layer, x=x, hidden=hidden, cell=cell)


def _lstm(node: Node, op: LSTM, writer: Writer) -> Layer:
    if op.zoneout_cell or op.zoneout_hidden:
        raise Blocked("zoneout is not supported", REMEDY)
    inputs = list(node.inputs)
    if len(inputs) == 4:
        raise Blocked("its weights are one vector, as in MINDIR files", REMEDY)
    general = LSTMSequence(
        direction="bidirectional" if op.bidirectional else "forward",
        has_bias=len(inputs) > 3,
        has_initial_hidden=len(inputs) > 4,
        has_initial_cell=len(inputs) > 5,
        has_projection=len(inputs) > 6,
    )
    return _general(node, general, range(len(inputs)), writer)


def real_array(node: Node, index: int) -> Numbers:
    """Returns the elements of a constant input, dequantized to float32. Raises Blocked."""
    value = node.inputs[index]
    if value.data is None:
        raise Blocked(f"'{value.name}' is computed at run time", REMEDY)
    if value.quant and value.dtype in (DataType.INT8, DataType.INT16, DataType.INT32):
        try:
            return dequantized_array(value.data, value.quant, channel_axis(node.op, index, node.inputs))
        except ValueError as error:
            raise Blocked(f"the scales of '{value.name}' have the wrong shape: {error}", REMEDY) from None
    return np.asarray(value.data, np.float32)


def real_value(node: Node, index: int, writer: Writer) -> Value:
    """Returns an input, dequantized. Raises Blocked."""
    value = node.inputs[index]
    if value.data is not None:
        return writer.const(real_array(node, index), name=value.name)
    if not is_quantized(value):
        return value
    if value.dtype is not DataType.INT8:
        raise Blocked(f"'{value.name}' is int16", REMEDY)
    return writer.emit(QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.FLOAT32)), value)


def zero_state(layer: Layer, size: int, name: str, writer: Writer) -> Value:
    """Returns zeros [directions, batch, size]; a dynamic batch size is taken from x."""
    assert layer.x.shape is not None
    batch = layer.x.shape[1]
    if batch >= 0:
        return writer.const(np.zeros((layer.directions, batch, size)), name=name)
    sums = writer.emit(ReduceFusion(mode=ReduceMode.ReduceSum, keep_dims=True), layer.x, writer.ints(0, 2))
    return writer.emit(MulFusion(), sums, writer.const(np.zeros((layer.directions, 1, size)), name=name))
