"""Fuses a scale and a bias after an integer matmul or convolution into it, with the same roundings.

onnxruntime's quantize_dynamic writes a layer as: integer matmul → Cast to float32 → * scale → + bias. The scale is
that of the activations, computed at run time, times that of the weights.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    broadcast_keeps_rank,
    float_value,
    is_float,
    is_plain,
    last_dimension,
    per_channel,
    replace_operator,
)

_PRODUCTS = "MatMulInteger ConvInteger"
_SUMS, _SCALED = 4, 5
"""Number of inputs without a scale, and with one."""


def _has_operands(count: int, node: Node) -> bool:
    return len(node.inputs) == count


_SCALE = op(
    "MulFusion",
    op("Cast", op(_PRODUCTS, name="product", where=lambda node: _has_operands(_SUMS, node)), const("type")),
    value("scale"),
    commutative=True,
    where=is_plain,
)
_BIAS = op(
    "AddFusion",
    op(_PRODUCTS, name="product", where=lambda node: _has_operands(_SCALED, node)),
    const("bias"),
    commutative=True,
    where=is_plain,
)


def _is_per_column(scale: Value, columns: int) -> bool:
    if scale.shape is None or any(size < 0 for size in scale.shape):
        return False
    return all(size == 1 for size in scale.shape[:-1]) and (scale.shape or (1,))[-1] in (1, columns)


def _check_scale(match: Match, context: Context) -> str | None:
    product, root, scale = match.node("product"), match.root, match.value("scale")
    columns, rank = last_dimension(product.output), product.output.rank
    if columns is None or rank is None or not is_float(root.output):
        return "the number of columns is unknown, or the result is not float32"
    if not is_float(scale) or not _is_per_column(scale, columns) or len(scale.shape or ()) > rank:
        return "the scale is not one float32 number, or one for each column"
    product_type = next(value for value in root.inputs if value is not scale).dtype
    return None if product_type is DataType.FLOAT32 else "the sums are not cast to float32"


def _add_scale(match: Match, graph: Graph) -> None:
    product = match.node("product")
    replace_operator(match.root, product.op, [*product.inputs, match.value("scale")], product.name)


def _check_bias(match: Match, context: Context) -> str | None:
    columns = last_dimension(match.node("product").output)
    if columns is None or not broadcast_keeps_rank(match.root, match.value("bias")):
        return "the number of columns is unknown"
    return None if per_channel(match.array("bias"), columns) is not None else "the addend is not one per column"


def _add_bias(match: Match, graph: Graph) -> None:
    product = match.node("product")
    columns = last_dimension(product.output)
    assert columns is not None
    bias = per_channel(match.array("bias"), columns)
    assert bias is not None
    replace_operator(match.root, product.op, [*product.inputs, float_value(f"{product.name}_bias", bias)], product.name)


SCALE = Rule("IntegerProductScaleFusion", (_SCALE,), _add_scale, _check_scale)
BIAS = Rule("IntegerProductBiasFusion", (_BIAS,), _add_bias, _check_bias)
