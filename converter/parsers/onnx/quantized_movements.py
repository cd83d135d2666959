"""Rewrites movements of quantized integers like all other quantized operators: dequantize, move, quantize.

onnxruntime's quantizer applies pooling, reshaping and similar operators directly to integers. In ONNX these have no
scale; it is that of the QuantizeLinear that created them. The rewrite is exact: the integers stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from onnx import GraphProto, NodeProto, TensorProto, helper

_MOVEMENTS = frozenset(
    {"DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "GlobalMaxPool", "MaxPool",
     "Reshape", "Resize", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)  # fmt: skip
_STANDARD = ("", "ai.onnx")

_Scale = tuple[str, str]
"""The names of a scale and a zero point; the name of the zero point may be empty."""


def dequantize_movements(graph: GraphProto, constants: Mapping[str, TensorProto]) -> None:
    """Rewrites the main graph in place."""
    scales: dict[str, _Scale] = {}
    single = {name for name, tensor in constants.items() if prod(tensor.dims) == 1}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in _STANDARD and node.output:
            single.update(
                node.output[0] for entry in node.attribute if entry.name == "value" and prod(entry.t.dims) == 1
            )
    kept: list[NodeProto] = []
    for node in graph.node:
        kept.extend(_rewritten(node, scales, single))
    if len(kept) == len(graph.node):
        return
    copies = [NodeProto.FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(copies)


def _rewritten(node: NodeProto, scales: dict[str, _Scale], single: set[str]) -> list[NodeProto]:
    if node.domain not in _STANDARD or not node.input or not node.output:
        return [node]
    if node.op_type == "QuantizeLinear" and len(node.input) > 1 and node.input[1] in single:
        scales[node.output[0]] = (node.input[1], node.input[2] if len(node.input) > 2 else "")
        return [node]
    if node.op_type == "Identity" and node.input[0] in scales:
        scales[node.output[0]] = scales[node.input[0]]
        return [node]
    moved = len(node.input) if node.op_type == "Concat" else 1
    scale = scales.get(node.input[0])
    if scale is None or not (node.op_type == "Concat" or _moves(node)):
        return [node]
    if any(scales.get(name) != scale for name in node.input[:moved]):
        return [node]
    if node.op_type == "MaxPool" and len(node.output) > 1:
        return [node]
    return _around(node, moved, scale, scales)


def _moves(node: NodeProto) -> bool:
    """Returns whether all output elements are elements of the input. Interpolation (Resize) truncates integers."""
    modes = [attribute.s for attribute in node.attribute if attribute.name == "mode"]
    return node.op_type in _MOVEMENTS and (node.op_type != "Resize" or modes in ([], [b"nearest"]))


def _around(node: NodeProto, moved: int, scale: _Scale, scales: dict[str, _Scale]) -> list[NodeProto]:
    label = node.output[0]  # node names need not be unique
    operands = [name for name in scale if name]
    reals = [f"{label}/real_{index}" for index in range(moved)]
    before = [
        helper.make_node("DequantizeLinear", [name, *operands], [real], name=real)
        for name, real in zip(node.input[:moved], reals, strict=True)
    ]
    movement = NodeProto.FromString(node.SerializeToString())
    del movement.input[:], movement.output[:]
    movement.input.extend([*reals, *node.input[moved:]])
    movement.output.extend(f"{name}/real" for name in node.output)
    after = []
    for name in node.output:
        scales[name] = scale
        after.append(helper.make_node("QuantizeLinear", [f"{name}/real", *operands], [name], name=f"{name}/stored"))
    return [*before, movement, *after]
