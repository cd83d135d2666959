"""Embedding layers of BERT as operators of onnxruntime, with float or quantized tables, and T5's relative bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from .body import Body
from .formulas import layer_norm
from .quantized_parts import dequantized
from .registry import expands


@dataclass(frozen=True)
class _Tables:
    """The constants of an embedding layer; `like` has the type of the results."""

    words: str
    positions: str
    segments: str
    gamma: str
    beta: str
    like: str


@expands("EmbedLayerNormalization")
def embed_layer_normalization(body: Body) -> None:
    """Inputs: ids [b, s], [segments], word table, position table, [segment table], gamma, beta, [mask], [positions].

    Outputs: y [b, s, h], [number of unmasked tokens per batch entry], [the sum of the embeddings].
    """
    body.ignore("mask_index_type")
    segments = body.input(4) if body.has_input(1) else ""
    if not segments:
        body.ignore_inputs(4)  # onnxruntime also ignores the table then
    words = body.input(2)
    tables = _Tables(words, body.input(3), segments, body.input(5), body.input(6), words)
    body.result(2, _embedded(body, tables, body.input(8) if body.has_input(8) else ""))


@expands("QEmbedLayerNormalization")
def quantized_embed_layer_normalization(body: Body) -> None:
    """As above, with 8-bit tables in inputs 2 to 6, their scales in 8 to 12 and their zero points in 13 to 17."""
    names = []
    for index in range(2, 7):
        scale, point = index + 6, index + 11
        if index == 4 and not body.has_input(1):
            body.ignore_inputs(index, scale, point)
            names.append("")
        else:
            names.append(dequantized(body, body.input(index), body.input(scale), body.input(point)))
    words, positions, segments, gamma, beta = names
    _embedded(body, _Tables(words, positions, segments, gamma, beta, body.input(8)), "")


def _embedded(body: Body, tables: _Tables, chosen: str) -> str:
    """Creates outputs 0 and 1, and returns the sum of the embeddings. `chosen`: the positions input, or empty."""
    ids = body.input(0)
    total = body.op("Gather", tables.words, ids, axis=0)
    if chosen:
        places = body.op("Gather", tables.positions, chosen, axis=0)
    else:
        places = body.slice(tables.positions, 0, body.ints(0), body.size(ids, 1))
    total = body.op("Add", total, places)
    if tables.segments:
        total = body.op("Add", total, body.op("Gather", tables.segments, body.input(1), axis=0))
    normalized, _, _ = layer_norm(body, total, body.real("epsilon", 1e-12), (-1,), tables.like)
    body.result(0, body.op("Add", body.op("Mul", normalized, tables.gamma), tables.beta))
    if body.has_output(1):
        body.result(1, _mask_index(body, ids))
    else:
        body.ignore_inputs(7)  # the mask is only used for output 1
    return total


def _mask_index(body: Body, ids: str) -> str:
    """Returns int32 [b]: the number of mask elements that equal 1; zeros without a mask."""
    if body.has_input(7):
        ones = body.op("Equal", body.cast(body.input(7), TensorProto.INT64), body.const(1, "int64"))
        return body.total(body.cast(ones, TensorProto.INT32), 1, keep=False)
    zeros = body.op("ConstantOfShape", body.size(ids, 0))
    return body.cast(zeros, TensorProto.INT32)


@expands("RelativePositionBias")
def relative_position_bias(body: Body) -> None:
    """T5's bias: table [buckets, heads], query length, key length -> [1, heads, query length, key length]."""
    table = body.input(0)
    both = body.boolean("is_bidirectional")
    dims = body.dims(table)
    limit = body.integer("max_distance")
    if dims is None or dims[0] is None or limit < 1:
        raise body.block("needs the shape of its table and max_distance", "Export the model again")
    buckets = dims[0] // 2 if both else dims[0]
    exact = buckets // 2
    if exact < 1 or limit <= exact:
        raise body.block(f"{dims[0]} buckets do not fit a distance of {limit}", "Export the model again")
    zero, one = body.const(0, "int64"), body.const(1, "int64")
    rows, columns = (body.op("Range", zero, _scalar(body, index), one) for index in (1, 2))
    distance = body.op("Sub", body.unsqueeze(columns, 0), body.unsqueeze(rows, 1))
    if both:
        ahead = body.cast(body.op("Greater", distance, zero), TensorProto.INT64)
        start = body.op("Mul", ahead, body.const(buckets, "int64"))
        distance = body.op("Abs", distance)
    else:
        start = zero
        distance = body.op("Max", body.op("Neg", distance), zero)
    # From `exact` on, the ranges of the buckets grow exponentially.
    real = body.op("Div", body.cast(body.op("Max", distance, one), TensorProto.FLOAT), body.const(exact, np.float32))
    factor = body.const((buckets - exact) / np.log(limit / exact), np.float32)
    steps = body.cast(body.op("Mul", body.op("Log", real), factor), TensorProto.INT64)
    far = body.op("Min", body.op("Add", steps, body.const(exact, "int64")), body.const(buckets - 1, "int64"))
    near = body.op("Less", distance, body.const(exact, "int64"))
    chosen = body.op("Add", start, body.op("Where", near, distance, far))
    rows_of_table = body.op("Gather", table, chosen, axis=0)
    body.result(0, body.unsqueeze(body.transpose(rows_of_table, 2, 0, 1), 0))


def _scalar(body: Body, index: int) -> str:
    """Returns an input with one element as an int64 scalar."""
    return body.squeeze(body.reshape(body.cast(body.input(index), TensorProto.INT64), 1), 0)
