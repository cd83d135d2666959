"""The kinds of rules about a node. The table lists them by name; the keyword arguments are the content of a rule.

Each function returns the problem, or None. Unknown values (a dynamic shape, the data type of a value) break no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mslite.converter.mindir.ops.enums import DataType, WireEnum

from .relations import RELATIONS
from .view import NodeView, Operand

KINDS: dict[str, Callable[..., str | None]] = {}


def kind(function: Callable[..., str | None]) -> Callable[..., str | None]:
    KINDS[function.__name__] = function
    return function


def shown(value: Any) -> str:
    return value.name if isinstance(value, WireEnum) else str(value)


def _operand(node: NodeView, input: int | None, output: int | None) -> tuple[Operand | None, str]:
    """Returns the operand of a rule and its name for messages; None if the node does not have it."""
    number, operands = (input or 0, node.inputs) if output is None else (output, node.outputs)
    where = f"{'input' if output is None else 'output'} {number}"
    return (operands[number] if number < len(operands) else None), where


def _outside(number: float, at_least: float | None, at_most: float | None) -> str | None:
    if at_least is not None and number < at_least:
        return f"below {at_least}"
    return f"above {at_most}" if at_most is not None and number > at_most else None


@kind
def vector(
    node: NodeView,
    *,
    attribute: str,
    length: int | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
    if_given: bool = False,
) -> str | None:
    """A vector attribute exists and has the given length."""
    value = getattr(node.node.primitive, attribute)
    if value is None:
        return None if if_given else f"{attribute} is not stored"
    if length is not None and len(value) != length:
        return f"{attribute} has {len(value)} numbers instead of {length}"
    outside = _outside(len(value), at_least, at_most)
    return None if outside is None else f"{attribute} has {len(value)} numbers, {outside}"


@kind
def allowed(node: NodeView, *, attribute: str, values: list[Any]) -> str | None:
    """An attribute has one of these values; enumerators are given by name."""
    value = getattr(node.node.primitive, attribute)
    known = shown(value) if isinstance(value, WireEnum) else value
    return None if known in values else f"{attribute} is {shown(value)}"


@kind
def bounds(
    node: NodeView, *, attribute: str, at_least: float | None = None, at_most: float | None = None
) -> str | None:
    """An attribute, or each of its values, is within bounds."""
    value = getattr(node.node.primitive, attribute)
    numbers: Iterable[float] = value if isinstance(value, tuple) else (value,) if value is not None else ()
    for number in numbers:
        outside = _outside(number, at_least, at_most)
        if outside is not None:
            return f"{attribute} has {number}, {outside}"
    return None


@kind
def inputs(node: NodeView, *, numbers: list[int] | None = None, at_least: int | None = None) -> str | None:
    """The node has the given number of inputs."""
    return _count(len(node.inputs), "inputs", numbers, at_least)


@kind
def outputs(node: NodeView, *, numbers: list[int] | None = None, at_least: int | None = None) -> str | None:
    """The node has the given number of outputs."""
    return _count(len(node.outputs), "outputs", numbers, at_least)


def _count(count: int, what: str, numbers: list[int] | None, at_least: int | None) -> str | None:
    if (numbers is not None and count not in numbers) or (at_least is not None and count < at_least):
        return f"has {count} {what}"
    return None


@kind
def constant(node: NodeView, *, input: int, or_empty: bool = False) -> str | None:
    """An input is known when the model is built: a constant with data; with `or_empty`, also one without elements."""
    operand, where = _operand(node, input, None)
    if operand is None:
        return None
    if not operand.is_constant:
        return f"{where} is no constant"
    stored = memoryview(operand.tensor.data or b"").nbytes or operand.tensor.externalData
    return None if stored or or_empty else f"{where} is a constant without data"


@kind
def types(node: NodeView, *, types: list[str], input: int | None = None, output: int | None = None) -> str | None:
    """An operand has one of these data types."""
    operand, where = _operand(node, input, output)
    if operand is None or operand.dtype in (DataType.UNKNOWN, DataType.TENSOR_LIST):
        return None
    return None if operand.dtype.name in types else f"{where} is {operand.dtype.name}"


@kind
def casts(node: NodeView, *, source: str, targets: list[str]) -> str | None:
    """Cast supports the conversion from `source`."""
    if node.inputs[0].dtype.name != source or not node.outputs:
        return None
    target = node.outputs[0].dtype
    stated = node.inputs[1].numbers if len(node.inputs) > 1 else None
    if stated is not None and stated.size and int(stated[0]) in set(DataType):
        target = DataType(int(stated[0]))
    return None if target.name in [*targets, source, "UNKNOWN"] else f"casts {source} to {target.name}"


@kind
def same_types(node: NodeView, *, inputs: list[int]) -> str | None:
    """These inputs have the same data type."""
    found = {node.inputs[number].dtype for number in inputs if number < len(node.inputs)} - {DataType.UNKNOWN}
    return None if len(found) < 2 else f"inputs are {' and '.join(sorted(each.name for each in found))}"


@kind
def rank(
    node: NodeView,
    *,
    input: int | None = None,
    output: int | None = None,
    ranks: list[int] | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
) -> str | None:
    """An operand has the given rank."""
    operand, where = _operand(node, input, output)
    if operand is None or operand.rank is None:
        return None
    wrong = ranks is not None and operand.rank not in ranks
    return f"{where} has rank {operand.rank}" if wrong or _outside(operand.rank, at_least, at_most) else None


@kind
def elements(
    node: NodeView,
    *,
    input: int,
    numbers: list[int] | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
    rank_of: int | None = None,
) -> str | None:
    """An input has the given number of elements, or as many as the rank of another input."""
    operand, where = _operand(node, input, None)
    if operand is None or operand.size is None:
        return None
    if rank_of is not None and rank_of < len(node.inputs):
        wanted = node.inputs[rank_of].rank
        if wanted is not None and operand.size != wanted:
            return f"{where} has {operand.size} elements for {wanted} dimensions"
    wrong = numbers is not None and operand.size not in numbers
    return f"{where} has {operand.size} elements" if wrong or _outside(operand.size, at_least, at_most) else None


@kind
def numbers(node: NodeView, *, input: int, at_least: float | None = None, at_most: float | None = None) -> str | None:
    """The values of a constant input are within bounds."""
    operand, where = _operand(node, input, None)
    if operand is None or operand.numbers is None or not operand.numbers.size:
        return None
    for number in (operand.numbers.min(), operand.numbers.max()):
        outside = _outside(float(number), at_least, at_most)
        if outside is not None:
            return f"{where} holds {number}, {outside}"
    return None


@kind
def layout(node: NodeView, *, input: int, layouts: list[str]) -> str | None:
    """A 4-D input has one of these layouts; constants have their stored layout."""
    operand, where = _operand(node, input, None)
    if operand is None or operand.rank not in (None, 4):
        return None
    return None if operand.layout.name in layouts else f"{where} is in {operand.layout.name}"


@kind
def records(
    node: NodeView, *, inputs: list[int], outputs: list[int], single: bool = False, any_type: bool = False
) -> str | None:
    """These operands have quantization parameters if they are int8, or of `any_type`; `single`: exactly one scale."""
    wanted = [(number, node.inputs, "input") for number in inputs] + [(n, node.outputs, "output") for n in outputs]
    for number, operands, side in wanted:
        if number >= len(operands) or not (any_type or operands[number].dtype is DataType.INT8):
            continue
        count = len(operands[number].records)
        if not count or (single and count != 1):
            return f"{side} {number} is {operands[number].dtype.name} with {count or 'no'} quantization records"
    return None


@kind
def relation(node: NodeView, *, name: str) -> str | None:
    """Operands and attributes satisfy a named relation."""
    return RELATIONS[name](node)


@kind
def never(node: NodeView) -> str | None:
    """The operator cannot run."""
    return "it is not run"
