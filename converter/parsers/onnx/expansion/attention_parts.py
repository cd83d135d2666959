"""Functions that several attention operators use. Heads are [batch, heads, sequence, head size]."""

from __future__ import annotations

from math import sqrt

from onnx import TensorProto

from .body import Body, UnknownType

_LOWEST = {int(TensorProto.FLOAT16): -65504.0}
_LOWEST_FLOAT = -3.4028234e38


def optional(body: Body, index: int) -> str:
    return body.input(index) if body.has_input(index) else ""


def refuse_input(body: Body, index: int, what: str) -> None:
    if body.has_input(index):
        raise body.block(f"{what} (input {index}) is not supported", "Export the model without it")


def head_count(body: Body, name: str = "num_heads") -> int:
    count = body.integer(name)
    if count < 1:
        raise body.block(f"{count} heads are invalid", "Export the model again", name)
    return count


def to_heads(body: Body, x: str, heads: int) -> str:
    """Converts [batch, sequence, heads * size] to heads."""
    return body.transpose(body.reshape(x, 0, 0, heads, -1), 0, 2, 1, 3)


def from_heads(body: Body, x: str) -> str:
    """Converts heads to [batch, sequence, heads * size]."""
    return body.reshape(body.transpose(x, 0, 2, 1, 3), 0, 0, -1)


def last_dim(body: Body, name: str) -> int:
    """Returns the size of the last dimension. Raises UnknownType."""
    dims = body.dims(name)
    if not dims or dims[-1] is None:
        raise UnknownType(f"the last dimension of '{name}'")
    return dims[-1]


def scale_of(body: Body, head_size: int) -> float:
    """Returns the attribute `scale`; 1 / sqrt(head size) if it is 0 or missing."""
    return body.real("scale", 0.0) or 1.0 / sqrt(head_size)


def lowest(body: Body, *like: str) -> str:
    """Returns the lowest finite value, the logit for positions that are not attended."""
    return body.number(_LOWEST.get(body.element_type(*like), _LOWEST_FLOAT), *like)


def positions(body: Body, count: str) -> str:
    """Returns int64 [count]: 0, 1, ...; `count` is an int64 vector of one element."""
    zero, one = body.const(0, "int64"), body.const(1, "int64")
    return body.op("Range", zero, body.squeeze(count, 0), one)


def scores(body: Body, q: str, k: str, scale: float, *like: str) -> str:
    """Returns scale * q k^T."""
    return body.op("MatMul", body.op("Mul", q, body.number(scale, *like)), body.transpose(k, 0, 1, 3, 2))


def causal(body: Body, queries: str, keys: str, before: str) -> str:
    """Returns bool [queries, keys]: each query attends to keys up to its position. `before`: keys before query 0."""
    rows = body.op("Add", positions(body, queries), before)
    limits = body.unsqueeze(body.op("Add", rows, body.const(1, "int64")), 1)
    return body.op("Less", body.unsqueeze(positions(body, keys), 0), limits)


def padding_mask(body: Body, mask: str, batch: str, keys: str) -> str:
    """Returns bool [batch, 1, 1, keys] or [batch, 1, queries, keys]: the positions that a key padding mask attends to.

    The mask contains a value per key, which is attended to if greater than 0; or the number of keys per batch entry; or
    the ends and then the starts per batch entry.
    """
    rank = body.rank(mask)
    if rank in (2, 3):
        seen = body.op("Greater", body.cast(mask, TensorProto.FLOAT), body.const(0, "float32"))
        return body.unsqueeze(seen, 1, 2) if rank == 2 else body.unsqueeze(seen, 1)
    if rank != 1:
        raise body.block(f"a mask of rank {rank} is not supported", "Export with a mask of rank 1 to 3")
    lengths = body.cast(mask, TensorProto.INT64)
    place = body.unsqueeze(positions(body, keys), 0)
    ends = body.unsqueeze(body.slice(lengths, 0, body.ints(0), batch), 1)
    seen = body.op("Less", place, ends)
    size, known = (body.dims(mask) or [None])[0], (body.dims(body.input(0)) or [None])[0]
    starts = ""
    if size is None or known is None:
        if not body.same_size(mask, 0, body.input(0), 0):
            starts = _starts_if_any(body, lengths, batch)
    elif size == 2 * known and known != 0:
        starts = body.slice(lengths, 0, batch, body.ints(2**31))
    elif size not in (known, 3 * known + 2):
        raise body.block(f"a mask of {size} elements does not fit a batch of {known}", "Export the model again")
    if starts:
        seen = body.op("And", seen, body.op("Not", body.op("Less", place, body.unsqueeze(starts, 1))))
    return body.unsqueeze(seen, 1, 2)


def _starts_if_any(body: Body, lengths: str, batch: str) -> str:
    """Returns int64 [batch]: the starts if the mask has two elements per batch entry, else 0. Decided at run time."""
    zeros = body.op("Mul", body.slice(lengths, 0, body.ints(0), batch), body.ints(0))
    twice = body.op("Mul", batch, body.ints(2))
    second = body.slice(body.op("Concat", lengths, zeros, axis=0), 0, batch, twice)
    return body.op("Where", body.op("Equal", body.op("Shape", lengths), twice), second, zeros)


def attended(
    body: Body,
    logits: str,
    v: str,
    *,
    padding: str = "",
    bias: str = "",
    allowed: str = "",
    filter_value: float = -10000.0,
    like: tuple[str, ...] = (),
) -> str:
    """Returns softmax(logits + bias) v. If `padding` is false, adds filter_value; if `allowed` is false, masks."""
    if bias:
        logits = body.op("Add", logits, bias)
    if padding:
        away = body.op("Where", padding, body.number(0.0, *like), body.number(filter_value, *like))
        logits = body.op("Add", logits, away)
    if allowed:
        logits = body.op("Where", allowed, logits, lowest(body, *like))
    return body.op("MatMul", body.op("Softmax", logits, axis=-1), v)
