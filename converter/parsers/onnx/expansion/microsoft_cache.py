"""GroupQueryAttention: attention with grouped heads and a cache of keys and values, for language models."""

from __future__ import annotations

from math import isfinite

from onnx import TensorProto

from .attention_parts import head_count, last_dim, lowest, optional, positions, scale_of
from .body import Body
from .microsoft_rotary import angles, rotated
from .registry import expands


def _require_plain_cache(body: Body) -> None:
    for name, plain in (("k_quant_type", "NONE"), ("v_quant_type", "NONE")):
        if body.text(name, plain) != plain:
            raise body.block("a quantized cache is not supported", "Export a float cache", name)
    body.ignore("kv_cache_bit_width")  # only for a quantized cache
    body.ignore_inputs(12, 13)  # scales of a quantized cache
    if body.boolean("sliding_window_cache"):
        raise body.block(
            "a cache limited to the window is not supported",
            "Export with sliding_window_cache = 0",
            "sliding_window_cache",
        )
    if body.integer("qk_output"):
        raise body.block("the output of attention scores is not supported", "Export without it", "qk_output")
    if body.has_output(3):
        raise body.block("the output of attention scores is not supported", "Export without it")


def _operands(body: Body, heads: int, groups: int) -> tuple[list[str], int]:
    """Returns q [b, heads, s, d], k and v [b, groups, s, d], and d."""
    query = body.input(0)
    if body.has_input(1):
        head_size = last_dim(body, query) // heads
        parts = [query, body.input(1), body.input(2)]
    else:
        head_size = last_dim(body, query) // (heads + 2 * groups)
        parts = body.split(query, 2, (heads * head_size, groups * head_size, groups * head_size), 3)
    counts = (heads, groups, groups)
    rows = [body.reshape(part, 0, 0, count, head_size) for part, count in zip(parts, counts, strict=True)]
    return [body.transpose(row, 0, 2, 1, 3) for row in rows], head_size


def _normalized(body: Body, q: str, k: str) -> tuple[str, str]:
    """Applies RMS normalization with weights [d] to each head of q and k, if the weights are given."""
    names = ("qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon")
    if not body.has_input(14) and not body.has_input(15):
        body.ignore(*names)
        return q, k
    shared = body.real(names[0], 1e-6)
    results = []
    for x, index, name in ((q, 14, names[1]), (k, 15, names[2])):
        epsilon = body.real(name, shared)
        if not (isfinite(epsilon) and epsilon > 0):
            raise body.block(f"{epsilon} is not positive", "Export the model again", name)
        weight = body.input(index)
        squares = body.mean(body.op("Mul", x, x), -1)
        root = body.op("Sqrt", body.op("Add", squares, body.number(epsilon, body.input(0))))
        results.append(body.op("Mul", body.op("Div", x, root), weight))
    return results[0], results[1]


def _written(body: Body, past: str, new: str, places: str, total: str) -> str:
    """Returns the cache with the new rows at `places` [b, s]; its length is max(past length, `total`)."""
    shape = body.op("Shape", new)
    batch, heads, size = (body.op("Gather", shape, body.ints(axis), axis=0) for axis in (0, 1, 3))
    missing = total
    if past:
        length = body.size(past, 2)
        missing = body.op("Sub", body.op("Max", length, total), length)
    empty = body.op("ConstantOfShape", body.op("Concat", batch, heads, missing, size, axis=0))
    cache = body.cast_like(empty, body.input(0))
    if past:
        cache = body.op("Concat", past, cache, axis=2)
    index = body.op("Expand", body.unsqueeze(places, 1, 3), shape)
    return body.op("ScatterElements", cache, index, new, axis=2)


def _soft_capped(body: Body, logits: str, cap: float, *like: str) -> str:
    if cap <= 0.0:
        return logits
    limit = body.number(cap, *like)
    return body.op("Mul", limit, body.op("Tanh", body.op("Div", logits, limit)))


def _softmax(body: Body, logits: str, sink: str) -> str:
    """Softmax over the keys. A sink is an additional logit per head whose probability is dropped."""
    if not sink:
        return body.op("Softmax", logits, axis=-1)
    leading = body.slice(body.op("Shape", logits), 0, 0, 4)
    column = body.op("Expand", sink, body.op("Concat", leading, body.ints(1), axis=0))
    shares = body.op("Softmax", body.op("Concat", logits, column, axis=4), axis=-1)
    return body.slice(shares, 4, body.ints(0), body.ints(-1))


def _rotary_places(body: Body, places: str, length: str, total: str) -> str:
    """Returns [b or 1, s]: the given positions, or `places`.

    Without input 16, the first call only reads the first position and counts up from it.
    """
    given = optional(body, 9)
    if not given:
        return places
    given = body.cast(given, TensorProto.INT64)
    chosen = body.reshape(given, body.size(body.input(0), 0), length)
    if body.has_input(16):
        return chosen
    first = body.slice(body.reshape(given, -1), 0, 0, 1)
    counted = body.unsqueeze(body.op("Add", positions(body, length), first), 0)
    return body.op("Where", body.op("Equal", total, length), counted, chosen)


def _allowed(body: Body, places: str, valid: str, keys: str) -> str:
    """Returns bool [b, s or 1, keys]: the keys for a query at `places` [b, s]. `valid` [b]: number of keys."""
    columns = body.unsqueeze(positions(body, keys), 0, 1)
    window = body.integer("local_window_size", -1)
    if window == 0:
        raise body.block("a window of 0 attends to no key", "Export with -1 for no window", "local_window_size")
    if not body.boolean("causal", True):
        if window > 0:
            raise body.block("a window without causality is undefined", "Export with causal = 1", "local_window_size")
        return body.op("Less", columns, body.unsqueeze(valid, 1, 2))
    own = body.unsqueeze(places, 2)
    allowed = body.op("Not", body.op("Less", own, columns))
    if window < 0:
        return allowed
    near = body.op("Less", body.op("Sub", own, columns), body.const(window, "int64"))
    return body.op("And", allowed, near)


@expands("GroupQueryAttention")
def group_query_attention(body: Body) -> None:
    """Attention in which several heads share a key, causal or not. Batch entries may have pasts of different lengths.

    Inputs: query (or concatenated q, k, v), [key], [value], [past key], [past value], seqlens_k [b] (valid keys - 1),
    total length, [cosines], [sines], [positions], [attention bias], [sinks], [scales of a quantized cache (two)],
    [weights of the norms of q and k (two)], [valid queries [b]]. Outputs: y, present key, present value.
    """
    _require_plain_cache(body)
    heads, groups = head_count(body), head_count(body, "kv_num_heads")
    if heads % groups:
        raise body.block(f"{groups} does not divide {heads} heads", "Export the model again", "kv_num_heads")
    (q, k, v), head_size = _operands(body, heads, groups)
    length = body.size(q, 2)
    valid = body.op("Add", body.reshape(body.cast(body.input(5), TensorProto.INT64), -1), body.const(1, "int64"))
    total = body.reshape(body.cast(body.input(6), TensorProto.INT64), 1)
    if body.has_input(16):
        # Rows of padding are written after the valid keys, and no valid query attends to them.
        past = body.op("Sub", valid, body.reshape(body.cast(body.input(16), TensorProto.INT64), -1))
    else:
        # The first call has no past; shorter entries end with padding.
        past = body.op("Max", body.op("Sub", valid, length), body.const(0, "int64"))
        past = body.op("Where", body.op("Equal", total, length), body.const(0, "int64"), past)
    q, k = _normalized(body, q, k)
    places = body.op("Add", body.unsqueeze(past, 1), body.unsqueeze(positions(body, length), 0))
    if body.boolean("do_rotary"):
        chosen = _rotary_places(body, places, length, total)
        cos, sin = (angles(body, body.input(index), chosen, 2) for index in (7, 8))
        width, interleaved = 2 * last_dim(body, body.input(7)), body.boolean("rotary_interleaved")
        q, k = (rotated(body, x, head_size, cos, sin, width, interleaved) for x in (q, k))
    else:
        body.ignore("rotary_interleaved")
        body.ignore_inputs(7, 8, 9)
    k = _written(body, optional(body, 3), k, places, total)
    v = _written(body, optional(body, 4), v, places, total)
    body.result(1, k)
    body.result(2, v)
    like = (body.input(0),)
    share = heads // groups
    grouped = body.reshape(q, 0, groups, share, -1, head_size)
    scaled = body.op("Mul", grouped, body.number(scale_of(body, head_size), *like))
    logits = body.op("MatMul", scaled, body.unsqueeze(body.transpose(k, 0, 1, 3, 2), 2))
    logits = _soft_capped(body, logits, body.real("softcap", 0.0), *like)
    if body.has_input(10):
        bias = body.input(10)
        logits = body.op("Add", logits, _grouped_bias(body, bias, groups, share))
    allowed = _allowed(body, places, valid, body.size(k, 2))
    logits = body.op("Where", body.unsqueeze(allowed, 1, 2), logits, lowest(body, *like))
    result = body.op("MatMul", _softmax(body, logits, _sink(body, groups, share, *like)), body.unsqueeze(v, 2))
    rows = body.reshape(result, 0, heads, -1, head_size)
    body.result(0, body.reshape(body.transpose(rows, 0, 2, 1, 3), 0, 0, heads * head_size))


def _grouped_bias(body: Body, bias: str, groups: int, share: int) -> str:
    """Converts [b or 1, heads or 1, s, keys] to [b or 1, groups or 1, heads per group or 1, s, keys]."""
    dims = body.dims(bias)
    if dims is not None and len(dims) == 4 and dims[1] == 1:
        return body.unsqueeze(bias, 1)
    if dims is None or len(dims) != 4 or dims[1] != groups * share:
        raise body.block("the number of heads of the attention bias is not known", "Export with a fixed shape")
    parts = [body.unsqueeze(part, 1) for part in body.split(bias, 1, (share,) * groups, groups)]
    return parts[0] if groups == 1 else body.op("Concat", *parts, axis=1)


def _sink(body: Body, groups: int, share: int, *like: str) -> str:
    """Returns the sink [1, groups, heads per group, 1, 1], or an empty name."""
    smooth = body.integer("smooth_softmax", 0) > 0
    if body.has_input(11):
        return body.reshape(body.input(11), 1, groups, share, 1, 1)
    return body.reshape(body.number(0.0, *like), 1, 1, 1, 1, 1) if smooth else ""
