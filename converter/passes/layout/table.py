"""The layout behavior of each operator. Operators that are not listed have the behavior of the `layout` in their
declaration."""

from __future__ import annotations

from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm, InstanceNorm
from mslite.converter.passes.custom_shapes import follows_layout
from mslite.converter.passes.layout.axis_behaviors import (
    AxisBased,
    ChannelsFirst,
    ChannelsLast,
    Elementwise,
    Rounding,
    axes_attribute,
    axis_attribute,
    axis_operand,
    has_axes,
    has_constant,
    has_rows,
    keeps_rank,
    permute_rows,
    record_axis,
    remap_axes_list,
)
from mslite.converter.passes.layout.layouts import Behavior
from mslite.converter.passes.layout.reshape_behaviors import (
    Gathering,
    Reducing,
    Reshaping,
    ShapeOf,
    SizeOf,
    Transposing,
)
from mslite.converter.passes.layout.slice_remapping import (
    can_remap_slice,
    can_remap_strided_slice,
    remap_slice,
    remap_strided_slice,
)
from mslite.converter.passes.layout.squeeze_behavior import Squeezing


def _single_scale(node: Node) -> bool:
    """Returns whether the scale and bias of ScaleFusion have one dimension."""
    return all(value.rank is not None and value.rank <= 1 for value in node.inputs[1:])


def _channels_last_norm(op: Operator) -> Operator:
    assert isinstance(op, InstanceNorm)
    return ChannelsLastInstanceNorm(epsilon=op.epsilon)


_SOURCE = Behavior()
_CHANNELS_LAST = ChannelsLast()
_ELEMENTWISE = Elementwise()
_AXIS = AxisBased(axis_attribute, keeps_rank)
_AXES = AxisBased(axes_attribute, has_axes)
_RESHAPING = Reshaping()
_SQUEEZING = Squeezing()
_SIZE = SizeOf()
_REDUCING = Reducing()

_BY_NAME: dict[str, Behavior] = {
    "Cast": Elementwise(1),
    "QuantDTypeCast": Elementwise(1, record_axis),
    "DynamicQuantizeLinear": Rounding(),
    "InstanceNorm": ChannelsFirst(_channels_last_norm),
    "Softmax": _AXES,
    "L2NormalizeFusion": _AXES,
    "ReverseV2": _AXES,
    "Concat": AxisBased(axis_attribute, keeps_rank, several_inputs=True),
    "TopKFusion": _AXIS,
    "ScaleFusion": AxisBased(axis_attribute, _single_scale),
    "CumSum": AxisBased(axis_operand(1), has_constant(1)),
    "CumProd": AxisBased(axis_operand(1), has_constant(1)),
    "PadFusion": AxisBased(permute_rows, has_rows),
    "PadExtend": AxisBased(permute_rows, has_rows),
    "ResizeND": AxisBased(remap_axes_list),
    "TileFusion": AxisBased(permute_rows, has_rows),
    "BroadcastTo": AxisBased(permute_rows, has_rows),
    "StridedSlice": AxisBased(remap_strided_slice, can_remap_strided_slice),
    "SliceFusion": AxisBased(remap_slice, can_remap_slice),
    "ReduceFusion": _REDUCING,
    "ReduceLogSumExp": _REDUCING,
    "ArgMaxFusion": _REDUCING,
    "ArgMinFusion": _REDUCING,
    "Reshape": _RESHAPING,
    "Flatten": _RESHAPING,
    "Squeeze": _SQUEEZING,
    "Unsqueeze": _SQUEEZING,
    "ExpandDims": _RESHAPING,
    "Transpose": Transposing(),
    "Shape": ShapeOf(),
    "Size": _SIZE,
    "Rank": _SIZE,
    "Gather": Gathering(),
    "Crop": _SOURCE,
}


def layout_behavior(node: Node) -> Behavior:
    """Returns the layout behavior of a node."""
    declaration = node.op.declaration
    if declaration.name in _BY_NAME:
        return _BY_NAME[declaration.name]
    if declaration.name == "Custom":
        return _ELEMENTWISE if follows_layout(node) else _SOURCE
    if declaration.name in ("Where", "Select"):
        return _ELEMENTWISE if len(node.inputs) == 3 else _SOURCE
    by_layout = {"nhwc": _CHANNELS_LAST, "elementwise": _ELEMENTWISE, "axis": _AXIS}
    return by_layout.get(declaration.layout, _SOURCE)


def is_channels_last_only(node: Node) -> bool:
    """Returns whether a node computes in channels-last layout only."""
    return isinstance(layout_behavior(node), ChannelsLast)
