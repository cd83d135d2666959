"""Lowers recurrent layers to MindSpore Lite's LSTM and GRU if these are equivalent, else unrolls them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.assembly import PadFusion, Split
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import ReverseV2, Transpose
from mslite.converter.mindir.ops.recurrent import GRU, LSTM
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes.target.decompositions.recurrent_layer import REMEDY, Layer, Numbers, read_layer, zero_state
from mslite.converter.passes.target.decompositions.recurrent_unrolling import unroll
from mslite.converter.passes.target.writer import Writer, decomposes

_TILE = 16
"""Units are padded to a multiple of this: kernels read the weights of each gate at a multiple of the packing tile,
which is at most
16."""


@decomposes("RNNSequence GRUSequence LSTMSequence GRU LSTM")
def recurrent(node: Node, writer: Writer, version: Version) -> Sequence[Value]:
    layer = read_layer(node, writer)
    results = _native(layer, writer) if _is_native(layer) else unroll(layer, writer)
    for old in node.outputs:
        if _is_read(old, writer) and is_quantized(old) and old.dtype is not DataType.INT8:
            raise Blocked(f"its result '{old.name}' is int16", REMEDY)
    return [
        _as_wanted(layer, old, new, index, writer)
        for index, (old, new) in enumerate(zip(node.outputs, results, strict=True))
    ]


def _is_read(value: Value, writer: Writer) -> bool:
    return bool(value.users) or value in writer.graph.outputs


def _is_native(layer: Layer) -> bool:
    """Returns whether MindSpore Lite has an equivalent operator. Its GRU applies the reset gate before the matmul."""
    return layer.op.name != "RNNSequence" and layer.is_plain() and not _stops_early(layer)


def _stops_early(layer: Layer) -> bool:
    """Returns whether sequences may be shorter than x: MindSpore Lite's GRU returns the states of the last step,
    ignoring lengths."""
    if layer.lengths is None:
        return False
    assert layer.x.shape is not None
    return layer.lengths.data is None or bool(np.any(layer.lengths.data.astype(np.int64) != layer.x.shape[0]))


def _native(layer: Layer, writer: Writer) -> list[Value]:
    assert layer.x.shape is not None
    units = layer.units
    wide = units if layer.x.shape[1] == 1 else -(-units // _TILE) * _TILE
    x = writer.emit(ReverseV2(axis=(0,)), layer.x) if layer.reversed else layer.x
    operands = [
        x,
        writer.const(_widened(layer, layer.w, wide), name="weight_input"),
        writer.const(_widened(layer, _columns(layer.r, wide), wide), name="weight_hidden"),
        writer.const(_widened(layer, layer.bias, wide), name="bias"),
        _first_state(layer, layer.hidden, wide, "hidden", writer),
    ]
    bidirectional = layer.directions == 2
    if layer.op.name == "GRUSequence":
        results = writer.many(GRU(bidirectional=bidirectional), operands, 2)
    else:
        operands.append(_first_state(layer, layer.cell, wide, "cell", writer))
        op = LSTM(
            bidirectional=bidirectional,
            has_bias=True,
            input_size=int(layer.w.shape[2]),
            hidden_size=wide,
            num_layers=1,
            num_directions=layer.directions,
        )
        results = writer.many(op, operands, 3)
    narrow = [_cut(value, units, wide, writer) for value in results]
    if layer.reversed:
        narrow[0] = writer.emit(ReverseV2(axis=(0,)), narrow[0])
    return narrow


def _widened(layer: Layer, weights: Numbers, wide: int) -> Numbers:
    """Pads the gates to `wide` units with zero weights and biases, so that the added states stay zero."""
    gates = weights.shape[1] // layer.units
    by_gate = weights.reshape(layer.directions, gates, layer.units, *weights.shape[2:])
    padding = [(0, 0), (0, 0), (0, wide - layer.units), *[(0, 0)] * (by_gate.ndim - 3)]
    return np.pad(by_gate, padding).reshape(layer.directions, gates * wide, *weights.shape[2:])


def _columns(weights: Numbers, wide: int) -> Numbers:
    return np.pad(weights, [(0, 0), (0, 0), (0, wide - weights.shape[2])])


def _first_state(layer: Layer, given: Value | None, wide: int, name: str, writer: Writer) -> Value:
    if given is None:
        return zero_state(layer, wide, name, writer)
    added = wide - layer.units
    if given.data is not None:
        return writer.const(np.pad(given.data, [(0, 0), (0, 0), (0, added)]), name=name)
    if not added:
        return given
    return writer.emit(PadFusion(), given, writer.const([[0, 0], [0, 0], [0, added]], np.int32))


def _cut(value: Value, units: int, wide: int, writer: Writer) -> Value:
    if units == wide:
        return value
    assert value.rank is not None
    op = Split(output_num=2, size_splits=(units, wide - units), axis=value.rank - 1)
    return writer.many(op, [value], 2)[0]


def _as_wanted(layer: Layer, old: Value, new: Value, index: int, writer: Writer) -> Value:
    """Converts a result to the layout and type of the node's output."""
    if layer.op.layout:
        new = writer.emit(Transpose(), new, writer.ints(2, 0, 1, 3) if index == 0 else writer.ints(1, 0, 2))
    if not is_quantized(old):
        return new
    if not _is_read(old, writer):
        old.dtype, old.quant = DataType.FLOAT32, ()
        return new
    return writer.emit(QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(DataType.INT8)), new)
