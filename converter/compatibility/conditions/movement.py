"""Conditions of operators that move, select and join elements."""

from __future__ import annotations

import math

from mslite.converter.compatibility.conditions._declare import condition, has_shape, numbers
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.assembly import PadFusion, StridedSlice
from mslite.converter.mindir.ops.enums import DataType

_TRANSPOSED = 6
_TILED = 5


@condition("Gather GatherNd")
def positive_indices(node: Node, kind: DataType, version: Version) -> str | None:
    indices = numbers(node, 1)
    return "does not support negative indices" if indices is not None and min(indices, default=0) < 0 else None


@condition("Gather")
def gather_axis(node: Node, kind: DataType, version: Version) -> str | None:
    axis = numbers(node, 2)
    if axis is None:
        return "needs the axis as a constant input"
    if axis[0] < 0 and version < Version.V2_0:
        return "does not support a negative axis"
    return "supports the first dimension only in int8" if kind is DataType.INT8 and axis[0] != 0 else None


@condition("Gather GatherNd")
def index_type(node: Node, kind: DataType, version: Version) -> str | None:
    kind_of_index = node.inputs[1].dtype
    known = kind_of_index is DataType.INT32 or (kind_of_index is DataType.INT64 and version >= Version.V2_0)
    return None if known else f"supports int32 indices, not {kind_of_index.name.lower()}"


@condition("Transpose", until=Version.V2_0)
def permutation(node: Node, kind: DataType, version: Version) -> str | None:
    perm = numbers(node, 1)
    rank = node.inputs[0].rank
    if perm is None:
        return "needs a constant permutation"
    if rank is None or rank != len(perm) or rank > _TRANSPOSED:
        return f"supports up to {_TRANSPOSED} dimensions, and permutations of all of them"
    return None


@condition("Unstack", until=Version.V1_5)
def prepared_axis(node: Node, kind: DataType, version: Version) -> str | None:
    """It checks the axis before it checks whether the shape is known."""
    axis = int(getattr(node.op, "axis", 0))
    return (
        None if axis in (0, -1) or has_shape(node.inputs[0]) else "does not support dynamic dimensions with this axis"
    )


@condition("Concat", until=Version.V2_0)
def joined_parts(node: Node, kind: DataType, version: Version) -> str | None:
    if any(value.shape is not None and 0 in value.shape for value in node.inputs):
        return "does not support an input without elements"
    return None


@condition("Reshape")
def reshape_operand(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) < 2:
        return "needs the shape as an input"
    shape = node.inputs[1].shape
    return "cannot return a scalar" if shape is not None and shape == (0,) and version < Version.V2_0 else None


@condition("Flatten", until=Version.V2_0)
def flatten_axis(node: Node, kind: DataType, version: Version) -> str | None:
    shape = node.inputs[0].shape
    axis = getattr(node.op, "axis", 1)
    rank = node.inputs[0].rank or 0
    return (
        None
        if axis == 1 or (shape is not None and axis + rank == 1)
        else "ignores the axis and keeps the first dimension"
    )


@condition("PadFusion")
def borders(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, PadFusion)
    rank = node.inputs[0].rank
    if len(node.inputs) < 2:
        return "needs the padding as an input"
    if rank is None or (rank > 4 and version < Version.V2_0):
        return "supports up to four dimensions"
    paddings = numbers(node, 1)
    if paddings is not None and min(paddings, default=0) < 0:
        return "cuts nothing off (negative padding)"
    return None


@condition("SliceFusion", until=Version.V2_0)
def slice_operands(node: Node, kind: DataType, version: Version) -> str | None:
    rank = node.inputs[0].rank
    begin = node.inputs[1].shape
    if rank is None or begin is None or begin != (rank,):
        return "needs a begin for every dimension"
    return None


@condition("StridedSlice", until=Version.V2_0)
def strided_operands(node: Node, kind: DataType, version: Version) -> str | None:
    """If the axes are an input, as in ONNX, begin and end are clamped to the dimensions."""
    op, count, shape = node.op, len(node.inputs), node.inputs[0].shape
    assert isinstance(op, StridedSlice)
    if count not in (4, 5):
        return "needs begin, end and strides as inputs"
    if op.ellipsis_mask:
        return "treats an ellipsis as one dimension"
    begin, end, strides = numbers(node, 1), numbers(node, 2), numbers(node, count - 1)
    if count == 5 and version is Version.V2_0 and min(strides or [1], default=1) < 0:
        return "computes negative strides incorrectly"
    if count == 5 or begin is None or end is None or strides is None or shape is None:
        return None
    if min(strides, default=1) < 0:
        return "does not support negative strides"
    if op.new_axis_mask or op.shrink_axis_mask:
        return None
    for axis, size in enumerate(shape[: len(begin)]):
        if size >= 0 and end[axis] > size and not (op.end_mask >> axis) & 1:
            return "does not clamp the end of a slice to the dimension"
        if size >= 0 and abs(begin[axis]) > size:
            return "does not clamp the begin of a slice to the dimension"
    return None


@condition("TileFusion", until=Version.V2_0)
def tiles(node: Node, kind: DataType, version: Version) -> str | None:
    rank = node.inputs[0].rank
    if rank is None or rank > _TILED:
        return f"supports up to {_TILED} dimensions"
    multiples = node.inputs[1].shape if len(node.inputs) > 1 else None
    return "needs a multiple for each dimension" if multiples != (rank,) else None


@condition("BroadcastTo", until=Version.V2_0)
def broadcast(node: Node, kind: DataType, version: Version) -> str | None:
    x, y = node.inputs[0].shape, node.outputs[0].shape
    wanted = numbers(node, 1)
    if wanted is None:
        return "needs the shape as a constant input"
    if y is None or tuple(wanted) != y:
        return "needs the whole output shape"
    if x is None or y is None or len(x) > len(y):
        return "cannot infer the shape"
    return None


@condition("Where")
def chosen(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) == 1:
        return None
    if version is Version.V1_3:
        return "returns bool instead of the selected elements"
    if node.inputs[1].dtype is not DataType.FLOAT32:
        return f"supports float32, not {node.inputs[1].dtype.name.lower()}"
    full = node.outputs[0].shape
    shapes = [value.shape for value in node.inputs]
    if full is None or any(shape is None for shape in shapes):
        return "needs known shapes of its inputs"
    if not all(shape == full or math.prod(shape or ()) == 1 for shape in shapes):
        return "does not broadcast inputs along single dimensions"
    return None


@condition("Select")
def selected(node: Node, kind: DataType, version: Version) -> str | None:
    if any(value.dtype not in (DataType.FLOAT32, DataType.INT32) for value in node.inputs[1:]):
        return "supports float32 and int32 only"
    full = node.outputs[0].shape
    if full is None or any(value.shape != full for value in node.inputs[1:]):
        return "does not broadcast inputs along single dimensions"
    condition_shape = node.inputs[0].shape
    return None if condition_shape in (full, (), (1,)) else "needs a condition for each element, or one"


@condition("Split")
def sizes_of_parts(node: Node, kind: DataType, version: Version) -> str | None:
    sizes = getattr(node.op, "size_splits", None)
    if sizes is None:
        return None
    if len(sizes) != len(node.outputs):
        return "needs the size of each part"
    return "supports -1 as the last size only" if -1 in sizes[:-1] or (-1 in sizes and version < Version.V2_0) else None


@condition("Squeeze Unsqueeze", until=Version.V2_0)
def ascending(node: Node, kind: DataType, version: Version) -> str | None:
    axes = list(getattr(node.op, "axis", None) or ())
    return None if axes == sorted(axes) and (axes or node.op.name == "Squeeze") else "needs axes in ascending order"


@condition("TopKFusion", until=Version.V2_0)
def top_axis(node: Node, kind: DataType, version: Version) -> str | None:
    axis = getattr(node.op, "axis", -1)
    rank = node.inputs[0].rank or 0
    if axis not in (-1, rank - 1):
        return "supports the last dimension only"
    if getattr(node.op, "largest", 1) < 0:
        return "supports the largest elements only"
    return "needs a constant number of elements" if numbers(node, 1) is None else None


@condition("ConstantOfShape")
def filled_type(node: Node, kind: DataType, version: Version) -> str | None:
    filled = node.outputs[0].dtype
    known = {DataType.FLOAT32, DataType.INT32} | ({DataType.INT64, DataType.BOOL} if version >= Version.V2_0 else set())
    return None if filled in known else f"supports float32 and int32, not {filled.name.lower()}"


@condition("Fill", until=Version.V1_5)
def fill_type(node: Node, kind: DataType, version: Version) -> str | None:
    filled = node.outputs[0].dtype
    known = (DataType.FLOAT32, DataType.INT32, DataType.BOOL)
    return None if filled in known else f"supports float32, int32 and bool, not {filled.name.lower()}"


@condition("OneHot", until=Version.V2_0)
def one_hot(node: Node, kind: DataType, version: Version) -> str | None:
    if len(node.inputs) != 4:
        return "needs both values as separate inputs"
    return "needs a constant depth" if numbers(node, 1) is None else None


@condition("Crop", until=Version.V2_0)
def crop(node: Node, kind: DataType, version: Version) -> str | None:
    """The output gets the whole shape of the reference input."""
    if node.inputs[0].rank != 4 or not has_shape(node.inputs[1]) or node.inputs[1].shape != node.outputs[0].shape:
        return "supports 4-D images that are cropped to the whole shape of the reference only"
    return None


@condition("SparseToDense", until=Version.V2_0)
def sparse_indices(node: Node, kind: DataType, version: Version) -> str | None:
    return "does not support a scalar index" if node.inputs[0].rank == 0 else None


@condition("Range", until=Version.V2_0)
def ranges(node: Node, kind: DataType, version: Version) -> str | None:
    return None if len(node.inputs) == 3 else "needs start, limit and delta as inputs"
