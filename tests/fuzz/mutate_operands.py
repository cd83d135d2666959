"""Mutations that keep an ONNX model or a GraphDef readable: other operators, ranks, data types, sizes, values and outputs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

from mslite.converter.parsers.tf.protos import GraphDef
from mslite.converter.parsers.tf.registry import CONVERTERS

from .mutate_protobuf import INTEGERS, NUMBERS

_SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e38, -1.0, 0.0)
_TYPES = (np.float32, np.float64, np.float16, np.int64, np.int32, np.int8, np.uint8, np.bool_)
_SHAPES = ([], [0], [1], [7], [1, 2], [2, 0, 4], [1, 1, 1, 1, 1], [3, 5], [1, 2, 4, 4], [-1, 4], ["n", 2], [1 << 31])
_OPERATORS = sorted({schema.name for schema in onnx.defs.get_all_schemas()})
_TF_OPERATORS = sorted(CONVERTERS)
Array = np.ndarray[Any, np.dtype[np.generic]]


def _other_array(array: Array, rng: random.Random) -> Array:
    """Returns the array with another rank, data type or size, or with extreme values."""
    kind = rng.randrange(7)
    if kind == 0:
        at = rng.randrange(array.ndim + 1)
        return np.expand_dims(array, at)
    if kind == 1:
        return array.reshape(-1)
    if kind == 2 and array.size:
        return array.reshape(-1)[: rng.randrange(array.size + 1)]
    if kind == 3:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_TYPES))
    if kind == 4 and array.size:
        return array.reshape(-1)[0].reshape(())
    if kind == 5:
        return np.swapaxes(array, 0, -1) if array.ndim > 1 else np.concatenate([array.reshape(-1)] * 2)
    changed = array.copy()
    if changed.size and changed.dtype.kind in "fiu":
        flat = changed.reshape(-1)
        value = rng.choice(_SPECIAL) if changed.dtype.kind == "f" else rng.choice(INTEGERS)
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = np.asarray(value).astype(changed.dtype)
        return flat.reshape(array.shape)
    return changed


def _operands(node: NodeProto, graph: GraphProto, rng: random.Random) -> None:
    kind = rng.randrange(8)
    if kind == 0:
        del node.output[rng.randrange(len(node.output) or 1) :]
    elif kind == 1 and node.output:
        node.output.append(rng.choice(("", f"{node.output[0]}_more")))
    elif kind == 2 and node.input:
        node.input[rng.randrange(len(node.input))] = ""
    elif kind == 3 and node.input:
        del node.input[rng.randrange(len(node.input)) :]
    elif kind == 4 and node.input:
        node.input.append(rng.choice(node.input))
    elif kind == 5 and len(node.input) > 1:
        node.input[:] = rng.sample(list(node.input), len(node.input))
    elif kind == 6:
        node.op_type = rng.choice(_OPERATORS)
    elif graph.initializer and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(graph.initializer).name


def _attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    if attribute.type == onnx.AttributeProto.INT:
        attribute.i = rng.choice(INTEGERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = rng.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = rng.choice((b"", b"NOTSET", b"linear", b"\xff", b"x" * 100_000))
    elif attribute.type == onnx.AttributeProto.INTS:
        values = list(attribute.ints)
        kind = rng.randrange(4)
        if kind == 0 and values:
            values.pop()
        elif kind == 1:
            values.append(rng.choice(INTEGERS))
        elif kind == 2:
            values = []
        elif values:
            values[rng.randrange(len(values))] = rng.choice(INTEGERS)
        attribute.ints[:] = values


def mutate_onnx(data: bytes, rng: random.Random) -> bytes:
    model = ModelProto.FromString(data)
    graph = model.graph
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.randrange(10)
        if kind < 3 and graph.initializer:
            tensor: TensorProto = rng.choice(graph.initializer)
            tensor.CopyFrom(numpy_helper.from_array(_other_array(numpy_helper.to_array(tensor), rng), tensor.name))
        elif kind < 7 and graph.node:
            _operands(rng.choice(graph.node), graph, rng)
        elif kind < 8 and graph.node:
            node = rng.choice(graph.node)
            if node.attribute:
                _attribute(rng.choice(node.attribute), rng)
        elif kind == 8 and graph.input:
            value = rng.choice(graph.input)
            kind = value.type.tensor_type.elem_type if rng.random() < 0.7 else rng.choice((1, 3, 6, 7, 9, 10, 11))
            value.CopyFrom(onnx.helper.make_tensor_value_info(value.name, kind, rng.choice(_SHAPES)))
        elif model.opset_import:
            model.opset_import[0].version = rng.randrange(1, 24)
    return bytes(model.SerializeToString())


def _constant(node: Any, rng: random.Random) -> None:
    """Changes rank, data type or value of a Const."""
    for entry in node.attr:
        if entry.key != "value":
            continue
        tensor = entry.value.tensor
        kind = rng.randrange(4)
        if kind == 0:
            tensor.tensor_shape.dim.add(size=1)
        elif kind == 1:
            tensor.dtype = rng.choice((1, 2, 3, 4, 6, 7, 9, 10, 19))
        elif kind == 2:
            tensor.ClearField("tensor_content")
            del tensor.tensor_shape.dim[:]
            tensor.int_val[:] = [rng.choice((0, 1, -1, 5, (1 << 31) - 1))]
        elif tensor.tensor_content:
            spoilt = bytearray(tensor.tensor_content)
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
            tensor.tensor_content = bytes(spoilt)


def mutate_tf(data: bytes, rng: random.Random) -> bytes:
    graph = GraphDef()
    graph.ParseFromString(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        node = rng.choice(graph.node)
        kind = rng.randrange(6)
        if node.op == "Const":
            _constant(node, rng)
        elif kind < 2:
            node.op = rng.choice(_TF_OPERATORS)
        elif kind == 2 and node.input:
            node.input.append(rng.choice(node.input))
        elif kind == 3 and node.input:
            del node.input[rng.randrange(len(node.input)) :]
        elif kind == 4 and len(node.input) > 1:
            node.input[:] = rng.sample(list(node.input), len(node.input))
        elif node.attr:
            value = rng.choice(node.attr).value
            value.i, value.type = rng.choice(INTEGERS), rng.choice((1, 3, 9, 10))
            value.list.i[:] = [rng.choice(INTEGERS) for _ in value.list.i]
    return bytes(graph.SerializeToString())
