"""Constant folding: computes nodes with constant inputs by the scalar kernels, with the same bits on every machine."""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.layer_names import is_named
from mslite.converter.memory_limit import try_spend
from mslite.converter.mindir.graph import Graph, Module, Node, Value, is_parameter_of, numpy_type
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.passes import native_rules
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.layout.table import is_channels_last_only
from mslite.converter.passes.shared_parameters import shared_parameters
from mslite.converter.unexpected_errors import unexpected_errors_at_node

SIZE_LIMIT = 1 << 16
"""Bytes of constants that a fold may always create. A larger fold may only create as much as it makes unused."""

_NO_MATTER = 1 << 10
"""Smaller results, such as shape computations, are not counted."""

_FREE_GROWTH, _GROWTH = 16 << 20, 1
"""Limits for the growth of constants by all folds together: bytes, and the factor of the source's constants."""

_RANDOM = frozenset({"RandomNormal", "RandomStandardNormal", "UniformReal", "Dropout"})
_CONTROL = frozenset(
    {"PartialFusion", "Switch", "SwitchLayer", "Call", "Assert", "Depend", "ReadVariable", "AssignVariable"}
    | {"TensorListReserve", "TensorListFromTensor"}
)
_REARRANGING = frozenset(
    {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims", "Cast", "SliceFusion", "StridedSlice"}
    | {"Split", "Unstack"}
)
"""Operators that may be folded on a trainable parameter: training the result is equivalent."""
_QUANTIZED_TYPES = (DataType.INT8, DataType.UINT8, DataType.INT16)
_INTEGERS = (DataType.INT32, DataType.INT64)


def fold_constants(module: Module, context: Context) -> None:
    """Replaces nodes by constants if their outputs are constant."""
    for graph in module.graphs:
        shared = shared_parameters(graph) if context.settings.training else frozenset()
        for node in list(graph.nodes):
            if shared.intersection(node.inputs):
                continue
            with unexpected_errors_at_node(node.name, node.op.name):
                if _is_quantized(node) or not _fold_known(graph, node, context):
                    _fold_constant(graph, node, context)
        graph.nodes = live_nodes(graph)


def _is_quantized(node: Node) -> bool:
    return node.quant_type != 0 or any(value.quant for value in (*node.inputs, *node.outputs))


def _kernels_know(node: Node) -> bool:
    """Returns whether folding respects all quantization parameters: kernels read those of 8- and 16-bit inputs, none
    of outputs."""
    records = [value.quant for value in node.inputs]
    return all(not value.quant or value.dtype in _QUANTIZED_TYPES for value in node.inputs) and all(
        not value.quant or value.quant in records for value in node.outputs
    )


def _note_quantized(node: Node, context: Context) -> None:
    """Adds a note for a node that is not folded: kernels would compute with the stored integers, not with their float
    values."""
    names = ", ".join(f"'{value.name}'" for value in (*node.inputs, *node.outputs) if value.quant)
    what = f"{names} are quantized" if names else "it computes with quantized tensors"
    context.note(f"{node.op.name} '{node.name}' has constant inputs but is not folded: {what}")


def _fold_known(graph: Graph, node: Node, context: Context) -> bool:
    """Folds an integer value that shape inference computed (Shape → Gather → Concat chains). Returns whether it did."""
    if not node.outputs:
        return False
    (value, *others) = node.outputs
    known = context.known.get(value)
    if others or known is None or value.dtype not in _INTEGERS or not value.is_static or value in graph.outputs:
        return False
    if any(entry <= -(1 << 40) for entry in known) or len(known) != math.prod(value.shape or ()):
        return False
    context.depends_on_input_sizes |= not all(operand.is_constant for operand in node.inputs)
    _replace(graph, value, np.array(known, numpy_type(value.dtype)).reshape(value.shape or ()))
    return True


def _fold_constant(graph: Graph, node: Node, context: Context) -> None:
    name = node.op.name
    if name in _RANDOM or name in _CONTROL or not node.inputs or not node.outputs:
        return
    if context.layout is Format.NCHW and is_channels_last_only(node):
        return
    if context.settings.training and _reads_parameters(node, context):
        return
    if any(value.data is None for value in node.inputs) or any(value in graph.outputs for value in node.outputs):
        return
    if context.settings.training and _folded_before(graph, node, context):
        return
    if not all(value.is_static for value in node.outputs) or not _small_enough(node, context):
        return
    if node.quant_type != 0 or not _kernels_know(node):
        _note_quantized(node, context)
        return
    try:
        facts = [
            native_rules.NativeTensorFacts(value.dtype, value.shape, None, value.data, value.quant)
            for value in node.inputs
        ]
        arrays = native_rules.evaluate(node.op, facts, len(node.outputs))
    except native_rules.NativeRuleError as error:
        if _is_quantized(node):
            _note_quantized(node, context)
            return
        context.note(f"{node.op.name} '{node.name}' has constant inputs but is not folded: {error}")
        return
    is_parameter = is_parameter_of(value for value in node.inputs if value.dtype is DataType.FLOAT32)
    folded = [_replace(graph, value, array, is_parameter) for value, array in zip(node.outputs, arrays, strict=True)]
    for value in folded:
        value.of_one_layer = any(operand.of_one_layer for operand in node.inputs)
    if context.settings.training:
        context.folded[node.op, node.inputs, len(node.outputs)] = folded
    node.set_inputs(())  # releases the inputs before the graph is cleaned up


def _folded_before(graph: Graph, node: Node, context: Context) -> bool:
    """Reuses the constants of an equal node that was folded before, so that layers share a parameter. Returns whether
    it did."""
    before = context.folded.get((node.op, node.inputs, len(node.outputs)))
    if before is None:
        return False
    for value, folded in zip(node.outputs, before, strict=True):
        graph.replace_uses(value, folded)
    node.set_inputs(())
    return True


def _reads_parameters(node: Node, context: Context) -> bool:
    """Returns whether a node reads rows of a table, a constant that is named as trained, or computes with a
    parameter."""
    first = node.inputs[0]
    is_table = node.op.name in ("Gather", "GatherNd") and first.dtype is DataType.FLOAT32 and (first.rank or 0) > 1
    named = context.settings.trained_constants
    computes = any(value.is_parameter for value in node.inputs) and not _rearranges(node)
    return is_table or computes or any(is_named(value.name, name) for value in node.inputs for name in named)


def _rearranges(node: Node) -> bool:
    """Returns whether a node only rearranges a parameter, without duplicating elements."""
    if node.op.name in _REARRANGING:
        return True
    is_joint = node.op.name in ("Concat", "Stack") and all(value.is_parameter for value in node.inputs)
    return is_joint and len(set(node.inputs)) == len(node.inputs)


def _small_enough(node: Node, context: Context) -> bool:
    """Returns whether the growth of all folds is within its limits and the memory limit."""
    result = sum(_bytes(value) for value in node.outputs)
    if result <= _NO_MATTER:
        return True
    freed = sum(_bytes(value) for value in dict.fromkeys(node.inputs) if all(user is node for user in value.users))
    if result > max(SIZE_LIMIT, freed):
        return False
    growth = result - freed
    if context.folded_growth + growth > max(_FREE_GROWTH, context.source_bytes * _GROWTH):
        context.note("nodes with constant inputs stay where folding them would make the file yet larger")
        return False
    if not try_spend(max(growth, 0)):
        return False
    context.folded_growth += growth
    return True


def _bytes(value: Value) -> int:
    try:
        return math.prod(value.shape or ()) * numpy_type(value.dtype).itemsize
    except ValueError:
        return 1 << 62


def _replace(
    graph: Graph,
    value: Value,
    array: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    is_parameter: bool | None = None,
) -> Value:
    folded = Value(value.name, value.dtype, tuple(array.shape), data=array, format=value.format, quant=value.quant)
    folded.is_parameter = is_parameter
    graph.replace_uses(value, folded)
    return folded
