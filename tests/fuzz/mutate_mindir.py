"""Structured mutations of `.mindir` files."""

from __future__ import annotations

import random

from mslite.converter.parsers.mindir.messages import AttributeType, ModelProto
from mslite.converter.parsers.protobuf import Message

from .mutate import DIMENSIONS

LONGS = (-1, 0, 1, 2, 7, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))
PRIMITIVES = (
    *(
        "Conv2D",
        "MatMul",
        "Reshape",
        "Concat",
        "Gather",
        "Pad",
        "LSTM",
        "Switch",
        "Partial",
        "MakeTuple",
        "TupleGetItem",
    ),
    *("REF::main", "REF::", "Constant", "Custom", "Split", "NoSuchPrimitive", "TopK", "BatchNorm", "Depend"),
)
PATTERN_FUSIONS = (
    "scalar:value0,",
    "scalar:Tuple[value1,value99,],",
    "scalar:" + "Tuple[" * 40,
    "tensor:value0,",
    "shape:",
    "?",
)


def _attribute(attribute: Message, rng: random.Random) -> None:
    kind = rng.randrange(6)
    if kind == 0:
        attribute.type = rng.choice((*map(int, AttributeType), 99))
    elif kind == 1:
        attribute.i = rng.choice(LONGS)
    elif kind == 2 and attribute.values:
        del attribute.values[rng.randrange(len(attribute.values))]
    elif kind == 3:
        item = attribute.values.add(type=int(AttributeType.INT64))
        item.ints.append(rng.choice(LONGS))
    elif kind == 4:
        attribute.ref_attr_name = rng.choice(PATTERN_FUSIONS)
    else:
        attribute.s = rng.choice((b"", b"NHWC", b"same", b"\xff\xfe"))


def _node(graph: Message, node: Message, rng: random.Random) -> None:
    names = [name for other in graph.node for name in (*other.input, *other.output)]
    kind = rng.randrange(7)
    if kind == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice((*names, "", "missing", graph.name))
    elif kind == 1:
        node.input.append(rng.choice((*names, "missing")))
    elif kind == 2 and node.input:
        node.input.pop()
    elif kind == 3 and node.output:
        node.output[0] = rng.choice((*names, ""))  # duplicates and cycles
    elif kind == 4:
        node.op_type = rng.choice(PRIMITIVES)
    elif kind == 5 and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif node.attribute:
        _attribute(rng.choice(node.attribute), rng)


def _tensor(tensor: Message, rng: random.Random) -> None:
    kind = rng.randrange(7)
    if kind == 0:
        tensor.dims.append(rng.choice((*DIMENSIONS, 1 << 40)))
    elif kind == 1 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice((*DIMENSIONS, 1 << 40))
    elif kind == 2:
        tensor.data_type = rng.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 18, 99))
    elif kind == 3:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif kind == 4:
        tensor.ClearField("raw_data")
        record = tensor.external_data
        record.location = rng.choice(("/etc/passwd", "../../x", "", "absent", ".", "a\0b"))
        record.offset, record.length = rng.choice(LONGS), rng.choice(LONGS)
    elif kind == 5:
        tensor.compression_type = rng.choice((1, 2, 3, 4, 5, 6, 77))
    else:
        tensor.quant_params.add(quant_algo_name=rng.choice(("linear_quant", "nonsense")))


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Makes one to three changes in a valid model."""
    model = ModelProto.FromString(data)
    graphs = [model.graph, *model.functions]
    for _ in range(rng.choice((1, 1, 2, 3))):
        graph = rng.choice(graphs)
        kind = rng.randrange(8)
        if kind < 4 and graph.node:
            _node(graph, rng.choice(graph.node), rng)
        elif kind < 6 and graph.parameter:
            _tensor(rng.choice(graph.parameter), rng)
        elif kind == 6 and graph.input and graph.input[0].tensor:
            _tensor(graph.input[0].tensor[0], rng)
        else:
            graph.output.add(name=rng.choice(("missing", graph.name, "")))
    return bytes(model.SerializeToString())
