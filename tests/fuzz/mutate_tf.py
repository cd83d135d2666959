"""Structured mutations of GraphDefs."""

from __future__ import annotations

import random
from typing import Any

from mslite.converter.parsers.tf.protos import GraphDef

from .mutate import DIMENSIONS

LONGS = (-1, 0, 1, 2, 3, 7, 64, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))
INTS = tuple(number for number in LONGS if -(1 << 31) <= number < 1 << 31)
TYPES = (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 14, 19, 20, 21, 23, 77, 101)
TEXTS = (b"", b"SAME", b"EXPLICIT", b"NCHW", b"\xff\xfe", b"nonsense", b"REFLECT", b"...ij,,->->")
OPERATORS = (
    *(
        "Conv2D",
        "Conv2DBackpropInput",
        "DepthwiseConv2dNative",
        "FusedBatchNormV3",
        "MatMul",
        "Einsum",
        "ResizeBilinear",
    ),
    *(
        "Reshape",
        "ConcatV2",
        "GatherV2",
        "Pad",
        "StridedSlice",
        "Split",
        "SplitV",
        "Unpack",
        "TopKV2",
        "OneHot",
        "Tile",
    ),
    *(
        "Fill",
        "Range",
        "LinSpace",
        "ScatterNd",
        "Where",
        "NonMaxSuppressionV4",
        "BlockLSTM",
        "Enter",
        "Merge",
        "Switch",
    ),
    *(
        "Exit",
        "NextIteration",
        "LoopCond",
        "While",
        "If",
        "Case",
        "PartitionedCall",
        "TensorListReserve",
        "TensorArrayV3",
    ),
    *("TensorListStack", "TensorListGetItem", "Identity", "Placeholder", "NoSuchOperator", "NoOp", ""),
)


def _attribute(attribute: Any, rng: random.Random) -> None:
    kind = rng.randrange(9)
    if kind == 0:
        attribute.i = rng.choice(LONGS)
    elif kind == 1:
        attribute.type = rng.choice(TYPES)
    elif kind == 2:
        attribute.s = rng.choice(TEXTS)
    elif kind == 3 and attribute.list.i:
        attribute.list.i[rng.randrange(len(attribute.list.i))] = rng.choice(LONGS)
    elif kind == 4:
        attribute.list.i.append(rng.choice(LONGS))
    elif kind == 5:
        attribute.f = rng.choice((0.0, -1.0, 1e30, float("nan"), float("inf")))
    elif kind == 6:
        attribute.shape.dim.add(size=rng.choice(LONGS))
    elif kind == 7:
        attribute.func.name = "missing"
    else:
        attribute.placeholder = "T"


def _tensor(tensor: Any, rng: random.Random) -> None:
    kind = rng.randrange(7)
    dims = tensor.tensor_shape.dim
    if kind == 0 and dims:
        rng.choice(dims).size = rng.choice((*DIMENSIONS, *LONGS))
    elif kind == 1:
        dims.add(size=rng.choice((*DIMENSIONS, *LONGS)))
    elif kind == 2:
        tensor.dtype = rng.choice(TYPES)
    elif kind == 3:
        tensor.tensor_content = tensor.tensor_content[: rng.randrange(len(tensor.tensor_content) + 1)]
    elif kind == 4:
        tensor.ClearField("tensor_content")
        tensor.int_val.append(rng.choice(INTS))
    elif kind == 5 and tensor.tensor_content:
        length = len(tensor.tensor_content)
        tensor.tensor_content = (rng.choice(LONGS) & (2**64 - 1)).to_bytes(8, "little") * (length // 8 + 1)
        tensor.tensor_content = tensor.tensor_content[:length]
    else:
        tensor.tensor_shape.unknown_rank = True


def _node(nodes: Any, node: Any, rng: random.Random) -> None:
    names = [other.name for other in nodes]
    kind = rng.randrange(8)
    if kind == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice((*names, *(f"{name}:1" for name in names), "missing"))
    elif kind == 1:
        node.input.append(rng.choice((*names, f"^{rng.choice(names)}", "a:b:c:d", "")))
    elif kind == 2 and node.input:
        node.input.pop()
    elif kind == 3:
        node.op = rng.choice(OPERATORS)
    elif kind == 4:
        node.name = rng.choice((*names, ""))
    elif kind == 5 and node.attr:
        del node.attr[rng.randrange(len(node.attr))]
    elif node.attr:
        _attribute(rng.choice(node.attr).value, rng)


def _function(graph: Any, rng: random.Random) -> None:
    function = rng.choice(graph.library.function)
    kind = rng.randrange(6)
    if kind == 0:
        function.signature.name = rng.choice(graph.library.function).signature.name
    elif kind == 1 and function.ret:
        rng.choice(function.ret).value = rng.choice(("missing:y:0", "", function.signature.name))
    elif kind == 2 and function.signature.input_arg:
        del function.signature.input_arg[0]
    elif kind == 3 and function.node_def:
        node = rng.choice(function.node_def)  # a function that calls itself
        node.op = rng.choice((function.signature.name, "PartitionedCall", "While"))
        node.attr.add(key="f").value.func.name = function.signature.name
    elif function.node_def:
        _node(function.node_def, rng.choice(function.node_def), rng)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Changes references, operators, attributes, tensors and functions."""
    graph = GraphDef()
    graph.ParseFromString(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        node = rng.choice(graph.node)
        tensors = [entry.value.tensor for entry in node.attr if entry.value.HasField("tensor")]
        if tensors:
            _tensor(rng.choice(tensors), rng)
        elif graph.library.function and rng.random() < 0.4:
            _function(graph, rng)
        else:
            _node(graph.node, node, rng)
    content: bytes = graph.SerializeToString()
    return content
