"""Finds the layouts that MindSpore Lite assumes for tensors when it runs a model.

Its shape inference gives an output the layout of the first input, or, for element-wise operators, of the input with
more dimensions. Only a Transpose between NHWC and NCHW changes the layout. Operators on images read dimensions by the
assumed layout, or refuse any other than NHWC.
"""

from __future__ import annotations

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.compatibility_fields import stored_format
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import Format

_BROADCASTING = frozenset(
    {"AddFusion", "SubFusion", "MulFusion", "DivFusion", "RealDiv", "Maximum", "Minimum", "FloorDiv", "FloorMod", "Mod",
     "SquaredDifference", "Eltwise", "Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr"}
)  # fmt: skip
_ON_IMAGES = frozenset(
    {"Conv2DFusion", "Conv2dTransposeFusion", "AdderFusion", "AvgPoolFusion", "MaxPoolFusion", "Resize", "DepthToSpace",
     "SpaceToDepth", "SpaceToBatch", "SpaceToBatchND", "BatchToSpace", "BatchToSpaceND", "PriorBox", "ROIPooling", "CropAndResize",
     "TopKFusion"}
)  # fmt: skip
_IMAGE_RANK = 4
_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def assumed_layouts(graph: Graph, is_main: bool, version: Version) -> dict[Value, Format]:
    """Returns the layout that MindSpore Lite assumes for each graph input and node output."""
    formats = {value: stored_format(value, is_main) for value in graph.inputs}
    for node in graph.nodes:
        handed_on = _handed_on(node, formats, version)
        formats.update((value, handed_on) for value in node.outputs)
    return formats


def reads_nhwc_as_nchw(node: Node, formats: dict[Value, Format]) -> bool:
    """Returns whether an operator on images would read its NHWC input as NCHW."""
    if node.op.name not in _ON_IMAGES or not node.inputs or node.inputs[0].rank != _IMAGE_RANK:
        return False
    return _of(node.inputs[0], formats) is Format.NCHW


def _of(value: Value, formats: dict[Value, Format]) -> Format:
    return formats[value] if value in formats else stored_format(value, False)


def output_has_layout_of_constant(node: Node, version: Version) -> bool:
    """Returns whether the output of an element-wise operator gets the layout of its constant input.

    Observed in 2.0, if the shapes are unknown before the model runs.
    """
    if version is not Version.V2_0 or node.op.name not in _BROADCASTING or len(node.inputs) < 2:
        return False
    first, second = node.inputs[:2]
    return second.is_constant and (first.shape is None or min(first.shape, default=0) < 0)


def _handed_on(node: Node, formats: dict[Value, Format], version: Version) -> Format:
    if not node.inputs:
        return Format.NHWC
    first = node.inputs[0]
    is_second = (
        node.op.name in _BROADCASTING and len(node.inputs) > 1 and (node.inputs[1].rank or 0) > (first.rank or 0)
    )
    if is_second or output_has_layout_of_constant(node, version):
        first = node.inputs[1]
    handed_on = _of(first, formats)
    if node.op.name == "Transpose" and len(node.inputs) > 1 and node.inputs[1].data is not None:
        perm = tuple(int(axis) for axis in node.inputs[1].data.reshape(-1))
        if (handed_on, perm) == (Format.NHWC, _TO_NCHW):
            return Format.NCHW
        if (handed_on, perm) == (Format.NCHW, _TO_NHWC):
            return Format.NHWC
    return handed_on
