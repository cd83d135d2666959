"""Structured mutations of `.ms` files."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType, WeightQuantCompressType
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, QuantParam, SubGraph, Tensor

from .mutate import DIMENSIONS, INDICES

REAL_NUMBERS = (0.0, -1.0, 1e38, float("nan"), float("inf"))
LONGS = (-1, 0, 1, 2, 3, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))


def _change_list(values: tuple[int, ...] | None, pool: tuple[int, ...], rng: random.Random) -> tuple[int, ...] | None:
    changed = list(values or ())
    kind = rng.randrange(5)
    if kind == 0:
        return None
    if kind == 1 or not changed:
        changed.append(rng.choice(pool))
    elif kind == 2:
        changed.pop()
    elif kind == 3:
        changed.append(rng.choice(changed))
    else:
        changed[rng.randrange(len(changed))] = rng.choice(pool)
    return tuple(changed)


def change_tensor(tensor: Tensor, rng: random.Random) -> None:
    kind = rng.randrange(10)
    if kind == 0:
        tensor.dims = _change_list(tensor.dims, DIMENSIONS, rng)
    elif kind == 1:
        tensor.dims = tuple(rng.choice((1 << 20, 1 << 10, (1 << 31) - 1)) for _ in range(rng.choice((2, 4, 9, 40))))
    elif kind == 2:
        tensor.dataType = rng.choice((*DataType, 99, -1, 1 << 30))
    elif kind == 3:
        tensor.nodeType = rng.choice((0, 1, 2, 77))
    elif kind == 4 and tensor.data is not None:
        tensor.data = bytes(tensor.data)[: rng.randrange(len(tensor.data) + 1)]
    elif kind == 5:
        tensor.data = rng.choice((None, b"", b"\x00" * 3, bytes(64)))
    elif kind == 6:
        record = QuantParam(
            scale=rng.choice((0.5, *REAL_NUMBERS)), zeroPoint=rng.choice((0, 3, 200, -(1 << 31))),
            numBits=rng.choice((0, 3, 8, 77)),
        )  # fmt: skip
        tensor.quantParams = rng.choice((None, [record], [record] * 3))
    elif kind == 7:
        tensor.weightQuantCompressType = rng.choice(list(WeightQuantCompressType))
        tensor.enableHuffmanCode = rng.random() < 0.2
        tensor.quantClusters = rng.choice((None, None, (), (0.5,) * 3, (0.5,) * 256))
    elif kind == 8 and tensor.data:
        spoiled = bytearray(tensor.data)
        for _ in range(rng.choice((1, 4))):
            spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
        tensor.data = bytes(spoiled)
    else:
        tensor.format = rng.choice(list(Format))


def change_attribute(operator: Any, rng: random.Random) -> None:
    """Overwrites one attribute of the operator, if it has any, in place."""
    if operator is None or not fields(operator):
        return
    declared = rng.choice(operator.declaration.attributes)
    value: Any = getattr(operator, declared.name)
    if declared.enum is not None:
        value = rng.choice(list(declared.enum))
    elif declared.wire == "bool":
        value = not value
    elif declared.wire == "long":
        value = rng.choice(LONGS)
    elif declared.wire == "int":
        value = rng.choice(DIMENSIONS)
    elif declared.wire == "float":
        value = rng.choice(REAL_NUMBERS)
    elif declared.wire in ("[long]", "[int]"):
        value = _change_list(value, LONGS if declared.wire == "[long]" else DIMENSIONS, rng)
    elif declared.wire == "[float]":
        value = tuple(rng.choice((*REAL_NUMBERS, 0.5)) for _ in range(rng.choice((0, 1, 2, 4))))
    else:
        value = None
    object.__setattr__(operator, declared.name, value)


def _node(node: CNode, rng: random.Random) -> None:
    kind = rng.randrange(6)
    if kind == 0:
        node.inputIndex = _change_list(node.inputIndex, INDICES, rng)
    elif kind == 1:
        node.outputIndex = _change_list(node.outputIndex, INDICES, rng)
    elif kind == 2:
        node.primitive = OPERATORS[
            rng.choice(sorted(name for name, cls in OPERATORS.items() if not cls.declaration.is_custom))
        ]()
    elif kind == 3:
        node.primitive, node.name = None, rng.choice((None, "", node.name))
    elif kind == 4:
        node.quantType = rng.choice(list(QuantType))
    else:
        change_attribute(node.primitive, rng)


def _graph(graph: SubGraph | MetaGraph, rng: random.Random) -> None:
    names = [field.name for field in fields(graph) if field.name.lower().endswith(("index", "indices"))]
    name = rng.choice(names)
    setattr(graph, name, _change_list(getattr(graph, name), INDICES, rng))


def _whole(meta: MetaGraph, rng: random.Random) -> None:
    kind = rng.randrange(6)
    nodes = meta.nodes or []
    if kind == 0 and len(nodes) > 1:  # creates a cycle
        first, last = nodes[0], nodes[-1]
        first.inputIndex = (*(first.inputIndex or ()), *(last.outputIndex or ()))
    elif kind == 1:
        rng.shuffle(nodes)
    elif kind == 2:
        meta.version = rng.choice((None, "", "MindSpore Lite 1.2.0", "MindSpore Lite 99.0.0", "x" * 5000))
    elif kind == 3:
        meta.subGraph = rng.choice((None, [], (meta.subGraph or []) * 2))
    elif kind == 4:
        meta.allTensors = rng.choice((None, [], (meta.allTensors or [])[:-1]))
    else:
        meta.nodes = rng.choice((None, [], nodes + nodes[:1], nodes[1:]))


def mutate(data: bytes, rng: random.Random) -> bytes:
    meta = read_ms(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind = rng.randrange(10)
        if kind < 4 and meta.allTensors:
            change_tensor(rng.choice(meta.allTensors), rng)
        elif kind < 7 and meta.nodes:
            _node(rng.choice(meta.nodes), rng)
        elif kind < 9:
            _graph(rng.choice([meta, *(meta.subGraph or [])]), rng)
        else:
            _whole(meta, rng)
    return ms_bytes(meta)
