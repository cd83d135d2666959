"""Changes data types: those of the model's inputs and outputs, float16 weights, int64 to int32."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.passes.cleanup import remove_dead_code
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.quantized_io import (
    BYTES,
    can_have_type,
    cast_quantized_input,
    cast_quantized_output,
    remove_input_quantization,
    remove_output_dequantization,
)

_REAL = frozenset({DataType.FLOAT32, DataType.FLOAT16, DataType.INT8, DataType.UINT8})
_INTEGER = frozenset({DataType.INT32, DataType.INT64})
_FLOAT16_MAX = 65504.0
_INT32 = np.iinfo(np.int32)


def set_boundary_types(module: Module, context: Context) -> None:
    """Gives inputs and outputs the types of --inputDataType and --outputDataType, and inserts casts.

    Float and 8-bit types apply to float and quantized tensors, int32 and int64 to integer tensors. If a model begins
    with a quantization to 8 bits, or ends with a dequantization, an 8-bit type removes it: the input or output is then
    the quantized tensor.
    """
    wanted_input, wanted_output = context.settings.input_type, context.settings.output_type
    if wanted_input is not None:
        for value in module.main.inputs:
            if wanted_input in BYTES:
                remove_input_quantization(module.main, value)
            if can_have_type(value, wanted_input):
                cast_quantized_input(module.main, value, wanted_input)
            elif _applies(value, wanted_input):
                _cast_input(module.main, value, wanted_input)
    if wanted_output is not None:
        if module.outputs is not None:
            raise ConversionError(
                "--outputDataType cannot be used when control flow ends the model", code=ReturnCode.NOT_SUPPORTED
            )
        graph = module.main
        if wanted_output in BYTES:
            for value in list(graph.outputs):
                remove_output_dequantization(graph, value)
        graph.outputs = [
            cast_quantized_output(graph, value, wanted_output)
            if can_have_type(value, wanted_output)
            else _cast_output(graph, value, wanted_output)
            if _applies(value, wanted_output)
            else value
            for value in graph.outputs
        ]
        remove_dead_code(module, context)


def _applies(value: Value, wanted: DataType) -> bool:
    kinds = _REAL if wanted in _REAL else _INTEGER
    return value.dtype in kinds and value.dtype is not wanted and not value.quant


def _cast_input(graph: Graph, value: Value, wanted: DataType) -> None:
    inside = Value(f"{value.name}_cast", value.dtype, value.shape, format=value.format)
    graph.replace_uses(value, inside)
    target = constant(f"{inside.name}_type", np.array([int(value.dtype)], np.int32))
    value.dtype = wanted
    graph.nodes.insert(0, Node(Cast(), inside.name, (value, target), (inside,)))


def _cast_output(graph: Graph, value: Value, wanted: DataType) -> Value:
    name = value.name
    outside = Value(name, wanted, value.shape, format=value.format)
    if value not in graph.inputs:
        value.name = f"{name}_uncast"
    target = constant(f"{name}_type", np.array([int(wanted)], np.int32))
    graph.nodes.append(Node(Cast(), f"{name}_cast", (value, target), (outside,)))
    return outside


def widen_float16(module: Module, context: Context) -> None:
    """Makes a float16 model compute in float32; inputs and outputs keep float16."""
    values = [value for graph in module.graphs for value in graph.values() if value.dtype is DataType.FLOAT16]
    if not values:
        return
    kept = {value for graph in module.graphs for value in _keep_bits(graph)}
    context.float16_source = True
    context.float32_source = any(_knows_float32(graph) for graph in module.graphs)
    keeps_boundary = context.settings.target is None
    boundary = (
        "with float16 inputs and outputs" if keeps_boundary else "with float32 inputs and outputs, as in MindSpore Lite"
    )
    context.note(f"the float16 model is converted to float32, {boundary}")
    graph = module.main
    inputs = [value for value in graph.inputs if value.dtype is DataType.FLOAT16]
    outputs = [value for value in graph.outputs if value.dtype is DataType.FLOAT16] if module.outputs is None else []
    for value in values:
        value.dtype = DataType.FLOAT32
        if value.data is not None:
            value.data = value.data.astype(np.float32)
    for each in module.graphs:
        for node in each.nodes:
            if kept.isdisjoint(node.outputs):
                _retype_operator(node, DataType.FLOAT16, DataType.FLOAT32)
    if not keeps_boundary:
        return
    declared = list(graph.outputs)
    for value in inputs:
        _cast_input(graph, value, DataType.FLOAT16)
    graph.outputs = [
        before if before in inputs else _cast_output(graph, v, DataType.FLOAT16) if v in outputs else v
        for before, v in zip(declared, graph.outputs, strict=True)
    ]


def _knows_float32(graph: Graph) -> bool:
    """Returns whether the graph has float32 constants, or float32 values that depend on constants only."""
    known = {value for value in graph.values() if value.is_constant}
    for node in graph.nodes:
        if node.inputs and known.issuperset(node.inputs):
            known.update(node.outputs)
    return any(value.dtype is DataType.FLOAT32 for value in known)


def _keep_bits(graph: Graph) -> set[Value]:
    """Inserts casts around nodes that read or write the bytes of float16 elements; returns the values that stay
    float16."""
    kept: set[Value] = set()
    for node in [node for node in graph.nodes if isinstance(node.op, Bitcast)]:
        at = graph.nodes.index(node)
        (value, result), half = (node.inputs[0], node.outputs[0]), DataType.FLOAT16
        kind = constant(f"{node.name}_float16", np.array([int(half)], np.int32))
        if value.dtype is half:
            bits = Value(f"{value.name}_bits", half, value.shape, format=value.format)
            node.set_inputs([bits, *node.inputs[1:]])
            graph.nodes.insert(at, Node(Cast(), bits.name, (value, kind), (bits,)))
            kept.add(bits)
        if result.dtype is half:
            bits = Value(f"{result.name}_bits", half, result.shape, format=result.format, producer=node)
            node.outputs = (bits,)
            graph.nodes.insert(graph.nodes.index(node) + 1, Node(Cast(), bits.name, (bits, kind), (result,)))
            kept.add(bits)
    return kept


def store_float16(module: Module, context: Context) -> None:
    """Stores float32 constants as float16, if they are in its range; activations stay float32.

    If only a part of the source is float16, only constants without rounding errors are stored as float16, because the
    part that they belong to is unknown. For MindSpore Lite 1.5 constants stay float32: it misreads float16 constants.
    """
    wanted = context.settings.float16_weights
    if not wanted and not context.float16_source:
        return
    if context.settings.target is Version.V1_5:
        context.note("constants stay float32: MindSpore Lite 1.5 misreads float16 constants")
        return
    for graph in module.graphs:
        for value in graph.values():
            if value.data is None or value.data.dtype != np.float32 or value.quant or not value.data.size:
                continue
            if not bool((np.abs(value.data[np.isfinite(value.data)]) <= _FLOAT16_MAX).all()):
                context.note(f"constant '{value.name}' stays float32: it exceeds the range of float16")
                continue
            narrow = value.data.astype(np.float16)
            if not wanted and context.float32_source and not np.array_equal(narrow, value.data, equal_nan=True):
                continue
            value.data = narrow
            value.dtype = DataType.FLOAT16


def narrow_all_int64(module: Module, context: Context) -> None:
    """Converts all int64 tensors to int32, as MindSpore Lite does (--int64=int32). Constants are clamped to int32."""
    if not context.settings.int64_to_int32:
        return
    for graph in module.graphs:
        for value in graph.values():
            if value.dtype is not DataType.INT64:
                continue
            value.dtype = DataType.INT32
            if value.data is not None:
                narrow = np.clip(value.data.astype(np.int64), _INT32.min, _INT32.max).astype(np.int32)
                if not np.array_equal(narrow, value.data):
                    context.note(
                        f"constant '{value.name}' has elements outside of the range of int32, which are clamped"
                    )
                value.data = narrow
        for node in graph.nodes:
            _retype_operator(node, DataType.INT64, DataType.INT32)


def _retype_operator(node: Node, old: DataType, new: DataType) -> None:
    """Changes the output type in operators that have it as an attribute or input."""
    if isinstance(node.op, Cast) and len(node.inputs) > 1 and node.inputs[1].data is not None:
        if int(node.inputs[1].data.reshape(-1)[0]) == old:
            node.set_inputs([node.inputs[0], constant(f"{node.name}_type", np.array([int(new)], np.int32))])
        return
    for attribute in ("data_type", "d_type"):
        if getattr(node.op, attribute, None) == old:
            node.op = changed(node.op, **{attribute: int(new)})
