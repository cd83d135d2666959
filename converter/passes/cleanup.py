"""Removes dead code, no-ops and common subexpressions."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import bypass, live_nodes

_UNREPEATABLE = frozenset(
    {"RandomNormal", "RandomStandardNormal", "UniformReal", "PartialFusion", "Switch", "SwitchLayer", "Call", "Assert",
     "TensorArray", "TensorListReserve", "Assign", "AssignAdd", "AssignVariable", "Depend"}
)  # fmt: skip


def remove_dead_code(module: Module, context: Context) -> None:
    """Removes nodes that nothing depends on."""
    for graph in module.graphs:
        graph.nodes = live_nodes(graph)


_SIZED = frozenset({"BroadcastTo", "Slice", "SliceFusion", "StridedSlice"})
"""Operators that are no-ops only for certain sizes of the input."""


def remove_identities(module: Module, context: Context) -> None:
    """Removes operators with an output that always equals the input."""
    for graph in module.graphs:
        for node in list(graph.nodes):
            if node.inputs and node.outputs and _is_identity(node, context.settings.training):
                context.depends_on_input_sizes |= node.op.name in _SIZED and node.inputs[0].is_static
                bypass(graph, node, node.inputs[0])
        graph.nodes = live_nodes(graph)


def _is_identity(node: Node, training: bool) -> bool:
    before, after = node.inputs[0], node.outputs[0]
    if before.dtype != after.dtype or before.quant != after.quant:
        return False
    name, same_shape = node.op.name, before.shape is not None and before.shape == after.shape
    match name:
        case "Cast" | "Depend":
            return True
        case "Dropout":
            has_seed = len(node.inputs) > 1
            return not training and not has_seed and not (len(node.outputs) > 1 and node.outputs[1].users)
        case "Activation":
            assert isinstance(node.op, Activation)
            return node.op.activation_type is ActivationType.NO_ACTIVATION
        case "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "ExpandDims" | "BroadcastTo" | "TileFusion":
            return same_shape
        case "PadFusion":
            return same_shape and _pads_nothing(node)
        case "Slice" | "SliceFusion" | "StridedSlice":
            return same_shape and after.is_static and _steps_forward(node)
        case "Concat" | "AddN":
            return len(node.inputs) == 1
        case "Split":
            return len(node.outputs) == 1
        case "DepthToSpace" | "SpaceToDepth":
            return getattr(node.op, "block_size", 0) == 1
        case "Transpose":
            perm = node.inputs[1].data if len(node.inputs) > 1 else None
            return perm is not None and [int(axis) for axis in perm.reshape(-1)] == list(range(perm.size))
        case _:
            return False


def _pads_nothing(node: Node) -> bool:
    """Returns whether all paddings are 0. The shape alone is not enough: a positive and a negative padding can cancel
    out."""
    assert isinstance(node.op, PadFusion)
    paddings = node.inputs[1].data if len(node.inputs) > 1 else np.asarray(node.op.paddings)
    return paddings is not None and not np.any(paddings)


def _steps_forward(node: Node) -> bool:
    """Returns whether all strides are positive: a slice that keeps the shape is then a no-op."""
    if node.op.name != "StridedSlice" or len(node.inputs) < 4:
        return True
    strides = node.inputs[-1].data
    return strides is not None and all(int(stride) > 0 for stride in strides.reshape(-1))


def merge_common(module: Module, context: Context) -> None:
    """Merges nodes with equal operators and inputs, and equal constants."""
    for graph in module.graphs:
        _merge_constants(graph, context.settings.training)
        seen: dict[object, Node] = {}
        for node in list(graph.nodes):
            if node.op.name in _UNREPEATABLE or any(value in graph.outputs or value.quant for value in node.outputs):
                continue
            key = (node.op, tuple(id(value) for value in node.inputs), len(node.outputs), node.quant_type,
                   tuple(value.dtype for value in node.outputs))  # fmt: skip
            first = seen.setdefault(key, node)
            if first is not node:
                for mine, theirs in zip(node.outputs, first.outputs, strict=True):
                    graph.replace_uses(mine, theirs)
        graph.nodes = live_nodes(graph)


def _merge_constants(graph: Graph, training: bool) -> None:
    """Merges equal constants, except those that are trained.

    Small ones are compared by contents, large ones by identity of the array.
    """
    seen: dict[object, Value] = {}
    for node in graph.nodes:
        changed = list(node.inputs)
        for index, value in enumerate(node.inputs):
            if value.data is not None and not value.quant and not (training and value.dtype is DataType.FLOAT32):
                contents = value.data.tobytes() if value.data.nbytes <= 4096 else id(value.data)
                key = (value.dtype, value.shape, value.format, contents)
                changed[index] = seen.setdefault(key, value)
        if any(a is not b for a, b in zip(changed, node.inputs, strict=True)):
            node.set_inputs(changed)
