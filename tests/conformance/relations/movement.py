"""Relations of operators that move, select and concatenate elements."""

from __future__ import annotations

from math import prod

from ..view import NodeView
from ._declare import attribute, known, relation


@relation
def split_into_outputs(node: NodeView) -> str | None:
    """Split.output_num is the number of outputs, and size_splits is not longer."""
    count, sizes = attribute(node, "output_num"), attribute(node, "size_splits") or ()
    if count != len(node.outputs):
        return f"output_num is {count} for {len(node.outputs)} outputs"
    return f"size_splits has {len(sizes)} numbers" if sizes and len(sizes) != count else None


@relation
def open_size_is_last(node: NodeView) -> str | None:
    """-1 (the rest) is the last value of size_splits."""
    return "size_splits has -1 before its end" if -1 in (attribute(node, "size_splits") or ())[:-1] else None


@relation
def split_evenly(node: NodeView) -> str | None:
    """Without sizes, the outputs of a Split are equal."""
    dims, axis = known(node.inputs[0]), attribute(node, "axis")
    if dims is None or not dims or attribute(node, "size_splits") or not -len(dims) <= axis < len(dims):
        return None
    return None if dims[axis] % max(len(node.outputs), 1) == 0 else f"{dims[axis]} rows do not split evenly"


@relation
def whole_permutation(node: NodeView) -> str | None:
    """A constant permutation contains each dimension once."""
    order, rank = (node.inputs[1].numbers if len(node.inputs) > 1 else None), node.inputs[0].rank
    if order is None or rank is None:
        return None
    return None if sorted(order.tolist()) == list(range(rank)) else f"perm is {order.tolist()} for {rank} dimensions"


@relation
def leading_axes(node: NodeView) -> str | None:
    """The axes of SliceFusion, if given, are 0, 1, 2 and so on."""
    axes = attribute(node, "axes")
    return None if axes is None or list(axes) == list(range(len(axes))) else f"axes are {list(axes)}"


@relation
def axes_ascend(node: NodeView) -> str | None:
    """The axes of Squeeze and Unsqueeze are ascending, counted from the front."""
    axes, rank = list(attribute(node, "axis") or ()), node.inputs[0].rank
    if rank is None:
        return None if axes == sorted(axes) else f"axis is {axes}"
    whole = rank + (len(axes) if node.operator == "Unsqueeze" else 0)
    front = [axis + whole if axis < 0 else axis for axis in axes]
    return None if front == sorted(front) else f"axis is {axes}"


@relation
def ends_within(node: NodeView) -> str | None:
    """Begins and ends of a StridedSlice without axes are in range, because they are not clamped."""
    dims, begin, end = node.inputs[0].dims, node.inputs[1].numbers, node.inputs[2].numbers
    if dims is None or begin is None or end is None:
        return None
    masks = (attribute(node, "begin_mask"), attribute(node, "end_mask"))
    skipped = attribute(node, "new_axis_mask") | attribute(node, "shrink_axis_mask") | attribute(node, "ellipsis_mask")
    for position, size in enumerate(dims[: len(begin)]):
        if size < 0 or skipped >> position & 1:
            continue
        for what, place, mask in (("begin", begin, masks[0]), ("end", end, masks[1])):
            if not mask >> position & 1 and not -size <= place[position] <= size:
                return f"{what} {place[position]} lies outside dimension {position} of {size}"
    return None


@relation
def forward_steps(node: NodeView) -> str | None:
    """The strides of a StridedSlice without axes are positive."""
    steps = node.inputs[3].numbers
    return f"strides are {steps.tolist()}" if steps is not None and steps.min(initial=1) < 0 else None


@relation
def shape_has_data(node: NodeView) -> str | None:
    """A constant shape is not empty: an empty one, for a scalar, is not treated as a constant."""
    shape = node.inputs[1] if len(node.inputs) > 1 else None
    if shape is None or not shape.is_constant or shape.tensor.externalData:
        return None
    return None if memoryview(shape.tensor.data or b"").nbytes else "the shape has no numbers"


@relation
def whole_target(node: NodeView) -> str | None:
    """The shape of a BroadcastTo has all dimensions; each dimension of the input equals it or is 1."""
    numbers = node.inputs[1].numbers if len(node.inputs) > 1 else None
    given = numbers.tolist() if numbers is not None else None
    target = list(attribute(node, "shape") or ()) if len(node.inputs) == 1 else given
    x = known(node.inputs[0])
    if target is None or x is None:
        return None
    behind = target[len(target) - len(x) :] if len(target) >= len(x) else []
    fits = len(behind) == len(x) and all(size in (1, wanted) for size, wanted in zip(x, behind, strict=True))
    return None if fits else f"{list(x)} becomes {target}"


@relation
def no_empty_parts(node: NodeView) -> str | None:
    """No input is empty."""
    return next((f"input {n} has no elements" for n, each in enumerate(node.inputs) if each.size == 0), None)


@relation
def condition_fits(node: NodeView) -> str | None:
    """The condition has one element, or the shape of both inputs."""
    if len(node.inputs) != 3:
        return None
    shapes = [known(operand) for operand in node.inputs]
    if any(shape is None for shape in shapes) or prod(shapes[0] or ()) == 1:
        return None
    return None if len(set(shapes)) == 1 else f"the shapes are {', '.join(str(list(shape or ())) for shape in shapes)}"


@relation
def one_shape_or_one_number(node: NodeView) -> str | None:
    """All inputs have one shape, except scalars."""
    shapes = {shape for shape in map(known, node.inputs) if shape is not None and prod(shape) != 1}
    return None if len(shapes) < 2 else f"the shapes are {', '.join(map(str, sorted(map(list, shapes))))}"
