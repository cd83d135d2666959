"""Relations of operators on images."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, PadMode, ResizeMethod, RoundMode

from ..view import NodeView
from ._declare import IMAGE_RANK, attribute, known, relation


@relation
def window_of_weight(node: NodeView) -> str | None:
    """kernel_size matches the weight [out, height, width, in]."""
    size, dims = attribute(node, "kernel_size"), node.inputs[1].dims
    if size is None or dims is None or len(dims) != IMAGE_RANK:
        return None
    return None if tuple(size) == dims[1:3] else f"kernel_size is {list(size)}, the weight {list(dims)}"


@relation
def one_group_or_depthwise(node: NodeView) -> str | None:
    """A transposed convolution has one group, or is depthwise."""
    group, dims = attribute(node, "group"), node.inputs[1].dims
    if group <= 1 or dims is None or len(dims) != IMAGE_RANK:
        return None
    return None if dims[0] == group and dims[3] == 1 else f"group is {group} with the weight {list(dims)}"


@relation
def windows_touch_image(node: NodeView) -> str | None:
    """No pooling window is completely in the padding; with round_mode CEIL none starts after the image."""
    size, steps, pad = (attribute(node, name) for name in ("kernel_size", "strides", "pad"))
    dims = known(node.inputs[0])
    padded = attribute(node, "pad_mode") == PadMode.PAD and len(pad or ()) == IMAGE_RANK
    if attribute(node, "global_") or dims is None or len(dims) != IMAGE_RANK or not padded or not size or not steps:
        return None
    up = attribute(node, "round_mode") == RoundMode.CEIL
    for side in (0, 1):
        first, last, step = pad[2 * side], pad[2 * side + 1], max(steps[side], 1)
        free = dims[1 + side] + first + last - size[side]
        start = (free + (step - 1 if up else 0)) // step * step - first
        if first >= size[side] or start >= dims[1 + side]:
            return f"a window of {size[side]} lies outside the image of {dims[1 + side]}"
    return None


@relation
def counted_sizes(node: NodeView) -> str | None:
    """The target size of a Resize has one or two values in int32 pixels."""
    target = node.inputs[1] if len(node.inputs) > 1 else None
    if target is None or target.size not in (1, 2) or target.dtype in (DataType.INT32, DataType.UNKNOWN):
        return None
    return f"input 1 is {target.size} numbers of {target.dtype.name}"


@relation
def aligned_corners_differ(node: NodeView) -> str | None:
    """With ALIGN_CORNERS, Resize gives more than one pixel in each direction."""
    op = node.node.primitive
    if attribute(node, "coordinate_transform_mode") != CoordinateTransformMode.ALIGN_CORNERS:
        return None
    dims = known(node.outputs[0]) or (0, getattr(op, "new_height", 0), getattr(op, "new_width", 0), 0)
    is_single = len(dims) == IMAGE_RANK and 1 in dims[1:3] and attribute(node, "method") != ResizeMethod.NEAREST
    return f"the result is {list(dims)}" if is_single else None


@relation
def reference_has_front(node: NodeView) -> str | None:
    """The reference of a Crop has the same dimensions as the input before `axis`."""
    x, reference, axis = known(node.inputs[0]), known(node.inputs[1]), attribute(node, "axis")
    if x is None or reference is None:
        return None
    return None if x[:axis] == reference[:axis] else f"the reference is {list(reference)} for {list(x)}, axis {axis}"


@relation
def mean_of_image(node: NodeView) -> str | None:
    """A mean over height and width has batch 1, or a multiple of four channels."""
    dims, axes = known(node.inputs[0]), node.inputs[1].numbers
    if dims is None or axes is None:
        return None
    front = sorted(axis % len(dims) for axis in axes.tolist()) if dims else []
    is_whole = len(dims) == IMAGE_RANK and front == [1, 2] and (dims[0] == 1 or dims[3] % 4 == 0)
    return None if is_whole else f"it takes the mean of {list(dims)} over {axes.tolist()}"


@relation
def one_class(node: NodeView) -> str | None:
    """The scores of a NonMaxSuppression are of one image and one class."""
    dims = known(node.inputs[1])
    return f"the scores are {list(dims)}" if dims is not None and len(dims) == 3 and dims[:2] != (1, 1) else None
