"""Relations of operators that compute: matmuls, element-wise operators, normalizations, quantized operators."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.ops.enums import DataType

from ..view import NodeView
from ._declare import IMAGE_RANK, attribute, known, relation

_TILE = 8
"""Multiple to which the columns of a packed matrix are padded."""


@relation
def bias_is_told(node: NodeView) -> str | None:
    """has_bias is true if there is a third input."""
    told = attribute(node, "has_bias")
    return None if told == (len(node.inputs) > 2) else f"has_bias is {told} with {len(node.inputs)} inputs"


@relation
def equal_batches(node: NodeView) -> str | None:
    """Both inputs of a matmul have the same batch dimensions."""
    a, b = known(node.inputs[0]), known(node.inputs[1])
    if a is None or b is None or min(len(a), len(b)) < 2 or prod(a[:-2]) == prod(b[:-2]) == 1:
        return None
    return None if a[:-2] == b[:-2] else f"the batches are {list(a[:-2])} and {list(b[:-2])}"


@relation
def equal_leading_dims(node: NodeView) -> str | None:
    """The batch dimensions of a matmul are compared from the first one on."""
    a, b = known(node.inputs[0]), known(node.inputs[1])
    pairs = zip((a or ())[:-2], (b or ())[:-2], strict=False)
    return (
        None if all(x == y for x, y in pairs) else f"the batches of {list(a or ())} and {list(b or ())} differ in front"
    )


@relation
def no_flat_images(node: NodeView) -> str | None:
    """The first input of a matmul is not [m, k, 1, 1], which would become [m, k]."""
    dims = node.inputs[0].dims
    flat = dims is not None and len(dims) == IMAGE_RANK and dims[2:] == (1, 1)
    return f"input 0 is {list(dims or ())}" if flat else None


@relation
def tile_of_hidden(node: NodeView) -> str | None:
    """With several sequences, the number of hidden units is a multiple of eight."""
    x, weight = known(node.inputs[0]), known(node.inputs[2])
    if x is None or weight is None or len(x) != 3 or x[1] == 1 or weight[-1] % _TILE == 0:
        return None
    return f"{weight[-1]} hidden units for {x[1]} sequences"


@relation
def scale_covers_dims(node: NodeView) -> str | None:
    """The scale of a ScaleFusion has the input's dimensions from `axis` on."""
    x, scale, axis = known(node.inputs[0]), known(node.inputs[1]), attribute(node, "axis")
    if x is None or scale is None:
        return None
    start = axis + len(x) if axis < 0 else axis
    return (
        None if x[start : start + len(scale)] == scale else f"the factors are {list(scale)} for {list(x)}, axis {axis}"
    )


@relation
def slope_per_channel(node: NodeView) -> str | None:
    """PReLUFusion has one slope, or one per channel of the last dimension."""
    x, count = node.inputs[0].dims, node.inputs[1].size
    if count is None:
        return None
    if attribute(node, "channel_shared"):
        return None if count == 1 else f"{count} slopes are shared"
    return None if x is None or x[-1] < 0 or count == x[-1] else f"{count} slopes for {x[-1]} channels"


@relation
def exponent_fits(node: NodeView) -> str | None:
    """The exponent is a scalar, or has the shape of the base."""
    if len(node.inputs) < 2:
        return None
    x, y = known(node.inputs[0]), known(node.inputs[1])
    return (
        None if x is None or y is None or prod(y) == 1 or x == y else f"the exponent is {list(y)}, the base {list(x)}"
    )


@relation
def equal_shapes(node: NodeView) -> str | None:
    """All inputs have one shape."""
    shapes = {known(operand) for operand in node.inputs} - {None}
    return (
        None if len(shapes) < 2 else f"the shapes are {', '.join(sorted(str(list(shape or ())) for shape in shapes))}"
    )


@relation
def one_side_is_one_number(node: NodeView) -> str | None:
    """One of the two inputs has a single element."""
    sizes = [operand.size for operand in node.inputs[:2]]
    return None if None in sizes or 1 in sizes else f"the operands have {sizes[0]} and {sizes[1]} elements"


@relation
def repeated_in_front(node: NodeView) -> str | None:
    """One of two inputs has a single element, or the last dimensions of the other."""
    a, b = known(node.inputs[0]), known(node.inputs[1])
    if a is None or b is None or 1 in (prod(a), prod(b)):
        return None
    short, long = sorted((a, b), key=lambda dims: (prod(dims), len(dims)))
    while len(short) > 1 and short[0] == 1:
        short = short[1:]
    return None if long[len(long) - len(short) :] == short else f"the shapes are {list(a)} and {list(b)}"


@relation
def last_axis(node: NodeView) -> str | None:
    """The axis is the last dimension."""
    axis, rank = attribute(node, "axis"), node.inputs[0].rank
    axes = axis if isinstance(axis, tuple) else (axis,)
    return (
        None if rank is None or all(each in (-1, rank - 1) for each in axes) else f"the axis is {list(axes)} of {rank}"
    )


@relation
def last_or_all_axes(node: NodeView) -> str | None:
    """The axes are the last one, or all."""
    rank, axes = node.inputs[0].rank, attribute(node, "axis") or ()
    if rank is None or len(axes) == rank or list(axes) in ([-1], [rank - 1]):
        return None
    return f"the axes are {list(axes)} of {rank}"


@relation
def some_dims_normalized(node: NodeView) -> str | None:
    """Neither axis of a LayerNormFusion is 0, which is read as the rank."""
    starts = attribute(node, "begin_norm_axis"), attribute(node, "begin_params_axis")
    return f"begin_norm_axis and begin_params_axis are {starts[0]} and {starts[1]}" if 0 in starts else None


@relation
def sigmoid_record(node: NodeView) -> str | None:
    """The output of an int8 sigmoid has the scale 1 / 256 and the zero point -128."""
    records = node.outputs[0].records if node.outputs and node.outputs[0].dtype is DataType.INT8 else []
    found = [(record.scale, record.zeroPoint) for record in records]
    return None if found in ([], [(1 / 256, -128)]) else f"its result has the record {found[0]}"


@relation
def same_quant_params(node: NodeView) -> str | None:
    """Input and output have the same quantization parameters."""
    x, y = ([(each.scale, each.zeroPoint) for each in side[0].records] for side in (node.inputs, node.outputs))
    return None if x == y else f"the records are {x} and {y}"
