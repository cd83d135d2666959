"""TfIdfVectorizer over numbers, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import check, one

POOL: dict[str, Any] = {
    "ngram_counts": [0, 3, 9],
    "ngram_indexes": [2, 0, 1, 5, 4, 3, 6],
    "pool_int64s": [2, 3, 5, 5, 6, 7, 8, 2, 3, 1, 2, 3],
}
ROWS = np.array([[1, 2, 3, 3, 5, 6, 7, 8, 2, 3], [2, 3, 1, 2, 3, 5, 5, 6, 6, 7]])


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize(("smallest", "largest", "skip"), [(1, 1, 0), (1, 2, 0), (2, 2, 4), (1, 3, 1), (3, 3, 9)])
@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 3.0, 1.0, -1.0, 4.0, 0.25]])
def test_counts(mode: str, smallest: int, largest: int, skip: int, weights: list[float] | None, tmp_path: Path) -> None:
    attributes = {**POOL, "mode": mode, "min_gram_length": smallest, "max_gram_length": largest, "max_skip_count": skip}
    if weights:
        attributes["weights"] = weights
    for x in (ROWS.astype(np.int32), ROWS[0].astype(np.int64)):
        check(one("TfIdfVectorizer", {"x": x}, opset=17, **attributes), {"x": x}, tmp_path)


def test_strings_are_refused() -> None:
    attributes = {**POOL, "mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0}
    attributes["pool_strings"] = [str(item) for item in attributes.pop("pool_int64s")]
    with pytest.raises(ConversionError, match="n-grams of strings"):
        parse(one("TfIdfVectorizer", {"x": ROWS}, opset=17, **attributes))
