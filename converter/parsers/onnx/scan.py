"""Scan: a loop over slices of tensors. See control_flow.py for loops as calls of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Stack
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Shape

from .call import Call
from .casting import to_int64
from .control_flow import add_loop_invariants, collect
from .loops import LoopBuilder
from .registry import onnx_operator


@dataclass(frozen=True)
class _ScanAxes:
    """The axis along which each tensor is sliced or concatenated, and the direction (1: from the end)."""

    axes: tuple[int, ...]
    directions: tuple[int, ...]


def _ways(call: Call, name: str, count: int) -> _ScanAxes:
    axes = call.integers(f"scan_{name}_axes") or (0,) * count
    directions = call.integers(f"scan_{name}_directions") or (0,) * count
    if len(axes) != count or len(directions) != count:
        raise call.block("has the wrong length", "Export the model again", f"scan_{name}_axes")
    return _ScanAxes(axes, directions)


def _body(call: Call, inputs: int, scanned: int) -> tuple[GraphProto, int]:
    """Returns the body and the number of scan outputs. Raises Blocked if they do not match the node's `inputs`."""
    proto = call.graph("body")
    scans = len(proto.output) - (inputs - scanned)
    if scanned < 1 or scanned > inputs or len(proto.input) != inputs or scans < 0:
        raise call.block("its inputs and outputs do not match the node", "The model breaks the ONNX standard", "body")
    return proto, scans


@onnx_operator("Scan", since=9)
def scan(call: Call) -> tuple[Value, ...]:
    """Since version 9 there is no batch dimension."""
    scanned = call.integer("num_scan_inputs")
    proto, scans = _body(call, call.input_count, scanned)
    inputs, outputs = _ways(call, "input", scanned), _ways(call, "output", scans)
    values = [call.input(index) for index in range(call.input_count)]
    return _scan(call, proto, values[:-scanned], values[-scanned:], inputs, outputs)


@onnx_operator("Scan", since=8)
def scan_8(call: Call) -> tuple[Value, ...]:
    """Version 8: the first dimension of every tensor is a batch; its entries are scanned one after another."""
    scanned = call.integer("num_scan_inputs")
    directions = call.integers("directions") or (0,) * scanned
    proto, scans = _body(call, call.input_count - 1, scanned)
    if call.optional(0) is not None:
        raise call.block("sequence_lens is not supported", "Export for opset 9 or newer")
    if len(directions) != scanned:
        raise call.block("has the wrong length", "Export the model again", "directions")
    values = [call.input(index) for index in range(1, call.input_count)]
    shape = call.shape(values[-1])
    batch = shape[0] if shape else None
    if batch is None or batch < 1:
        raise call.not_known("the batch size is not known", "Set it with --inputShape, or export for opset 9")
    results = []
    for entry in range(batch):
        own = [call.emit(Gather(), value, call.ints(entry), call.ints(0)) for value in values]
        inputs, outputs = _ScanAxes((0,) * scanned, directions), _ScanAxes((0,) * scans, (0,) * scans)
        results.append(_scan(call, proto, own[:-scanned], own[-scanned:], inputs, outputs))
    return tuple(call.emit(Stack(axis=0), *of_all) for of_all in zip(*results, strict=True))


def _scan(
    call: Call,
    proto: GraphProto,
    first: Sequence[Value],
    sources: Sequence[Value],
    inputs: _ScanAxes,
    outputs: _ScanAxes,
) -> tuple[Value, ...]:
    """Builds the loop. `first`: the initial states; `sources`: the scanned tensors."""
    states = len(first)
    axes = [
        axis if axis >= 0 else call.axis(axis, call.require_rank(x))
        for axis, x in zip(inputs.axes, sources, strict=True)
    ]
    length = to_int64(call, call.emit(Gather(), call.emit(Shape(), sources[0]), call.ints(axes[0]), call.ints(0)))
    builder = LoopBuilder(call, proto)
    body = builder.body
    iteration, count = builder.scalar("iteration", DataType.INT64), builder.scalar("count", DataType.INT64)
    whole = builder.copies_of_outer(sources)
    body.declare()
    for index, (axis, backwards) in enumerate(zip(axes, inputs.directions, strict=True)):
        position = iteration
        if backwards:
            one = body.constant(np.ones((), np.int64), call.name)
            (last,) = body.emit(SubFusion(), (count, one), 1)
            (position,) = body.emit(SubFusion(), (last, iteration), 1)
        where = body.constant(np.asarray(axis, np.int32), call.name)
        (part,) = body.emit(Gather(), (whole[index], position, where), 1)
        body.bind(proto.input[states + index].name, part)
    body.run(skip_inputs=len(sources))
    state, results = [iteration, *body.graph.inputs[:states]], list(body.graph.outputs)
    start = [call.const(np.zeros((), np.int64)), *first]
    for value, source in zip(state[1:], start[1:], strict=True):
        value.dtype = call.dtype(source) if value.dtype is DataType.UNKNOWN else value.dtype
    step = body.constant(np.ones((), np.int64), call.name)
    following = [body.emit(AddFusion(), (iteration, step), 1)[0], *results[:states]]
    collected = [
        builder.accumulator(element, axis if axis >= 0 else axis + len(body.types.shape_of(element) or ()) + 1)
        for element, axis in zip(results[states:], outputs.axes, strict=True)
    ]
    collect(collected, outputs.directions, start, state, following)
    carried = slice(1, len(state))
    start += sources
    state += whole
    following += whole
    add_loop_invariants(call, body, None, start, state, following)
    start.append(length)
    state.append(count)
    following.append(count)
    return builder.finish(start, state, following, carried, collected, (0, None, length))
