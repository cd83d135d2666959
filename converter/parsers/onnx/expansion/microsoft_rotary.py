"""Rotary embedding of onnxruntime."""

from __future__ import annotations

from onnx import TensorProto

from .attention_parts import last_dim, positions
from .body import Body
from .registry import expands


def rotated(body: Body, x: str, head_size: int, cos: str, sin: str, width: int, interleaved: bool) -> str:
    """Rotates the pairs in the first `width` elements of heads x; cos, sin: [batch or 1, 1, sequence, width / 2].

    A pair are neighbors if `interleaved`, else elements with the distance width / 2.
    """
    if not 0 < width <= head_size or width % 2:
        raise body.block(f"{width} rotated elements do not fit heads of {head_size}", "Export the model again")
    turning = x if width == head_size else body.slice(x, 3, 0, width)
    if interleaved:
        pairs = body.reshape(turning, 0, 0, 0, width // 2, 2)
        first, second = (body.squeeze(part, 4) for part in body.split(pairs, 4, None, 2))
    else:
        first, second = body.split(turning, 3, None, 2)
    left = body.op("Sub", body.op("Mul", first, cos), body.op("Mul", second, sin))
    right = body.op("Add", body.op("Mul", first, sin), body.op("Mul", second, cos))
    if interleaved:
        both = body.op("Concat", body.unsqueeze(left, 4), body.unsqueeze(right, 4), axis=4)
        result = body.reshape(both, 0, 0, 0, width)
    else:
        result = body.op("Concat", left, right, axis=3)
    if width == head_size:
        return result
    return body.op("Concat", result, body.slice(x, 3, width, head_size), axis=3)


def angles(body: Body, cache: str, places: str, rank: int) -> str:
    """Returns rows of a cache at places [sequence] or [batch, sequence], in a shape that broadcasts over heads."""
    rows = body.op("Gather", cache, places, axis=0)
    return body.unsqueeze(rows, 0, 1) if rank == 1 else body.unsqueeze(rows, 1)


@expands("RotaryEmbedding")
def rotary_embedding(body: Body) -> None:
    """Inputs: x [b, s, hidden] or [b, n, s, d], positions [1] (of the first token) or [b, s], cosines, sines."""
    if body.real("scale", 1.0) != 1.0:
        raise body.block("a scale is not supported", "Export with scale = 1", "scale")
    if body.boolean("is_packed_batching"):
        raise body.block("packed batches are not supported", "Export padded batches", "is_packed_batching")
    x, places, cache = body.input(0), body.input(1), body.input(2)
    width = body.integer("rotary_embedding_dim") or 2 * last_dim(body, cache)
    heads, flat = body.integer("num_heads"), body.rank(x) == 3
    if flat:
        head_size = last_dim(body, x) // heads if heads else width
        turned = body.transpose(body.reshape(x, 0, 0, -1, head_size), 0, 2, 1, 3)
        length = body.size(x, 1)
    else:
        head_size, turned, length = last_dim(body, x), x, body.size(x, 2)
    rank = body.rank(places)
    if rank < 2:
        places = body.op("Add", positions(body, length), body.cast(places, TensorProto.INT64))
    cos, sin = (angles(body, body.input(index), places, max(rank, 1)) for index in (2, 3))
    result = rotated(body, turned, head_size, cos, sin, width, body.boolean("interleaved"))
    if flat:
        result = body.reshape(body.transpose(result, 0, 2, 1, 3), 0, 0, -1)
    body.result(0, result)
