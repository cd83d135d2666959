"""Whatever LiteRT's reference kernels quantize is computed on integers here, to the bit; what differs is named."""

from __future__ import annotations

import pytest
import tflite

from mslite.converter.parsers.tflite import parser  # noqa: F401  (fills the table of converters)
from mslite.converter.parsers.tflite.registry import CONVERTERS
from tests.e2e.integers import availability
from tests.kernels.integer_audit import CASES, DTYPES, REFUSED, outcome

DIFFERENT = {
    ("SUM", "int8"): "the reference reads signed integers as unsigned bytes; ours are the sums",
    ("SUM", "int16"): "the reference reads signed integers as unsigned bytes; ours are the sums",
}
"""Operators that knowingly differ; each is tested against another oracle elsewhere."""

ELSEWHERE = {
    "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "LSTM", "RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",  # test_integer_recurrent.py
}  # fmt: skip

WITHOUT_RECORDS = {
    "ASSIGN_VARIABLE", "ATAN2", "BITCAST", "BITWISE_XOR", "BROADCAST_ARGS", "BUCKETIZE", "CALL", "CALL_ONCE",
    "CONCAT_EMBEDDINGS", "CONV_3D", "CONV_3D_TRANSPOSE", "CUSTOM", "DELEGATE", "DENSIFY", "DILATE",
    "EMBEDDING_LOOKUP_SPARSE", "FAKE_QUANT", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_LOOKUP",
    "HASHTABLE_SIZE", "COMPLEX_ABS", "IF", "IMAG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LSH_PROJECTION",
    "MULTINOMIAL", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "PLACEHOLDER_FOR_GREATER_OP_CODES",
    "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "RANGE", "RANK", "READ_VARIABLE", "REAL", "REDUCE_ALL", "REDUCE_ANY",
    "RFFT2D", "RIGHT_SHIFT", "SEGMENT_SUM", "SHAPE", "SKIP_GRAM", "UNIQUE", "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM", "VAR_HANDLE", "WHERE", "WHILE",
}  # fmt: skip
"""Operators whose kernels take float values, plain integers, or anything without looking at it."""


def test_every_operator_has_its_place() -> None:
    """An operator that the schema gets is seen: it needs a case, or a reason to have none."""
    names = {name for name in vars(tflite.BuiltinOperator) if name.isupper() and not name.startswith("STABLEHLO_")}
    placed = set(CASES) | ELSEWHERE | WITHOUT_RECORDS
    assert sorted(names - placed) == []
    assert sorted(placed - names) == []
    assert not set(CASES) & (ELSEWHERE | WITHOUT_RECORDS)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_operator(name: str, dtype: str) -> None:
    pytest.importorskip("ai_edge_litert.interpreter")
    if reason := availability("scalar"):
        pytest.skip(reason)
    found = outcome(name, dtype)
    if found.startswith(REFUSED):
        pytest.skip(found)
    if (name, dtype) in DIFFERENT:
        assert "differ" in found
        assert "float32" not in found
        return
    assert name in CONVERTERS
    assert found == "equal"
