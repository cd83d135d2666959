"""Writes `.ms` files of one node with any operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import Format, QuantType, WeightQuantCompressType
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, QuantParam, SubGraph, Tensor


@dataclass(frozen=True)
class Operand:
    """The description of an input or output; `data` makes it a constant."""

    type: int
    dims: tuple[int, ...]
    records: tuple[QuantParam, ...] = ()
    data: bytes | None = None
    packing: WeightQuantCompressType = WeightQuantCompressType.NONE


def one_node_file(
    operator: Operator,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    quant_type: QuantType = QuantType.QUANT_NONE,
    version: str = "MindSpore Lite 1.8.1",
) -> bytes:
    """Returns a file in which all inputs of the node, except constants, are graph inputs and its outputs are graph outputs."""
    operands = [*inputs, *outputs]
    tensors = [
        Tensor(
            nodeType=2 if operand.data is None else 0,
            dataType=operand.type,
            dims=operand.dims,
            format=Format.NHWC,
            data=operand.data,
            quantParams=list(operand.records) or None,
            weightQuantCompressType=operand.packing,
            name=f"{'in' if number < len(inputs) else 'out'}{number}",
        )
        for number, operand in enumerate(operands)
    ]
    read = tuple(range(len(inputs)))
    made = tuple(range(len(inputs), len(operands)))
    given = tuple(number for number in read if operands[number].data is None)
    node = CNode(name="node", inputIndex=read, outputIndex=made, primitive=operator, quantType=quant_type)
    graph = SubGraph(
        name="main", inputIndices=given, outputIndices=made, nodeIndices=(0,), tensorIndices=tuple(range(len(operands)))
    )
    meta = MetaGraph(
        name="one",
        version=version,
        inputIndex=given,
        outputIndex=made,
        nodes=[node],
        allTensors=tensors,
        subGraph=[graph],
    )
    return ms_bytes(meta)
