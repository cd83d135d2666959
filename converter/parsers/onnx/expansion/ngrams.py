"""TfIdfVectorizer: counts of integer n-grams in rows of known length."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from mslite.converter.mindir.graph import Array

from .body import Body, UnknownType
from .registry import STANDARD, expands

_AGAIN = "The model breaks the ONNX standard; export it again"
_MAX_COMPARED = 1 << 24
"""Limit of elements in a comparison of all windows with all n-grams."""


@expands("TfIdfVectorizer", domain=STANDARD)
def tf_idf_vectorizer(body: Body) -> None:
    """Compares every window of the row with every n-gram of its size. The counts are the sums of matches.

    The weights are in the order of the n-grams.
    """
    if body.has_attribute("pool_strings"):
        raise body.block(
            "n-grams of strings are not supported", "Move text processing out of the model", "pool_strings"
        )
    x, mode = body.input(0), body.text("mode")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise body.block(f"'{mode}' is not TF, IDF or TFIDF", _AGAIN, "mode")
    grams = _grams(body)
    columns = body.integers("ngram_indexes") or ()
    if (
        min(columns, default=-1) < 0
        or max(columns) >= 1 << 24
        or len(columns) < max((max(ids) for _, ids in grams), default=-1) + 1
    ):
        raise body.block("does not fit the n-grams", _AGAIN, "ngram_indexes")
    counts, numbers = _counts(body, x, grams)
    if not counts:
        raise body.block("the row is shorter than every n-gram", "Export the model with longer rows")
    places = np.zeros((len(numbers), max(columns) + 1), np.float32)
    places[np.arange(len(numbers)), [columns[number] for number in numbers]] = 1
    joined = counts[0] if len(counts) == 1 else body.op("Concat", *counts, axis=body.rank(x) - 1)
    result = body.op("MatMul", joined, body.const(places))
    if mode == "IDF":
        result = body.cast(body.op("Greater", result, body.const(0.0, np.float32)), TensorProto.FLOAT)
    weights = body.reals("weights")
    if weights and mode != "TF":
        if len(weights) != len(columns):
            raise body.block(f"{len(weights)} weights do not fit {len(columns)} n-grams", _AGAIN, "weights")
        row = np.zeros(places.shape[1], np.float32)
        row[list(columns)] = weights
        result = body.op("Mul", result, body.const(row))
    body.result(0, result)


def _grams(body: Body) -> list[tuple[Array, list[int]]]:
    """Returns the n-grams [count, size] of each requested size, and their indices in the whole pool."""
    pool, starts = body.integers("pool_int64s") or (), body.integers("ngram_counts") or ()
    smallest, largest = body.integer("min_gram_length"), body.integer("max_gram_length")
    found: list[tuple[Array, list[int]]] = []
    number = 0
    for size, (begin, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        if not 0 <= begin <= end <= len(pool) or (end - begin) % size:
            raise body.block("does not fit the n-grams", _AGAIN, "ngram_counts")
        rows = np.array(pool[begin:end], np.int64).reshape(-1, size)
        if smallest <= size <= largest and len(rows):
            last = {tuple(row): number + place for place, row in enumerate(rows.tolist())}  # the last of equal ones
            found.append((np.array(list(last), np.int64), list(last.values())))
        number += len(rows)
    return found


def _counts(body: Body, x: str, grams: list[tuple[Array, list[int]]]) -> tuple[list[str], list[int]]:
    """Returns the counts of the n-grams of each size in rows of x, and their indices. Skips omit items between."""
    rank, skips = body.rank(x), body.integer("max_skip_count")
    length = (body.dims(x) or [None])[-1] if rank else None
    if rank not in (1, 2):
        raise body.block(f"an input of rank {rank} is not supported", "Use rows as input (rank 1 or 2)")
    if length is None:
        raise UnknownType(f"the length of the rows of '{x}'")
    items = body.cast(x, TensorProto.INT64)
    counts, numbers = [], []
    for rows, own in grams:
        size = rows.shape[1]
        sums = []
        for step in range(1, 2 if size == 1 else min(skips, length) + 2):
            windows = length - step * (size - 1)
            if windows < 1:
                break
            if windows * len(rows) > _MAX_COMPARED:
                raise body.block(
                    f"{len(rows)} n-grams in rows of {length} are too many", "Count them outside of the model"
                )
            sums.append(_matches(body, items, rank, rows, step, windows))
        if sums:
            total = sums[0]
            for other in sums[1:]:
                total = body.op("Add", total, other)
            counts.append(total)
            numbers += own
    return counts, numbers


def _matches(body: Body, items: str, rank: int, rows: Array, step: int, windows: int) -> str:
    """Returns float32 [..., n-grams]: the number of windows that equal each of `rows`; items are `step` apart."""
    found = ""
    for place in range(rows.shape[1]):
        part = body.slice(items, rank - 1, place * step, place * step + windows)
        equal = body.op("Equal", body.unsqueeze(part, rank), body.const(rows[:, place]))
        found = body.op("And", found, equal) if found else equal
    return body.total(body.cast(found, TensorProto.FLOAT), rank - 1, keep=False)
