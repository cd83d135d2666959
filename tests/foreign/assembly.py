"""Operators that concatenate, slice, repeat, pad and rearrange tensors, computed with onnxruntime's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.enums import DataType, Format, PaddingMode
from tests.kernels import random_calls as calls
from tests.kernels import random_images as images
from tests.kernels.random_calls import Call, Draw, axes_of, axis_of, ints, normal, shapes, typed

from .graph import Array, Graph, run
from .litert import run_litert
from .registry import compared


def _long(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def only(family: st.SearchStrategy[Call], name: str) -> st.SearchStrategy[Call]:
    """Returns the calls of a family that are calls of one operator."""
    return family.filter(lambda call: call.op.name == name)


@compared("Concat", "Stack", strategy=lambda name: only(calls.joins(), name))
def join(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    if op.name == "Concat":
        return graph.run(graph("Concat", *inputs, axis=op.axis))
    return graph.run(graph("ConcatFromSequence", graph("SequenceConstruct", *inputs), axis=op.axis, new_axis=1))


@compared("Split", "Unstack", "SliceFusion", strategy=lambda name: only(calls.cuts(), name))
def cut(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, x = Graph(), inputs[0]
    if op.name == "SliceFusion":
        begin, size = (np.asarray(array, np.int64) for array in inputs[1:])
        end = np.where(size == -1, np.array(x.shape), begin + size)
        return graph.run(graph("Slice", x, begin, end, np.array(op.axes)))
    if op.name == "Split":
        parts = graph("Split", x, np.array(op.size_splits, np.int64), outputs=len(op.size_splits), axis=op.axis)
        return graph.run(*([parts] if isinstance(parts, str) else parts))
    count = x.shape[op.axis]
    return graph.run(*(graph("Gather", x, index, axis=op.axis) for index in range(count)))


@st.composite
def strided_slices(draw: Draw, name: str) -> Call:
    """TensorFlow's masks, except the ellipsis mask."""
    shape = draw(shapes(1, 4, 1, 6))
    masks = {f"{key}_mask": draw(st.integers(0, 2 ** len(shape) - 1)) for key in ("begin", "end")}
    bounds = [[draw(st.integers(-size - 1, size + 1)) for size in shape] for _ in range(2)]
    steps = [draw(st.sampled_from((1, 2, 3, -1, -2))) for _ in shape]
    shrunk = draw(st.integers(0, 3))
    if draw(st.booleans()) and shrunk < len(shape):
        masks |= {"shrink_axis_mask": 1 << shrunk, "begin_mask": masks["begin_mask"] & ~(1 << shrunk)}
        bounds[0][shrunk], steps[shrunk] = draw(st.integers(0, shape[shrunk] - 1)), 1
        bounds[1][shrunk] = bounds[0][shrunk] + 1
    x = typed(draw, shape, ("float32", "int32"))
    return Call(OPERATORS[name](**masks), (x, *(ints(*each) for each in (*bounds, steps))), (1, 2, 3))


@compared("StridedSlice", strategy=strided_slices)
def strided_slice(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    options = {slot: ("int", int(getattr(op, f"{name}_mask"))) for slot, name in enumerate(names)}
    kinds = (inputs[0].dtype.name,)
    return run_litert("STRIDED_SLICE", inputs, kinds, constant=(1, 2, 3), options=("StridedSliceOptions", options))


@st.composite
def crops(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 4, 1, 7))
    axis = draw(st.integers(0, len(shape) - 1))
    offset = [draw(st.integers(0, size - 1)) for size in shape[axis:]]
    if one := draw(st.booleans()):
        offset = [min(offset)] * len(offset)
    like = [
        *shape[:axis],
        *(draw(st.integers(1, size - first)) for size, first in zip(shape[axis:], offset, strict=True)),
    ]
    op = OPERATORS[name](axis=axis, offsets=tuple(offset[:1] if one else offset))
    return Call(op, (normal(draw, shape), np.zeros(like, np.float32)))


@compared("Crop", strategy=crops)
def crop(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, like = inputs
    axes = range(op.axis, x.ndim)
    offsets = list(op.offsets) * (len(axes) if len(op.offsets) == 1 else 1)
    ends = [offset + like.shape[axis] for offset, axis in zip(offsets, axes, strict=True)]
    return run("Slice", x, _long(*offsets), _long(*ends), _long(*axes))


@st.composite
def splices(draw: Draw, name: str) -> Call:
    rows, depth = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    context = tuple(draw(st.lists(st.integers(-4, 4), min_size=1, max_size=4)))
    listed = draw(st.booleans())
    count = draw(st.integers(1, 5)) * len(context)
    indices = tuple(draw(st.integers(0, rows - 1)) for _ in range(count)) if listed else None
    op = OPERATORS[name](context=context, forward_indexes=indices, output_dim=len(context) * depth)
    return Call(op, (normal(draw, (draw(st.integers(1, 3)), rows, depth)),))


@compared("Splice", strategy=splices)
def splice(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """One Gather per offset of the context, concatenated."""
    graph, (x,) = Graph(), inputs
    rows = x.shape[1]
    if op.forward_indexes:
        chosen = np.array(op.forward_indexes).reshape(-1, len(op.context)).T
        columns: list[Any] = [np.array(each, np.int64) for each in chosen]
    else:
        steps = graph("Range", np.int64(0), np.int64(rows), np.int64(1))
        columns = [graph("Clip", graph("Add", steps, at), np.int64(0), np.int64(rows - 1)) for at in op.context]
    return graph.run(graph("Concat", *(graph("Gather", x, column, axis=1) for column in columns), axis=2))


@st.composite
def overlaps(draw: Draw, name: str) -> Call:
    shape = list(draw(shapes(1, 4, 1, 5)))
    axis, parts = draw(st.integers(0, len(shape) - 1)), draw(st.integers(1, 4))
    shape[axis] = draw(st.integers(2 * parts, 12))
    extend = [[draw(st.integers(0, 2)) for _ in range(parts)] for _ in range(2)]
    extend[0][0] = extend[1][-1] = 0
    ratio = tuple(draw(st.integers(1, 3)) for _ in range(parts))
    op = OPERATORS[name](
        split_dim=axis, number_split=parts, ratio=ratio, extend_top=tuple(extend[0]), extend_bottom=tuple(extend[1])
    )
    return Call(op, (normal(draw, tuple(shape)),))


@compared("SplitWithOverlap", strategy=overlaps)
def split_with_overlap(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Borders ceil(size * sum(ratio[:i]) / sum(ratio)) from the graph's CumSum; one Slice per part."""
    graph, (x,) = Graph(), inputs
    size = x.shape[op.split_dim]
    ratio = graph.constant(np.array(op.ratio, np.int64))
    shares = graph("Mul", graph("CumSum", ratio, 0), size)
    total = int(np.sum(op.ratio))
    last = graph("Div", graph("Add", shares, total - 1), total)
    first = graph("Concat", _long(0), graph("Slice", last, _long(0), _long(-1)), axis=0)
    begins = graph("Max", graph("Sub", first, _long(*op.extend_top)), 0)
    ends = graph("Min", graph("Add", last, _long(*op.extend_bottom)), size)
    axis = _long(op.split_dim)
    pieces = [
        graph("Slice", x, graph("Gather", begins, _long(i)), graph("Gather", ends, _long(i)), axis)
        for i in range(op.number_split)
    ]
    return graph.run(*pieces)


@st.composite
def borders(draw: Draw, name: str) -> Call:
    shape = draw(shapes(1, 4, 1, 5))
    mode = draw(st.sampled_from(("edge", "wrap")))
    limits = [size if mode == "wrap" else 3 for size in shape]
    pairs = [[draw(st.integers(0, limit)) for _ in range(2)] for limit in limits]
    return Call(OPERATORS[name](mode=mode), (normal(draw, shape), np.array(pairs, np.int32)), (1,))


@compared("PadExtend", strategy=borders)
def pad_extend(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("Pad", inputs[0], inputs[1].T.ravel().astype(np.int64), mode=op.mode)


_MOVED = ("Transpose", "TileFusion", "ReverseV2", "BroadcastTo", "ExpandDims")


@compared(*_MOVED, strategy=lambda name: only(calls.moves(), name))
def move(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, *rest = inputs
    if op.name == "Transpose":
        return run("Transpose", x, perm=rest[0].tolist())
    if op.name == "ReverseV2":
        ends = np.full(len(op.axis), -(2**31))
        return run("Slice", x, _long(*[-1] * len(op.axis)), ends, _long(*op.axis), _long(*[-1] * len(op.axis)))
    name = {"TileFusion": "Tile", "BroadcastTo": "Expand", "ExpandDims": "Unsqueeze"}[op.name]
    return run(name, x, np.atleast_1d(rest[0]).astype(np.int64))


@compared("PadFusion", strategy=lambda name: only(calls.moves(), name))
def pad(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """SYMMETRIC repeats the border element: indices from a Range, mirrored at the ends, and one Gather per dimension."""
    graph, (x, borders) = Graph(), inputs
    pads = borders.T.ravel().astype(np.int64)
    if op.padding_mode is PaddingMode.CONSTANT:
        return graph.run(graph("Pad", x, pads, np.float32(op.constant_value)))
    if op.padding_mode is PaddingMode.REFLECT:
        return graph.run(graph("Pad", x, pads, mode="reflect"))
    y = graph("Identity", x)
    for axis, (before, after) in enumerate(borders.tolist()):
        size = x.shape[axis]
        places = graph("Range", np.int64(-before), np.int64(size + after), np.int64(1))
        folded = graph("Where", graph("Less", places, 0), graph("Sub", -1, places), places)
        folded = graph("Where", graph("Less", folded, size), folded, graph("Sub", 2 * size - 1, folded))
        y = graph("Gather", y, folded, axis=axis)
    return graph.run(y)


# ---- reshapes ----


@st.composite
def any_tensor(draw: Draw, name: str) -> Call:
    return Call(OPERATORS[name](), (typed(draw, draw(shapes()), ("float32", "int32", "int8", "bool")),))


@compared("Shape", "Rank", "Size", "ZerosLike", "OnesLike", strategy=any_tensor)
def measure(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    shape = graph("Shape", x)
    if op.name.endswith("Like"):
        return graph.run(graph("ConstantOfShape", shape, value=_tensor(np.array([op.name == "OnesLike"], x.dtype))))
    return graph.run(graph("Size", shape if op.name == "Rank" else x) if op.name != "Shape" else shape)


def _tensor(array: Array) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(array)


@st.composite
def reshapes(draw: Draw, name: str) -> Call:
    shape = list(draw(shapes(1, 5, 1, 4)))
    if name == "Squeeze":
        shape.insert(draw(st.integers(0, len(shape))), 1)
        given = [axis for axis, size in enumerate(shape) if size == 1]
        axes = tuple(draw(st.sampled_from(([], given[:1], [axis - len(shape) for axis in given]))))
        return Call(OPERATORS[name](axis=axes or None), (normal(draw, tuple(shape)),))
    x = typed(draw, tuple(shape), ("float32", "int8", "int64"))
    if name == "Flatten":
        return Call(OPERATORS[name](axis=axis_of(draw, len(shape))), (x,))
    if name == "Unsqueeze":
        return Call(OPERATORS[name](axis=axes_of(draw, len(shape) + 1, 1)[:1]), (x,))
    wanted = draw(st.permutations(shape))
    wanted[draw(st.integers(0, len(shape) - 1))] = -1
    return Call(OPERATORS[name](), (x, ints(*wanted)), (1,))


@compared("Reshape", "Flatten", "Squeeze", "Unsqueeze", strategy=reshapes)
def reshape(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, *rest = inputs
    if op.name == "Flatten":
        return run("Flatten", x, axis=op.axis)
    if op.name == "Reshape":
        return run("Reshape", x, rest[0].astype(np.int64))
    return run(op.name, x, *([_long(*op.axis)] if op.axis else []))


@compared("DepthToSpace", "SpaceToDepth", strategy=lambda name: only(images.blocks(), name))
def block(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    turned = graph("Transpose", inputs[0], perm=[0, 3, 1, 2])
    return graph.run(graph("Transpose", graph(op.name, turned, blocksize=op.block_size), perm=[0, 2, 3, 1]))


@st.composite
def formats(draw: Draw, name: str) -> Call:
    source, target = draw(st.permutations((Format.NCHW, Format.NHWC)))
    return Call(OPERATORS[name](src_format=source, dst_format=target), (normal(draw, draw(shapes(4, 4))),))


@compared("FormatTranspose", strategy=formats)
def format_transpose(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("Transpose", inputs[0], perm=[0, 2, 3, 1] if op.dst_format is Format.NHWC else [0, 3, 1, 2])


@st.composite
def batches_of_blocks(draw: Draw, name: str) -> Call:
    rank = 2 if name in ("BatchToSpace", "SpaceToBatch") else draw(st.integers(1, 3))
    block = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    margins = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(rank))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    batch, depth = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    key = "block_size" if rank == 2 and not name.endswith("ND") else "block_shape"
    if name.startswith("Batch"):
        sizes = [max(size, sum(m) // b + 1) for size, m, b in zip(sizes, margins, block, strict=True)]
        shape = (batch * int(np.prod(block)), *sizes, depth)
        return Call(OPERATORS[name](**{key: block}, crops=margins), (normal(draw, shape),))
    sizes = [max(size * b - sum(m), 1) for size, m, b in zip(sizes, margins, block, strict=True)]
    margins = tuple((m[0], m[1] + -(size + sum(m)) % b) for size, m, b in zip(sizes, margins, block, strict=True))
    return Call(OPERATORS[name](**{key: block}, paddings=margins), (normal(draw, (batch, *sizes, depth)),))


@compared("BatchToSpace", "BatchToSpaceND", "SpaceToBatch", "SpaceToBatchND", strategy=batches_of_blocks)
def space_and_batch(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """One dimension after the other: a block is split off (or merged) and transposed to the front (or from it)."""
    graph, (x,) = Graph(), inputs
    block = op.block_size if not op.name.endswith("ND") else op.block_shape
    rank, y = len(block), graph("Identity", x)
    if op.name.startswith("Space"):
        pads = np.array([(0, 0), *op.paddings, (0, 0)]).T.ravel()
        y = graph("Pad", y, pads)
        for axis in range(rank, 0, -1):
            shape = graph("Shape", y)
            size = graph("Div", graph("Gather", shape, _long(axis)), _long(block[axis - 1]))
            split = [graph("Slice", shape, _long(0), _long(axis)), size, _long(block[axis - 1])]
            y = graph("Reshape", y, graph("Concat", *split, graph("Slice", shape, _long(axis + 1), _long(99)), axis=0))
            order = [axis + 1, *(i for i in range(rank + 3) if i != axis + 1)]
            y = graph("Transpose", y, perm=order)
            shape = graph("Shape", y)
            first = graph("Mul", graph("Gather", shape, _long(0)), graph("Gather", shape, _long(1)))
            y = graph("Reshape", y, graph("Concat", first, graph("Slice", shape, _long(2), _long(99)), axis=0))
        return graph.run(y)
    for axis in range(1, rank + 1):
        shape = graph("Shape", y)
        batch = graph("Div", graph("Gather", shape, _long(0)), _long(block[axis - 1]))
        rest = graph("Slice", shape, _long(1), _long(99))
        y = graph("Reshape", y, graph("Concat", _long(block[axis - 1]), batch, rest, axis=0))
        order = [*range(1, axis + 2), 0, *range(axis + 2, rank + 3)]
        y = graph("Transpose", y, perm=order)
        size = graph("Mul", graph("Gather", shape, _long(axis)), _long(block[axis - 1]))
        behind = graph("Slice", shape, _long(axis + 1), _long(99))
        before = graph("Slice", shape, _long(1), _long(axis))
        y = graph("Reshape", y, graph("Concat", batch, before, size, behind, axis=0))
    starts = [before for before, _ in op.crops]
    ends = [-after if after else 2**31 - 1 for _, after in op.crops]
    return graph.run(graph("Slice", y, _long(*starts), _long(*ends), _long(*range(1, rank + 1))))


@st.composite
def sequences_to_reverse(draw: Draw, name: str) -> Call:
    shape = draw(shapes(2, 4, 1, 5))
    batch, time = draw(st.sampled_from(((0, 1), (1, 0))))
    lengths = np.array([draw(st.integers(1, shape[time])) for _ in range(shape[batch])], np.int32)
    return Call(OPERATORS[name](seq_dim=time, batch_dim=batch), (normal(draw, shape), lengths))


@compared("ReverseSequence", strategy=sequences_to_reverse)
def reverse_sequence(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, lengths = inputs
    return run("ReverseSequence", x, lengths.astype(np.int64), batch_axis=op.batch_dim, time_axis=op.seq_dim)


@st.composite
def permutations(draw: Draw, name: str) -> Call:
    return Call(OPERATORS[name](), (ints(*draw(st.permutations(range(draw(st.integers(1, 9)))))),))


@compared("InvertPermutation", strategy=permutations)
def invert_permutation(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    (x,) = inputs
    return run("ScatterElements", np.zeros_like(x), x, np.arange(len(x), dtype=x.dtype))


@st.composite
def bits(draw: Draw, name: str) -> Call:
    x = typed(draw, draw(shapes(1)), ("float32", "int32"))
    kind = DataType.INT32 if x.dtype == np.float32 else DataType.FLOAT32
    return Call(OPERATORS[name](data_type=int(kind)), (x,))


@compared("Bitcast", strategy=bits)
def bitcast(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    target = "int32" if op.data_type == DataType.INT32 else "float32"
    if not inputs[0].size:
        return [np.zeros(inputs[0].shape, target)]
    return run_litert("BITCAST", inputs, (target,), options=("BitcastOptions", {}))
