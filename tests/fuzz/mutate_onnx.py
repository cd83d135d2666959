"""Structured mutations of ONNX files."""

from __future__ import annotations

import random

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

from .mutate import DIMENSIONS

LONGS = (-1, 0, 1, 2, 7, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))
OPERATORS = (
    "Conv",
    "Gemm",
    "MatMul",
    "Reshape",
    "Concat",
    "Gather",
    "Pad",
    "LSTM",
    "If",
    "Loop",
    "Resize",
    "Einsum",
    "TopK",
    "NoSuchOperator",
)


def _attribute(attribute: AttributeProto, rng: random.Random) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        attribute.type = rng.choice(
            (AttributeProto.FLOAT, AttributeProto.INTS, AttributeProto.GRAPH, AttributeProto.STRING)
        )
    elif kind == 1:
        attribute.i = rng.choice(LONGS)
        del attribute.ints[:]
    elif kind == 2:
        attribute.ints.append(rng.choice(LONGS))
    else:
        for i in range(len(attribute.ints)):
            attribute.ints[i] = rng.choice(LONGS)
        attribute.s = rng.choice((b"", b"SAME_UPPER", b"\xff\xfe", b"nonsense"))


def _node(graph: GraphProto, node: NodeProto, rng: random.Random) -> None:
    names = [name for other in graph.node for name in (*other.input, *other.output)]
    kind = rng.randrange(8)
    if kind == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice((*names, "", "missing"))
    elif kind == 1:
        node.input.append(rng.choice((*names, "missing")))
    elif kind == 2 and node.input:
        node.input.pop()
    elif kind == 3 and node.output:
        node.output[0] = rng.choice((*names, ""))  # duplicates and cycles
    elif kind == 4:
        node.op_type = rng.choice(OPERATORS)
    elif kind == 5:
        node.domain = rng.choice(("", "com.microsoft", "nowhere"))
    elif kind == 6 and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif node.attribute:
        _attribute(rng.choice(node.attribute), rng)


def _tensor(tensor: TensorProto, rng: random.Random) -> None:
    kind = rng.randrange(6)
    if kind == 0:
        tensor.dims.append(rng.choice((*DIMENSIONS, 1 << 40)))
    elif kind == 1 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice((*DIMENSIONS, 1 << 40))
    elif kind == 2:
        tensor.data_type = rng.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 99))
    elif kind == 3:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif kind == 4:
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (
            ("location", rng.choice(("../../etc/passwd", "/etc/passwd", "missing.bin", ""))),
            ("offset", rng.choice(("0", "-5", "99999999999", "x"))),
            ("length", "400000000000"),
        ):
            tensor.external_data.add(key=key, value=value)
    else:
        tensor.name = rng.choice(("", "missing"))


def _interface(model: ModelProto, rng: random.Random) -> None:
    graph = model.graph
    kind = rng.randrange(6)
    values = [*graph.input, *graph.output]
    if kind == 0 and values:
        dims = rng.choice(values).type.tensor_type.shape.dim
        if dims:
            rng.choice(dims).dim_value = rng.choice((*DIMENSIONS, 1 << 40))
    elif kind == 1 and values:
        rng.choice(values).type.tensor_type.elem_type = rng.choice((0, 2, 7, 8, 11, 77))
    elif kind == 2 and values:
        rng.choice(values).name = rng.choice(("missing", "", values[0].name))
    elif kind == 3:
        model.opset_import[0].version = rng.choice((0, 1, 5, 6, 9, 99, 1 << 40, -3))
    elif kind == 4:
        del graph.output[:]
    else:
        nodes = list(graph.node)
        rng.shuffle(nodes)
        del graph.node[:]
        graph.node.extend(nodes)


def mutate(data: bytes, rng: random.Random) -> bytes:
    model = onnx.load_from_string(data)
    graph = model.graph
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind = rng.randrange(10)
        if kind < 5 and graph.node:
            _node(graph, rng.choice(graph.node), rng)
        elif kind < 8 and graph.initializer:
            _tensor(rng.choice(graph.initializer), rng)
        else:
            _interface(model, rng)
    return bytes(model.SerializeToString())
