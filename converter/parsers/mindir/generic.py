"""Converts primitives with the name of an mslite operator, which has the same operands and attributes."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Value, data_type_of, numpy_type
from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.serialization import from_custom

from .call import Call
from .entries import Entry, Immediate, Sequence, UnsupportedResult, flattened
from .layout import in_layout
from .registry import ARGUMENTS
from .weights import channel_last


def convert_same_operator(call: Call, operator: type[Operator]) -> Entry:
    """Converts the node to an mslite operator; reads the attributes by their declared names."""
    declaration = operator.declaration
    if operator is Custom:
        return _custom(call)
    op = operator(**{attribute.name: call.declared(attribute) for attribute in declaration.attributes})
    repeated = any(operand.repeated for operand in declaration.inputs)
    values = call.tensors() if repeated else _operands(call)[: _tensor_count(call)]
    if [operand.name for operand in declaration.inputs] == ["a", "b"] and len(values) == 2:
        values = list(cast_to_common_type(call, *values))
    made = emit_in_model_layout(call, op, values)
    return _in_shape(call, made) if call.operator in _LOSSES and not call.scope.session.trains else made


_LOSSES = ("BinaryCrossEntropy", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
"""Losses with an additional dimension of size 1 in the first result of the mslite operator."""


def _in_shape(call: Call, made: Entry) -> Entry:
    first, others = (made.items[0], made.items[1:]) if isinstance(made, Sequence) else (made, ())
    shape = call.declared_shape
    if not isinstance(first, Value) or shape is None or any(size < 0 for size in shape):
        return made
    shaped = call.emit(Reshape(), first, call.ints(shape))
    return Sequence((shaped, *others)) if isinstance(made, Sequence) else shaped


def cast_to_common_type(call: Call, first: Value, second: Value) -> tuple[Value, Value]:
    """Casts two operands to the same data type: the result's type; for comparisons or an unknown type, the wider of
    both."""
    types = [call.dtype(value) for value in (first, second)]
    wanted = call.declared_type
    if DataType.UNKNOWN in types or DataType.STRING in types:
        return first, second
    if wanted in (DataType.UNKNOWN, DataType.BOOL):
        if types[0] is types[1]:
            return first, second
        wanted = data_type_of(np.result_type(*(numpy_type(known) for known in types)))
        wanted = DataType.FLOAT32 if wanted is DataType.FLOAT64 and DataType.FLOAT64 not in types else wanted
    return call.cast(first, wanted), call.cast(second, wanted)


_ARGUMENTS = {
    "BinaryCrossEntropy": "input target weight reduction",
    "CumProd": "x axis exclusive reverse",
    "GLU": "x axis",
    "IsInf": "input",
    "NLLLoss": "logits labels weight reduction ignore_index",
    "ReverseV2": "input axis",
    "SmoothL1Loss": "prediction target beta reduction",
}
"""Arguments of the function form, for operators with attributes that are arguments there."""
for _name, _arguments in _ARGUMENTS.items():
    ARGUMENTS.setdefault(_name, tuple(_arguments.split()))

_PLAIN_ARGUMENTS: dict[str, dict[str, int | str]] = {
    "NLLLoss": {"ignore_index": -100},
    "SmoothL1Loss": {"reduction": "none"},
}
"""The only supported values of arguments that the mslite operator does not have."""


def _tensor_count(call: Call) -> int | None:
    """Returns the number of operands that are tensors; the others are attributes. None: all are. Raises Blocked for
    arguments that the operator does not support."""
    arguments = _ARGUMENTS.get(call.operator)
    if arguments is None:
        return None
    operator = OPERATORS[call.operator]
    attributes = {attribute.name for attribute in operator.declaration.attributes}
    for name, wanted in _PLAIN_ARGUMENTS.get(call.operator, {}).items():
        if call.has(name) and call.attribute(name) not in (wanted, None):
            raise call.block(
                f"only {wanted!r} is supported", "Compute the difference with other operators in the model", name
            )
    beyond = attributes | set(_PLAIN_ARGUMENTS.get(call.operator, {}))
    return sum(name not in beyond for name in arguments.split())


def _operands(call: Call) -> list[Value]:
    """Returns the operands up to the first None."""
    values = []
    for index in range(len(call.entries)):
        value = call.optional(index)
        if value is None:
            break
        values.append(value)
    return values


def emit_in_model_layout(call: Call, op: Operator, values: list[Value]) -> Entry:
    """Adds the node in the model's layout, with Transposes if its own layout is different."""
    if op.declaration.layout == "nhwc":
        values = channel_last(call, op, values)
    outputs = op.declaration.outputs
    count = 1
    if any(operand.repeated for operand in outputs):
        count = max(call.declared_outputs, len(getattr(op, "size_splits", None) or ()), getattr(op, "output_num", 0))
        if count > 4096:
            raise call.block(f"it has {count} results")
    elif len(outputs) > 1:
        needed = sum(not operand.optional for operand in outputs)
        count = max(needed, min(call.declared_outputs, len(outputs)))
    results = in_layout(call, op, values, count)
    return results[0] if count == 1 and not len(outputs) > 1 else with_unsupported_results(call, results)


def with_unsupported_results(call: Call, results: list[Value]) -> Entry:
    """Returns the results, followed by `UnsupportedResult` for results that only the source node has."""
    missing = range(len(results), call.declared_outputs)
    if len(results) == 1 and not missing:
        return results[0]
    return Sequence((*results, *(UnsupportedResult(f"result {i} of {call.operator} is not computed") for i in missing)))


def _custom(call: Call) -> Entry:
    """Converts a Custom node: its type, and pairs of attribute names and bytes."""
    pairs = []
    given = call.attribute("attr")
    items = list(given) if isinstance(given, tuple) else []
    for name, data in zip(items[::2], items[1::2], strict=False):
        if not isinstance(name, str) or not isinstance(data, tuple):
            raise call.block("is not a list of pairs of names and bytes", attribute="attr")
        numbers = call.flat_integers(data, "attr")
        if any(not 0 <= number <= 255 for number in numbers):
            raise call.block("contains values that are not bytes", attribute="attr")
        pairs.append((name, bytes(numbers)))
    kind = call.text("type", "", "func_type")
    try:
        op = from_custom(Custom(type=kind, attr=tuple(pairs) or None))
    except FlatBufferError as error:
        raise call.block(str(error)) from None
    values = [call.value(entry) for entry in flattened(call.entries) if not _is_none(entry)]
    if isinstance(op, Custom):
        results = call.emit_many(op, values, call.declared_outputs)
        return results if call.declared_outputs > 1 else results.items[0]
    return emit_in_model_layout(call, op, values)


def _is_none(entry: Entry) -> bool:
    return isinstance(entry, Immediate) and entry.contents is None
