"""Converts quantized operators: to an integer node if that is possible, else to float nodes between casts.

Integer nodes of MindIR have quantization parameters on every operand and result. An operator that becomes one integer
node (plus nodes that only move elements, or an activation after it) is converted directly. Other operators are
converted as float operators: operands are dequantized before, and results are quantized after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.mindir.quantized import (
    LOOKS,
    MOVES,
    NARROW,
    ON_INTEGERS,
    channel_axis,
    is_quantized,
    only_moves_elements,
    same_quant_params,
)
from mslite.converter.parsers.naming import Blocked

from .call import Call
from .quantization_parameters import channel_scale_axis, has_channel_scales, is_shifted, quant_params, stored_type
from .quantization_parameters import is_quantized as is_quantized_tensor
from .scope import Scope

_OWN_WAYS = frozenset(
    {"QUANTIZE", "DEQUANTIZE", "CAST", "IF", "WHILE", "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}
)
"""Operators with converters that handle quantized tensors themselves."""

_OF_STORED_INTEGERS = frozenset({"FLOOR_DIV", "FLOOR_MOD"})
"""Operators that compute on the stored integers and ignore quantization parameters."""

_SPLITTING = frozenset({"SPLIT", "SPLIT_V"})
"""Operators that copy stored integers into several results with separate quantization parameters."""

_NOT_COMPUTING = frozenset(
    {"Bitcast", "QuantDTypeCast", "PartialFusion", "Switch", "Call", "ReadVariable", "AssignVariable"}
)


def is_quantized_call(call: Call) -> bool:
    """Returns whether an operand or a result is quantized, and the converter does not handle that itself."""
    if call.node.name in _OWN_WAYS:
        return False
    tensors = call.scope.source.tensors
    used = [index for index in (*call.node.inputs, *call.node.outputs) if index >= 0]
    if call.node.name in _OF_STORED_INTEGERS and not any(is_shifted(tensors[index]) for index in used):
        return False
    narrow = [tensors[index] for index in used if is_quantized_tensor(tensors[index])]
    activations = [tensors[index] for index in call.node.inputs if index >= 0 and tensors[index].data is None]
    # An operator with only quantized weights computes in float.
    return any(tensor.data is None for tensor in narrow) or (bool(narrow) and not activations)


def convert_quantized(call: Call, converter: Callable[[Call], Value | Sequence[Value]]) -> Sequence[Value]:
    """Converts a quantized operator with its converter, in integers or in float. Raises Blocked."""
    scope = call.scope
    first = len(scope.graph.nodes)
    variables = scope.variables.copy()
    used = [scope.source.tensors[index] for index in (*call.node.inputs, *call.node.outputs) if index >= 0]
    # Integer nodes support neither per-channel scales of computed tensors nor dequantized weights.
    if any(has_channel_scales(tensor) or tensor.is_decoded for tensor in used):
        return _on_reals(call, converter)
    try:
        results = _sequence(converter(call))
        if call.node.name in _SPLITTING:
            results = [_copied(call, value, index) for index, value in enumerate(results)]
        if _say_all(scope.graph.nodes[first:], results, call):
            return results
    except Blocked:
        pass
    for node in scope.graph.nodes[first:]:
        node.set_inputs(())
    del scope.graph.nodes[first:]
    scope.variables.restore(variables)
    return _on_reals(call, converter)


def _on_reals(call: Call, converter: Callable[[Call], Value | Sequence[Value]]) -> Sequence[Value]:
    call.in_float = True
    return [_quantized(call, value, index) for index, value in enumerate(_sequence(converter(call)))]


def _sequence(result: Value | Sequence[Value]) -> Sequence[Value]:
    return (result,) if isinstance(result, Value) else tuple(result)


def _quantized(call: Call, value: Value, index: int) -> Value:
    """Returns a float result, quantized as in the source."""
    if index >= len(call.node.outputs) or not is_quantized_tensor(call.output(index)):
        return value
    tensor = call.output(index)
    return call.scope.recast(value, stored_type(tensor), quant_params(tensor), channel_scale_axis(tensor), call.origin)


def _copied(call: Call, value: Value, index: int) -> Value:
    """Returns a part with the stored integers of the operand and the quantization parameters of the result."""
    tensors = call.scope.source.tensors
    operand = next((tensors[at] for at in call.node.inputs if at >= 0 and is_quantized_tensor(tensors[at])), None)
    if operand is None or index >= len(call.node.outputs) or call.output(index).dtype is not operand.dtype:
        return value
    old, new = quant_params(operand), quant_params(call.output(index))
    if len(old) != 1 or len(new) != 1 or same_quant_params(old, new):
        return value
    value.dtype, value.quant = stored_type(operand), old
    result = call.emit(Bitcast(data_type=int(value.dtype)), value)
    result.dtype, result.quant = value.dtype, new
    return result


def _say_all(nodes: Sequence[Node], results: Sequence[Value], call: Call) -> bool:
    """Sets the quantization parameters of values between the new nodes. Returns False if they are unknown, or if the
    nodes are not integer nodes."""
    told = [node for node in nodes if all(value.quant for value in node.outputs)]
    computing = [node for node in nodes if node.op.name not in MOVES | LOOKS | _NOT_COMPUTING and node not in told]
    if any(node.op.name not in ON_INTEGERS for node in computing) or len(computing) > 2:
        return False
    if len(computing) == 2 and not _is_activated(computing[0], computing[1]):
        return False
    for index, value in enumerate(results):
        if index < len(call.node.outputs) and is_quantized_tensor(call.output(index)) and value.producer in nodes:
            value.dtype, value.quant = stored_type(call.output(index)), quant_params(call.output(index))
    final = next((value for value in results if value.quant), None)
    for node in nodes:
        for value in node.outputs:
            if value.dtype is not DataType.UNKNOWN or value in results or node.op.name in LOOKS:
                continue
            origin = node.inputs[0] if node.op.name in MOVES else final
            if origin is None or not is_quantized(origin):
                return False
            value.dtype, value.quant = origin.dtype, origin.quant
    if not all(axis_fits(node, index, call.scope) for node in nodes for index in range(len(node.inputs))):
        return False
    mark(nodes)
    return True


def _is_activated(node: Node, activation: Node) -> bool:
    return activation.op.name in ("Activation", "Clip") and activation.inputs[0] in node.outputs


def axis_fits(node: Node, index: int, scope: Scope) -> bool:
    """Returns whether the per-channel scales of an operand are along the dimension that the file format expects."""
    value = node.inputs[index]
    return len(value.quant) <= 1 or scope.axis_of(value) == channel_axis(node.op, index, node.inputs)


def mark(nodes: Sequence[Node]) -> None:
    """Sets the quantization type of each node: full, weight or dynamic quantization."""
    for node in nodes:
        operands = (*node.inputs, *node.outputs)
        if node.op.name in _NOT_COMPUTING or only_moves_elements(node):
            continue
        if any(value.producer is not None and value.producer.op.name == "DynamicQuant" for value in node.inputs):
            node.quant_type = QuantType.QUANT_DYNAMIC
            continue
        if any(is_quantized(value) and value.data is None for value in operands):
            node.quant_type = QuantType.QUANT_ALL
        elif any(value.quant and value.data is not None for value in node.inputs):
            outputs_float = not any(value.dtype in NARROW for value in node.outputs)
            node.quant_type = QuantType.QUANT_WEIGHT if outputs_float else QuantType.QUANT_ALL
