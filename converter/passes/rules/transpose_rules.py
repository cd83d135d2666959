"""Merges successive transposes or reshapes, and fuses transposes into a matmul."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, const, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator

_RESHAPES = "Reshape Flatten Squeeze Unsqueeze ExpandDims"


def _perm(value: Value) -> list[int]:
    return [int(axis) for axis in value.array().reshape(-1)]


def _merge_transposes(match: Match, graph: Graph) -> None:
    first, second = _perm(match.value("first")), _perm(match.value("second"))
    merged = np.array([first[axis] for axis in second], np.int32)
    replace_operator(match.root, match.root.op, [match.value("x"), constant(f"{match.root.name}_perm", merged)])


def _same_rank(match: Match, context: Context) -> str | None:
    if match.array("first").size != match.array("second").size:
        return "the permutations have different lengths"
    return None


TRANSPOSE = Rule(
    "TransposeFusion",
    (op("Transpose", op("Transpose", value("x"), const("first")), const("second")),),
    _merge_transposes,
    _same_rank,
    shared=True,
    quantized=True,
)


def _reshape_check(match: Match, context: Context) -> str | None:
    shape = match.root.output.shape
    if shape is None or sum(size < 0 for size in shape) > 1 or 0 in shape:
        return "the resulting shape has more than one dynamic dimension"
    return None


def _merge_reshapes(match: Match, graph: Graph) -> None:
    shape = match.root.output.shape
    assert shape is not None
    sizes = np.array([size if size >= 0 else -1 for size in shape], np.int32)
    replace_operator(match.root, Reshape(), [match.value("x"), constant(f"{match.root.name}_shape", sizes)])


RESHAPE = Rule(
    "ReshapeReshapeFusion",
    (op(_RESHAPES, op(_RESHAPES, value("x"))),),
    _merge_reshapes,
    _reshape_check,
    shared=True,
    quantized=True,
)


def _swaps_last_two(node: Node) -> bool:
    data = node.inputs[1].data if len(node.inputs) > 1 else None
    if data is None or data.size < 2:
        return False
    perm, rank = [int(axis) for axis in data.reshape(-1)], data.size
    return perm == [*range(rank - 2), rank - 1, rank - 2]


def _flag_check(match: Match, context: Context) -> str | None:
    if match.root.quant_type != 0:
        return "the matmul is quantized"
    if not any(v.producer is not None and _is_swap(v.producer) for v in match.root.inputs[:2]):
        return "no input is transposed in its last two dimensions"
    return None


def _is_swap(node: Node) -> bool:
    return node.op.name == "Transpose" and _swaps_last_two(node)


def _set_flags(match: Match, graph: Graph) -> None:
    root = match.root
    product = root.op
    assert isinstance(product, MatMulFusion)
    inputs = list(root.inputs)
    flags = [product.transpose_a, product.transpose_b]
    for index in (0, 1):
        producer = inputs[index].producer
        if producer is not None and _is_swap(producer):
            inputs[index] = producer.inputs[0]
            flags[index] = not flags[index]
    replace_operator(root, changed(product, transpose_a=flags[0], transpose_b=flags[1]), inputs)


TRANSPOSE_MATMUL = Rule("TransposeMatMulFusion", (op("MatMulFusion"),), _set_flags, _flag_check, shared=True)
