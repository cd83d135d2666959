"""Attention and MultiHeadAttention of onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass

from .attention_parts import (
    attended,
    causal,
    from_heads,
    head_count,
    last_dim,
    optional,
    padding_mask,
    refuse_input,
    scale_of,
    scores,
    to_heads,
)
from .body import Body
from .registry import expands


@dataclass(frozen=True)
class Operands:
    """The indices of an attention's inputs; -1 for none."""

    mask: int
    past: int
    bias: int = -1
    like: tuple[str, ...] = ()
    """Tensors of the type of the computation."""


@expands("Attention")
def attention(body: Body) -> None:
    """Self-attention with input projection.

    Inputs: x [b, s, in], weights [in, q + k + v], [bias], [mask], [past (2, b, n, p, d)], [attention bias], [length].
    Outputs: y [b, s, v], [present (2, b, n, p + s, d)].
    """
    refuse_input(body, 6, "a past length for a shared buffer")
    x, weights = body.input(0), body.input(1)
    projected = body.op("MatMul", x, weights)
    if body.has_input(2):
        projected = body.op("Add", projected, body.input(2))
    self_attention(body, projected, Operands(mask=3, past=4, bias=5, like=(x, weights)))


def self_attention(body: Body, projected: str, operands: Operands) -> None:
    """Computes attention from `projected`, the matmul of inputs 0 and 1: q, k and v concatenated."""
    if body.boolean("do_rotary") or body.integer("rotary_embedding_dim"):
        raise body.block("rotary embedding inside of Attention is not supported", "Use RotaryEmbedding", "do_rotary")
    if body.boolean("past_present_share_buffer"):
        raise body.block("shared buffers are not supported", "Export without them", "past_present_share_buffer")
    x, weights, heads = body.input(0), body.input(1), head_count(body)
    width = last_dim(body, weights)
    sizes = body.integers("qkv_hidden_sizes") or (width // 3,) * 3
    if len(sizes) != 3 or sum(sizes) != width or any(size <= 0 or size % heads for size in sizes):
        raise body.block(f"{list(sizes)} does not fit {width} columns", "Export the model again", "qkv_hidden_sizes")
    parts = body.split(projected, 2, None if len(set(sizes)) == 1 else sizes, 3)
    q, k, v = (to_heads(body, part, heads) for part in parts)
    batch, queries = body.size(x, 0), body.size(x, 1)
    before = body.ints(0)
    if body.has_input(operands.past):
        past_k, past_v = (body.squeeze(part, 0) for part in body.split(body.input(operands.past), 0, None, 2))
        before = body.size(past_k, 2)
        k, v = body.op("Concat", past_k, k, axis=2), body.op("Concat", past_v, v, axis=2)
    if body.has_output(1):
        body.result(1, body.op("Concat", body.unsqueeze(k, 0), body.unsqueeze(v, 0), axis=0))
    keys = body.size(k, 2)
    result = attended(
        body,
        scores(body, q, k, scale_of(body, sizes[0] // heads), *operands.like),
        v,
        padding=padding_mask(body, body.input(operands.mask), batch, keys) if body.has_input(operands.mask) else "",
        bias=optional(body, operands.bias) if operands.bias >= 0 else "",
        allowed=causal(body, queries, keys, before) if body.boolean("unidirectional") else "",
        filter_value=body.real("mask_filter_value", -10000.0),
        like=operands.like,
    )
    body.result(0, from_heads(body, result))


def _unpack(body: Body, packed: str, count: int) -> list[str]:
    """Splits [b, s, heads, count, size] into `count` tensors of heads."""
    parts = body.split(packed, 3, None, count)
    return [body.transpose(body.squeeze(part, 3), 0, 2, 1, 3) for part in parts]


def _operands(body: Body, heads: int) -> tuple[str, str, str, int]:
    """Returns q, k and v as heads with added biases, and the head size of q."""
    query = body.input(0)
    if body.rank(query) == 5:
        refuse_input(body, 3, "a bias of a packed query")
        q, k, v = _unpack(body, query, 3)
        return q, k, v, last_dim(body, query)
    key, hidden = body.input(1), last_dim(body, query)
    head_size = hidden // heads
    bias = optional(body, 3)
    biases = ["", "", ""]
    if bias:
        values = last_dim(body, bias) - 2 * hidden
        if values <= 0:
            raise body.block("the bias does not fit the query", "Export the model again")
        biases = body.split(bias, 0, (hidden, hidden, values), 3)
    rank = body.rank(key)

    def projected(x: str, addend: str) -> str:
        return to_heads(body, body.op("Add", x, addend) if addend else x, heads)

    q = projected(query, biases[0])
    if rank == 5:
        if bias:
            raise body.block("a bias of packed keys and values is not supported", "Export without packing")
        k, v = _unpack(body, key, 2)
    elif rank == 4:
        k, v = key, body.input(2)
    else:
        k, v = projected(key, biases[1]), projected(body.input(2), biases[2])
    return q, k, v, head_size


@expands("MultiHeadAttention")
def multi_head_attention(body: Body) -> None:
    """Attention of projected inputs.

    Inputs: query, [key], [value], [bias], [key padding mask], [attention bias], [past key], [past value], ...
    Outputs: y, [present key], [present value].
    """
    refuse_input(body, 8, "a past length for a shared buffer")
    refuse_input(body, 9, "beam search inside of attention")
    if body.has_output(3):
        raise body.block("the output 'qk' is not supported", "Export the model without it")
    heads = head_count(body)
    q, k, v, head_size = _operands(body, heads)
    before = body.ints(0)
    if body.has_input(6):
        before = body.size(body.input(6), 2)
        k = body.op("Concat", body.input(6), k, axis=2)
        v = body.op("Concat", body.input(7), v, axis=2)
    body.result(1, k)
    body.result(2, v)
    batch, queries, keys = body.size(q, 0), body.size(q, 2), body.size(k, 2)
    like = (body.input(0),)
    result = attended(
        body,
        scores(body, q, k, scale_of(body, head_size), *like),
        v,
        padding=padding_mask(body, body.input(4), batch, keys) if body.has_input(4) else "",
        bias=optional(body, 5),
        allowed=causal(body, queries, keys, before) if body.boolean("unidirectional") else "",
        filter_value=body.real("mask_filter_value", -10000.0),
        like=like,
    )
    body.result(0, from_heads(body, result))
