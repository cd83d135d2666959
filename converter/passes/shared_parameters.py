"""Finds weights that several layers share. They are trained as one, so they must not be folded into other constants."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType

_WEIGHTS_BEHIND_X = frozenset(
    {"Conv2DFusion", "Conv2dTransposeFusion", "MatMulFusion", "FullConnection", "PReLUFusion"}
    | {"LayerNormFusion", "RmsNorm", "InstanceNorm", "ChannelsLastInstanceNorm", "GroupNormFusion", "FusedBatchNorm"}
    | {"LSTM", "GRU", "RNNSequence", "LSTMSequence", "GRUSequence"}
)
_MOVEMENTS = frozenset(
    {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims", "Concat", "Stack", "Cast"}
)
_PARTS = frozenset({"SliceFusion", "StridedSlice", "Split", "Unstack", "Gather", "GatherNd"})
"""Operators that read parts of a constant; layers that use these parts do not share a weight."""


def shared_parameters(graph: Graph) -> frozenset[Value]:
    """Returns the constants that are a weight of a layer, directly or rearranged, and that another node also reads.

    Nodes with constant inputs only do not count as readers; the nodes that read their outputs do."""
    origins: dict[Value, frozenset[Value]] = {}
    moved: set[Value] = set()
    readers: dict[Value, set[Node]] = {}
    weights: set[Value] = set()

    def origins_of(value: Value) -> frozenset[Value]:
        if value.data is not None:
            return frozenset({value}) if value.dtype is DataType.FLOAT32 and value.data.size > 1 else frozenset()
        return origins.get(value, frozenset())

    for node in graph.nodes:
        own = [origins_of(value) for value in node.inputs]
        if node.inputs and all(value.data is not None or value in origins for value in node.inputs):
            known = frozenset[Value]() if node.op.name in _PARTS else frozenset[Value]().union(*own)
            origins.update(dict.fromkeys(node.outputs, known))
            if node.op.name in _MOVEMENTS and all(_is_as_it_is(value, moved) for value in node.inputs):
                moved.update(node.outputs)
            continue
        for place, (value, found) in enumerate(zip(node.inputs, own, strict=True)):
            for constant in found:
                readers.setdefault(constant, set()).add(node)
            if _is_weight(node, place) and _is_as_it_is(value, moved):
                weights |= found
    return frozenset(value for value in weights if len(readers[value]) > 1)


def _is_weight(node: Node, place: int) -> bool:
    return (place > 0 and node.op.name in _WEIGHTS_BEHIND_X) or (place == 0 and node.op.name in ("Gather", "GatherNd"))


def _is_as_it_is(value: Value, moved: set[Value]) -> bool:
    return value.data is not None or value in moved
