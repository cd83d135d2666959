"""Writes nodes of a graph as a TensorFlow Lite file, and checks whether that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN

from . import activation, arithmetic, assembly, convolution, matmul, pooling, quantization, rearrange, reduction, resize
from .call import Call, NotRepresentable, OperationList
from .model import model_bytes
from .registry import WRITERS

_FAMILIES = (
    activation, arithmetic, assembly, convolution, matmul, pooling, quantization, rearrange, reduction, resize,
)  # fmt: skip
"""Modules that register writers when they are imported."""

HALF_TO_EVEN = "it rounds half to even (ONNX); TensorFlow Lite rounds half away from zero"


@dataclass(frozen=True)
class File:
    """A model, and the names of its tensors."""

    data: bytes
    names: dict[str, Node]
    """Name of a result of an operation -> the node that the operation was written for."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def refusal(node: Node) -> str:
    """Returns why a node has no bit-identical form in TensorFlow Lite; "" if it has one."""
    try:
        _check(node)
        WRITERS[node.op.name](Call(OperationList(), node))
    except NotRepresentable as refused:
        return str(refused)
    return ""


def write_tflite(nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value]) -> File:
    """Returns the file for nodes in execution order. Raises ValueError for a node with a `refusal`."""
    writing = OperationList()
    entering = [writing.tensor(value) for value in inputs]
    names: dict[str, Node] = {}
    for node in nodes:
        first = len(writing.operations)
        try:
            _check(node)
            WRITERS[node.op.name](Call(writing, node))
        except NotRepresentable as refused:
            raise ValueError(f"node '{node.name}': {refused}") from None
        names |= {tensor.name: node for call in writing.operations[first:] for tensor in call.outputs}
    leaving = [writing.tensor(value) for value in outputs]
    data = model_bytes(writing.operations, entering, leaving)
    return File(data, names, tuple(one.name for one in entering), tuple(one.name for one in leaving))


def _check(node: Node) -> None:
    """Checks the conditions for all operators. Raises NotRepresentable."""
    if node.op.name not in WRITERS:
        raise NotRepresentable(f"int8 {node.op.name} has no equivalent in TensorFlow Lite")
    for value in (*node.inputs, *node.outputs):
        if any(record.roundType == ROUND_HALF_TO_EVEN for record in value.quant):
            raise NotRepresentable(HALF_TO_EVEN)
        if value.dtype is not DataType.INT32 and not all(_is_single(record.scale) for record in value.quant):
            raise NotRepresentable("one of its scales is not a positive float32")
        if value.is_constant and value.data is None:
            raise NotRepresentable("one of its constants is compressed")
        if not value.is_constant:
            _check_activation(value, node)
    kinds = {value.quant[0].dstDtype == DataType.UINT8 for value in _stored(node)}
    if len(kinds) > 1 and node.op.name != "QuantDTypeCast":
        raise NotRepresentable("some of its tensors are int8, others uint8")


def _is_single(scale: float) -> bool:
    return scale > 0 and float(np.float32(scale)) == scale


def _stored(node: Node) -> list[Value]:
    return [value for value in (*node.inputs, *node.outputs) if value.dtype is DataType.INT8 and value.quant]


def _check_activation(value: Value, node: Node) -> None:
    types = (DataType.INT8, DataType.UINT8) if node.op.name == "QuantDTypeCast" else (DataType.INT8,)
    if value.dtype not in types or not value.quant:
        raise NotRepresentable(f"it computes on {value.dtype.name.lower()}, not on int8")
    if len(value.quant) != 1:
        raise NotRepresentable("one of its activations has several scales")
    if not value.is_static or 0 in (value.shape or ()):
        raise NotRepresentable("one of its shapes is only known at run time; set --inputShape")
