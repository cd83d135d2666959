"""Shape operators, and operators that rearrange all elements."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import rearrange as ops
from mslite.converter.mindir.ops.assembly import StridedSlice
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType, Format

from . import runtime_axes
from .call import Call
from .casting import as_type, to_int64
from .quantized import DequantizedConstant
from .registry import onnx_operator


@onnx_operator("Shape")
def shape(call: Call) -> Value:
    x = call.input(0)
    dims = call.emit(ops.Shape(), x)
    start, end = call.integer("start", 0), call.integer("end", 2**31 - 1)
    if start != 0 or call.has_attribute("end"):
        one = call.ints((1,))
        dims = call.emit(StridedSlice(), dims, call.ints((start,)), call.ints((end,)), call.ints((0,)), one)
    return to_int64(call, dims)


@onnx_operator("Size")
def size(call: Call) -> Value:
    return to_int64(call, call.emit(ops.Size(), call.input(0)))


@onnx_operator("Reshape")
def reshape(call: Call) -> Value:
    x = call.input(0)
    if call.version < 5:
        call.ignore("consumed_inputs")
        target = call.integers("shape")
        if target is None:
            raise call.block("is missing", "Export the model again", "shape")
        return call.emit(ops.Reshape(), x, call.ints(target))
    wanted = call.constant_integers(1)
    # Zeros in a computed shape are sizes, which requires an empty x; with any other x the kernel reports an error.
    if call.boolean("allowzero") and wanted is not None and 0 in wanted:
        known = call.scope.types.known_shape(call.node.output[0])
        if known is None:
            raise call.block("sizes of zero are not supported here", "Export with allowzero = 0", "allowzero")
        return call.emit(ops.Reshape(), x, call.ints(known)) if 0 not in known else _empty(call, known)
    x_shape = call.static_shape(x)
    if call.boolean("allowzero") and wanted is None and x_shape is not None and 0 in x_shape:
        return call.emit(Fill(), call.like(0, x), as_type(call, call.input(1), DataType.INT32))
    return call.emit(ops.Reshape(), x, as_type(call, call.input(1), DataType.INT32))


def _empty(call: Call, dims: tuple[int, ...]) -> Value:
    """Returns an empty tensor as a constant. MindIR's Reshape cannot create it: there, 0 copies the input's size."""
    return call.const(np.zeros(dims, call.require_numbers(call.input(0))))


@onnx_operator("Flatten")
def flatten(call: Call) -> Value:
    x, axis = call.input(0), call.integer("axis", 1)
    if axis < 0:
        axis = call.axis(axis, call.require_rank(x))
    return call.emit(ops.Flatten(axis=axis), x)


def _axes(call: Call, index: int) -> tuple[int, ...] | None:
    """Returns the axes: an attribute before version 13, an input since then."""
    if call.version < 13:
        return call.integers("axes")
    return call.require_integers(index, "the axes") if call.has_input(index) else None


def _computed_axes(call: Call) -> bool:
    return call.version >= 13 and call.has_input(1) and call.constant(1) is None


@onnx_operator("Squeeze")
def squeeze(call: Call) -> Value:
    x = call.input(0)
    if _computed_axes(call):
        return runtime_axes.squeeze(call, x, call.input(1))
    axes = _axes(call, 1)
    if axes is None:
        return call.emit(ops.Squeeze(), x)
    if not axes:
        return x
    rank = call.rank(x)
    if rank is not None:
        axes = tuple(sorted(call.axis(axis, rank, "axes") for axis in axes))
    return call.emit(ops.Squeeze(axis=axes), x)


@onnx_operator("Unsqueeze")
def unsqueeze(call: Call) -> Value:
    """The axes are those of the output."""
    x = call.input(0)
    if _computed_axes(call):
        return runtime_axes.unsqueeze(call, x, call.input(1))
    axes = _axes(call, 1)
    if axes is None:
        raise call.block("are missing", "Export the model again", "axes")
    if not axes:
        return x
    shape = call.shape(x)
    if shape is not None:
        axes = tuple(sorted(call.axis(axis, len(shape) + len(axes), "axes") for axis in axes))
    elif len(axes) > 1 and any(axis < 0 for axis in axes):
        call.require_rank(x)
    if len(set(axes)) != len(axes):
        raise call.block(f"{list(axes)} contains an axis twice", "Export the model again", "axes")
    result = call.emit(ops.Unsqueeze(axis=axes), x)
    if shape is None:
        return result
    rest = iter(shape)
    return call.told(result, x, [1 if at in axes else next(rest) for at in range(len(shape) + len(axes))])


@onnx_operator("Transpose")
def transpose(call: Call) -> Value | tuple[Value, ...]:
    """Transposes quantized weights in their stored form."""
    known = call.deferred_input(0)
    stored = known.stored if isinstance(known, DequantizedConstant) else None
    x = call.input(0) if stored is None else stored
    perm = call.integers("perm")
    if perm is None:
        perm = tuple(reversed(range(call.require_rank(x))))
    elif sorted(perm) != list(range(len(perm))):
        raise call.block(f"{list(perm)} is not a permutation", "Export the model again", "perm")
    if not isinstance(known, DequantizedConstant) or stored is None:
        return call.emit(ops.Transpose(), x, call.ints(perm))
    if len(perm) != x.rank:
        raise call.block(f"{list(perm)} does not fit rank {x.rank}", "Export the model again", "perm")
    call.scope.defer(call.output_name(), known.transposed(tuple(perm), call.output_name()))
    return ()


def _block_size(call: Call) -> int:
    block = call.integer("blocksize")
    if not 1 <= block < 2**15:
        raise call.block(f"{block} is out of range", "Export the model again", "blocksize")
    return block


@onnx_operator("DepthToSpace")
def depth_to_space(call: Call) -> Value:
    mode = call.choice("mode", call.text("mode", "DCR"), {"DCR": "DCR", "CRD": "CRD"})
    op = ops.DepthToSpace(block_size=_block_size(call), format=Format.NCHW, mode=mode)
    return call.emit(op, call.input(0))


@onnx_operator("SpaceToDepth")
def space_to_depth(call: Call) -> Value:
    x, block = call.input(0), _block_size(call)
    mode = call.choice("mode", call.text("mode", "DCR"), {"DCR": "DCR", "CRD": "CRD"})
    if mode == "DCR":
        return call.emit(ops.SpaceToDepth(block_size=block, format=Format.NCHW), x)
    n, c, h, w = _image_shape(call, x)
    parts = call.emit(ops.Reshape(), x, call.ints((n, c, h // block, block, w // block, block)))
    turned = call.emit(ops.Transpose(), parts, call.ints((0, 1, 3, 5, 2, 4)))
    return call.emit(ops.Reshape(), turned, call.ints((n, c * block * block, h // block, w // block)))


def _image_shape(call: Call, x: Value) -> tuple[int, ...]:
    dims = call.require_shape(x, "this mode")
    if len(dims) != 4:
        raise call.block(f"the input has {len(dims)} dimensions, not 4", "Export the model again")
    return dims


@onnx_operator("ReverseSequence")
def reverse_sequence(call: Call) -> Value:
    op = ops.ReverseSequence(seq_dim=call.integer("time_axis", 0), batch_dim=call.integer("batch_axis", 1))
    return call.emit(op, call.input(0), as_type(call, call.input(1), DataType.INT32))
