"""Concatenation, stack, split, padding, slices."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.ops import assembly as ops
from mslite.converter.mindir.ops.enums import PaddingMode

from .call import Call
from .registry import writes

_MIRRORED = {PaddingMode.REFLECT: 0, PaddingMode.SYMMETRIC: 1}


def _from_front(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis


@writes("Concat")
def concatenation(call: Call) -> None:
    assert isinstance(call.op, ops.Concat)
    call.require_equal_quant_params()
    call.emit("CONCATENATION", call.inputs(), axis=_from_front(call.op.axis, len(call.shape())))


@writes("Stack")
def pack(call: Call) -> None:
    assert isinstance(call.op, ops.Stack)
    call.require_equal_quant_params()
    axis = _from_front(call.op.axis, len(call.output_shape))
    call.emit("PACK", call.inputs(), count=call.input_count, axis=axis)


@writes("Unstack")
def unpack(call: Call) -> None:
    assert isinstance(call.op, ops.Unstack)
    call.require_equal_quant_params()
    axis = _from_front(call.op.axis, len(call.shape()))
    call.emit("UNPACK", [call.input()], count=len(call.node.outputs), axis=axis)


@writes("Split")
def split(call: Call) -> None:
    assert isinstance(call.op, ops.Split)
    call.require_equal_quant_params()
    axis = _from_front(call.op.axis, len(call.shape()))
    sizes = [(value.shape or ())[axis] for value in call.node.outputs]
    if len(set(sizes)) == 1:
        call.emit("SPLIT", [call.constant("axis", axis), call.input()], count=len(sizes))
        return
    operands = [call.input(), call.constant("sizes", sizes), call.constant("axis", axis)]
    call.emit("SPLIT_V", operands, count=len(sizes))


@writes("PadFusion")
def pad(call: Call) -> None:
    """Writes PadFusion: padding with the result's zero point, or mirror padding."""
    op = call.op
    assert isinstance(op, ops.PadFusion)
    call.require_equal_quant_params()
    sizes = (
        call.integers(1, "its padding sizes")
        if call.input_count > 1
        else tuple(n for pair in op.paddings or () for n in pair or ())
    )
    if len(sizes) != 2 * len(call.shape()) or min(sizes) < 0:
        raise call.refuse("its padding does not match its rank, or is negative")
    border = call.constant("border", [sizes[2 * at : 2 * at + 2] for at in range(len(sizes) // 2)])
    if op.padding_mode in _MIRRORED:
        call.emit("MIRROR_PAD", [call.input(), border], mode=_MIRRORED[op.padding_mode])
        return
    if op.padding_mode is not PaddingMode.CONSTANT or op.constant_value != 0.0 or call.input_count > 2:
        raise call.refuse("its padding value is not zero")
    call.emit("PAD", [call.input(), border])


@writes("SliceFusion")
def cut(call: Call) -> None:
    op = call.op
    assert isinstance(op, ops.SliceFusion)
    call.require_equal_quant_params()
    shape, begins = call.shape(), call.integers(1, "its beginnings")
    axes = [_from_front(axis, len(shape)) for axis in op.axes or range(len(begins))]
    first = [0] * len(shape)
    for axis, begin in zip(axes, begins, strict=True):
        first[axis] = min(_from_front(begin, shape[axis]), shape[axis])
    operands = [call.input(), call.constant("begin", first), call.constant("size", call.output_shape)]
    call.emit("SLICE", operands)


@writes("StridedSlice")
def strided_slice(call: Call) -> None:
    """Writes StridedSlice. If axes are an operand, the result has explicit bounds for all dimensions."""
    op = call.op
    assert isinstance(op, ops.StridedSlice)
    call.require_equal_quant_params()
    names = ("begin", "end", "axes", "strides") if call.input_count == 5 else ("begin", "end", "strides")
    given = {
        name: list(call.integers(index, f"its {name}")) for index, name in enumerate(names[: call.input_count - 1], 1)
    }
    steps = given.setdefault("strides", [1] * len(given["begin"]))
    if min(steps, default=1) < 1:
        raise call.refuse("it has a negative stride")
    if "axes" in given:
        _write_out(given, call.shape())
    call.emit(
        "STRIDED_SLICE",
        [call.input(), *(call.constant(name, given[name]) for name in ("begin", "end", "strides"))],
        begin_mask=op.begin_mask,
        end_mask=op.end_mask,
        ellipsis_mask=op.ellipsis_mask,
        new_axis_mask=op.new_axis_mask,
        shrink_axis_mask=op.shrink_axis_mask,
    )


def _write_out(given: dict[str, list[int]], shape: Sequence[int]) -> None:
    """Expands begin, end and strides to all dimensions."""
    boxes = [(0, size, 1) for size in shape]
    for at, axis in enumerate(given["axes"]):
        place = _from_front(axis, len(shape))
        boxes[place] = slice(given["begin"][at], given["end"][at], given["strides"][at]).indices(shape[place])
    for name, numbers in zip(("begin", "end", "strides"), zip(*boxes, strict=True), strict=True):
        given[name] = list(numbers)
