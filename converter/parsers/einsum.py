"""Converts Einsum to transpositions, sums, multiplications, and one matmul per pair of inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose, Unsqueeze
from mslite.converter.mindir.ops.reduction import ReduceFusion

_TERM = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")


class Emitter(Protocol):
    """The methods of a parser's calls that this module needs."""

    def block(self, reason: str, remedy: str, attribute: str = "") -> Exception:
        """Returns the exception for an unsupported node."""

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        """Returns the dimensions, None for an unknown one; None if the rank is unknown."""

    def ints(self, data: npt.ArrayLike) -> Value:
        """Returns an int32 constant."""

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output and returns it."""


@dataclass
class Term:
    """A tensor with a unique label for each dimension. Digits are the dimensions of an ellipsis."""

    value: Value
    labels: str


def _labels(call: Emitter, text: str, rank: int | None) -> str:
    """Returns the labels of a term. The dimensions of an ellipsis become digits; its last one is `0`."""
    match = _TERM.fullmatch(text)
    if match is None:
        raise call.block(f"the term '{text}' is not supported", "Write the equation with letters", "equation")
    first, dots, last = match.groups()
    if not dots:
        if rank is not None and rank != len(text):
            raise call.block(f"the term '{text}' does not fit rank {rank}", "Export the model again", "equation")
        return text
    extra = (rank or 0) - len(first) - len(last)
    if rank is None or not 0 <= extra <= 8:
        raise call.block(f"the term '{text}' does not fit its input", "Export the model again", "equation")
    return first + "".join(str(index) for index in reversed(range(extra))) + last


def _reduce(call: Emitter, term: Term, drop: set[str]) -> Term:
    axes = tuple(index for index, label in enumerate(term.labels) if label in drop)
    if not axes:
        return term
    op = ReduceFusion(keep_dims=False, mode=ReduceMode.ReduceSum, coeff=1.0)
    value = call.emit(op, term.value, call.ints(axes))
    return Term(value, "".join(label for label in term.labels if label not in drop))


def _arrange(call: Emitter, term: Term, order: str) -> Term:
    """Transposes to the order of the labels in `order`; labels that the term lacks become dimensions of size 1."""
    present = "".join(label for label in order if label in term.labels)
    value = term.value
    if present != term.labels:
        perm = tuple(term.labels.index(label) for label in present)
        value = call.emit(Transpose(), value, call.ints(perm))
    missing = tuple(index for index, label in enumerate(order) if label not in term.labels)
    if missing:
        value = call.emit(Unsqueeze(axis=missing), value)
    return Term(value, order)


def _dims(call: Emitter, term: Term, labels: str, sizes: dict[str, int]) -> Value:
    """Returns the sizes of these labels of a term, as an int32 vector."""
    if all(label in sizes for label in labels):
        return call.ints(tuple(sizes[label] for label in labels))
    indices = call.ints(tuple(term.labels.index(label) for label in labels))
    return call.emit(Gather(), call.emit(Shape(), term.value), indices, call.ints(0))


def _product(call: Emitter, a: Term, b: Term, keep: set[str], sizes: dict[str, int]) -> Term:
    """Multiplies two terms and sums over the labels that are not in `keep`."""
    a = _reduce(call, a, set(a.labels) - set(b.labels) - keep)
    b = _reduce(call, b, set(b.labels) - set(a.labels) - keep)
    shared = [label for label in a.labels if label in b.labels]
    contracted = "".join(label for label in shared if label not in keep)
    if not contracted or any(sizes.get(label) == 1 and label.isdigit() for label in contracted):
        order = a.labels + "".join(label for label in b.labels if label not in a.labels)
        factors = (_arrange(call, term, order).value for term in (a, b))
        joined = Term(call.emit(MulFusion(), *factors), order)
        return _reduce(call, joined, set(order) - keep)
    batch = "".join(label for label in shared if label in keep)
    rows = "".join(label for label in a.labels if label not in b.labels)
    columns = "".join(label for label in b.labels if label not in a.labels)
    left = _matrix(call, a, batch, rows, contracted, sizes)
    right = _matrix(call, b, batch, contracted, columns, sizes)
    product = call.emit(MatMulFusion(), left, right)
    labels = batch + rows + columns
    if len(rows) == 1 and len(columns) == 1:
        return Term(product, labels)
    if not labels:
        return Term(call.emit(Reshape(), product, call.ints(())), "")
    parts = [_dims(call, term, group, sizes) for term, group in ((a, batch), (a, rows), (b, columns)) if group]
    if all(part.data is not None for part in parts):
        shape = call.ints(tuple(int(size) for part in parts for size in part.array()))
    else:
        shape = parts[0] if len(parts) == 1 else call.emit(Concat(axis=0), *parts)
    return Term(call.emit(Reshape(), product, shape), labels)


def _matrix(call: Emitter, term: Term, batch: str, rows: str, columns: str, sizes: dict[str, int]) -> Value:
    """Returns [batch..., rows, columns] with all labels of a group flattened into one dimension."""
    arranged = _arrange(call, term, batch + rows + columns)
    if len(rows) == 1 and len(columns) == 1:
        return arranged.value
    leading = _dims(call, arranged, batch, sizes) if batch else None
    ends = []
    for group in (rows, columns):
        known = all(label in sizes for label in group)
        total = 1
        for label in group:
            total *= sizes.get(label, 1)
        ends.append(total if known else -1)
    if ends == [-1, -1]:
        raise call.block("several dimensions of unknown size are flattened", "Give --inputShape", "equation")
    if leading is None:
        shape = call.ints(ends)
    elif leading.data is not None:
        shape = call.ints((*(int(size) for size in leading.array()), *ends))
    else:
        shape = call.emit(Concat(axis=0), leading, call.ints(ends))
    return call.emit(Reshape(), arranged.value, shape)


def _diagonals(
    call: Emitter, value: Value, labels: str, shape: Sequence[int | None]
) -> tuple[Value, str, tuple[int | None, ...]]:
    """Takes diagonals of pairs of dimensions with the same label until all labels are unique.

    A pair is moved to the end and flattened; the diagonal is every (size + 1)th element.
    """
    dims = list(shape)
    while len(set(labels)) != len(labels):
        first = next(index for index, label in enumerate(labels) if labels.count(label) > 1)
        second = labels.index(labels[first], first + 1)
        size = dims[first] if dims[first] is not None else dims[second]
        others = [index for index in range(len(labels)) if index not in (first, second)]
        kept = [dims[index] for index in others]
        if size is None or dims[second] not in (None, size) or kept.count(None) > 1:
            raise call.block("the sizes of a diagonal are not known", "Give --inputShape", "equation")
        turned = call.emit(Transpose(), value, call.ints((*others, first, second)))
        flat = call.emit(Reshape(), turned, call.ints([-1 if dim is None else dim for dim in kept] + [size * size]))
        places = call.ints([index * (size + 1) for index in range(size)])
        value = call.emit(Gather(), flat, places, call.ints(len(others)))
        labels = "".join(labels[index] for index in others) + labels[first]
        dims = [*kept, size]
    return value, labels, tuple(dims)


def einsum(call: Emitter, equation: str, values: Sequence[Value]) -> Value:
    """Returns the result of an equation such as `bij,bjk->bik` on values of known rank."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(values):
        raise call.block(f"'{equation}' has {len(texts)} terms for {len(values)} inputs", "Export again", "equation")
    terms: list[Term] = []
    sizes: dict[str, int] = {}
    written = ""
    for text, value in zip(texts, values, strict=True):
        shape = call.shape(value)
        labels = _labels(call, text, None if shape is None else len(shape))
        dims = shape or (None,) * len(labels)
        written += labels
        if len(set(labels)) != len(labels):
            value, labels, dims = _diagonals(call, value, labels, dims)
        terms.append(Term(value, labels))
        for label, size in zip(labels, dims, strict=True):
            if size is not None and (label not in sizes or sizes[label] == 1):
                sizes[label] = size
    if any(label.isdigit() and _differs(call, terms, label) for label in sizes):
        sizes = {label: size for label, size in sizes.items() if not label.isdigit()}
    used = "".join(term.labels for term in terms)
    dots = "".join(sorted({label for label in used if label.isdigit()}, reverse=True))
    if arrow:
        match = _TERM.fullmatch(right)
        if match is None or len(set(match.group(1) + match.group(3))) != len(match.group(1) + match.group(3)):
            raise call.block(f"the result '{right}' is not supported", "Export the model again", "equation")
        target = match.group(1) + (dots if match.group(2) else "") + match.group(3)
    else:
        target = dots + "".join(sorted(label for label in set(used) if label.isalpha() and written.count(label) == 1))
    if not set(target) <= set(used):
        raise call.block(f"the result '{right}' has a label that no input has", "Export the model again", "equation")
    result = terms[0]
    for index, term in enumerate(terms[1:], 2):
        later = set(target).union(*(other.labels for other in terms[index:]))
        result = _product(call, result, term, later, sizes)
    result = _reduce(call, result, set(result.labels) - set(target))
    return _arrange(call, result, target).value


def _differs(call: Emitter, terms: list[Term], label: str) -> bool:
    """Returns whether a dimension of an ellipsis broadcasts, or may broadcast."""
    seen = set()
    for term in terms:
        if label in term.labels:
            shape = call.shape(term.value)
            seen.add(None if shape is None else shape[term.labels.index(label)])
    return len(seen) > 1 or None in seen
