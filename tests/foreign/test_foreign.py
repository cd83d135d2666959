"""Every operator's reference and kernels against another runtime, on calls that hypothesis draws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.reference.text import packed
from tests.kernels.random_calls import Call

from .comparisons import COMPARISONS, check
from .record_fingerprints import FILE

pytest.importorskip("onnxruntime", reason="onnxruntime, the foreign runtime of these tests, is not installed")

BETTER_WITH_FRAMEWORKS = {"CustomExtractFeatures"}
"""Compared with TensorFlow where it is installed."""

BOUNDED = settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    "operator",
    [
        pytest.param(name, marks=pytest.mark.frameworks if name in BETTER_WITH_FRAMEWORKS else ())
        for name in COMPARISONS
    ],
)
def test_operator(operator: str) -> None:
    comparison = COMPARISONS[operator]

    @BOUNDED
    @given(comparison.strategy)
    def run(call: Call) -> None:
        assert call.op.name == operator
        check(call, comparison.foreign)

    run()


@pytest.mark.parametrize(("text", "bucket"), json.loads(FILE.read_text()).items())
def test_fingerprints_of_tensorflow(text: str, bucket: int) -> None:
    """Texts of every length at which the formula changes, recorded from TensorFlow's StringToHashBucketFast."""
    call = Call(OPERATORS["CustomExtractFeatures"](), (packed([text.encode()]),))
    words = len(text.split(" "))
    check(call, lambda op, inputs: [np.array([bucket], np.int32), np.array([words], np.float32)])


def test_another_result_would_be_seen() -> None:
    call = Call(OPERATORS["Neg"](), (np.array([1.0, -2.0], np.float32),))
    check(call, COMPARISONS["Neg"].foreign)
    with pytest.raises(AssertionError, match="the reference"):
        check(call, lambda op, inputs: [inputs[0]])
