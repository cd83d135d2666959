"""Infers data types and shapes of Custom nodes with the rules that plug-ins registered."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Node, Shape
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.verifier import MAX_RANK
from mslite.converter.passes.context import Context
from mslite.converter.registry.entries import CustomOperator
from mslite.converter.registry.operators import CustomAttributes, DynamicDimension, TensorType, dimensions_for_rule
from mslite.converter.registry.registrations import active

_LARGEST = 2**31 - 1
_CORRECT = "Correct the plug-in"


def infer_custom(node: Node, context: Context) -> Blocker | None:
    """Sets data type and shape of the outputs of a Custom node. Returns a blocker if the node is invalid, else None.

    Without a registered rule, types and shapes that the source declares (in `.ms` files) are kept.
    """
    assert isinstance(node.op, Custom)
    operator = active().operators.get(node.op.type or "")
    if operator is None:
        stated = all(value.dtype is not DataType.UNKNOWN and value.shape is not None for value in node.outputs)
        if stated and not context.settings.input_shapes:
            return None
        return _blocker(
            node,
            f"the output shapes of Custom nodes of type '{node.op.type}' are unknown",
            "Register a shape rule for the type in a plug-in (docs/extending.md)",
        )
    operands = _operands(node)
    if isinstance(operands, str):
        return _blocker(node, operands, "Give --inputShape")
    known: dict[int, DynamicDimension] = {}
    types = [
        TensorType(value.dtype, dimensions_for_rule(shape, known), value.data)
        for value, shape in zip(node.inputs, operands, strict=True)
    ]
    try:
        result = operator.rule.call(types, CustomAttributes(node.op))
    except ValueError as error:
        return _blocker(node, f"{error} (from the shape rule of '{operator.type}')", "Check the model")
    except (Exception, SystemExit) as error:
        reason = f"the shape rule of '{operator.type}' failed with {type(error).__name__}: {error}"
        return _blocker(node, f"{reason} ({operator.rule.place(error)})", _CORRECT)
    results = (result,) if isinstance(result, TensorType) else result
    problem = _problem(results, len(node.outputs))
    if problem:
        return _blocker(node, f"the shape rule of '{operator.type}' in {operator.rule.origin} {problem}", _CORRECT)
    symbols = {id(size): symbol for symbol, size in known.items()}
    for value, found in zip(node.outputs, results, strict=True):
        value.dtype = found.dtype
        value.shape = tuple(
            int(size) if not isinstance(size, DynamicDimension) else symbols.setdefault(id(size), context.new_symbol())
            for size in found.shape
        )
        context.known.pop(value, None)
    return None


def _operands(node: Node) -> list[Shape] | str:
    shapes = []
    for value in node.inputs:
        if value.shape is None:
            return f"the rank of '{value.name}' is unknown"
        shapes.append(value.shape)
    return shapes


def _problem(results: object, count: int) -> str:
    """Returns what is wrong with the result of a shape rule; "" if it is valid."""
    if not isinstance(results, Sequence) or not all(isinstance(one, TensorType) for one in results):
        return f"returned {type(results).__name__}, not a TensorType for each output"
    if len(results) != count:
        return f"returned {len(results)} results; the node has {count} outputs"
    for one in results:
        if not isinstance(one.dtype, DataType) or one.dtype is DataType.UNKNOWN:
            return f"returned the element type {one.dtype!r}"
        if not isinstance(one.shape, Sequence) or len(one.shape) > MAX_RANK:
            return f"returned the shape {one.shape!r}; a shape has at most {MAX_RANK} dimensions"
        for size in one.shape:
            if not isinstance(size, DynamicDimension) and not (_is_integer(size) and 0 <= size <= _LARGEST):
                return f"returned the shape {one.shape!r}, in which {size!r} is not a valid dimension"
    return ""


def _is_integer(size: object) -> bool:
    return hasattr(size, "__index__") and not isinstance(size, bool)


def _blocker(node: Node, reason: str, remedy: str) -> Blocker:
    return Blocker(
        node.name, node.source.partition(" '")[0] or f"Custom {getattr(node.op, 'type', '')}", reason, remedy
    )


def follows_layout(node: Node) -> bool:
    """Returns whether a Custom node is element-wise, in any layout."""
    operator: CustomOperator | None = active().operators.get(getattr(node.op, "type", None) or "")
    return operator is not None and operator.elementwise
