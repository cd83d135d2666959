"""Small files for tests that break rules."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, QuantParam, SubGraph, Tensor

from .checker import violations

INPUT, CONSTANT = 2, 0
"""Values of a tensor's nodeType."""


def fed(*dims: int, dtype: DataType = DataType.FLOAT32, layout: Format = Format.NHWC, **more: Any) -> Tensor:
    """A tensor without data."""
    return Tensor(name="x", nodeType=INPUT, dataType=dtype, dims=dims, format=layout, **more)


def stored(
    value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32, layout: Format = Format.NHWC, **more: Any
) -> Tensor:
    """A constant."""
    array = np.asarray(value, dtype)
    return Tensor(
        name="c",
        nodeType=CONSTANT,
        dataType=data_type_of(array),
        dims=array.shape,
        format=layout,
        data=array.tobytes(),
        **more,
    )


def ints(*numbers: int) -> Tensor:
    return stored(numbers, np.int32)


def zeros(*dims: int) -> Tensor:
    return stored(np.zeros(dims))


def record(scale: float = 0.5, zero: int = 3, inited: bool = True) -> QuantParam:
    return QuantParam(scale=scale, zeroPoint=zero, inited=inited)


def int8(*dims: int, records: int = 1) -> Tensor:
    return fed(*dims, dtype=DataType.INT8, quantParams=[record() for _ in range(records)] or None)


def model(
    name: str,
    *inputs: Tensor,
    outputs: tuple[Tensor, ...] = (fed(),),
    version: str = "MindSpore Lite 1.3.0",
    **attributes: Any,
) -> MetaGraph:
    """A model with one node."""
    tensors = [dataclasses.replace(each, name=f"{each.name}{n}") for n, each in enumerate((*inputs, *outputs))]
    reads, writes = tuple(range(len(inputs))), tuple(range(len(inputs), len(tensors)))
    starts = tuple(index for index in reads if tensors[index].nodeType == INPUT)
    node = CNode(name="node", primitive=OPERATORS[name](**attributes), inputIndex=reads, outputIndex=writes)
    graph = SubGraph(
        name="main", inputIndices=starts, outputIndices=writes, nodeIndices=(0,), tensorIndices=(*reads, *writes)
    )
    return MetaGraph(
        name="m",
        version=version,
        inputIndex=starts,
        outputIndex=writes,
        nodes=[node],
        allTensors=tensors,
        subGraph=[graph],
    )


def labels(meta: MetaGraph, **options: Any) -> list[str]:
    """Returns the rules that a file breaks."""
    return [each.rule for each in violations(meta, **options)]
