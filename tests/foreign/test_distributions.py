"""Random operators: other numbers than another runtime's, but of the same distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.reference import REFERENCES
from tests.kernels.calls import difference, results

from .graph import Array, run
from .test_foreign import BOUNDED

pytest.importorskip("onnxruntime", reason="onnxruntime, the foreign runtime of these tests, is not installed")

DISTRIBUTIONS = {"RandomNormal": "RandomNormal", "RandomStandardNormal": "RandomNormal", "UniformReal": "RandomUniform"}
"""Operator and its foreign counterpart."""


def distance(a: Array, b: Array) -> float:
    """The largest difference of the two empirical distribution functions (Kolmogorov and Smirnov)."""
    points = np.sort(np.concatenate([a.ravel(), b.ravel()]))
    shares = [np.searchsorted(np.sort(each.ravel()), points, "right") / each.size for each in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def bound(count: int) -> float:
    """What two samples of one distribution exceed once in a million."""
    return float(np.sqrt(-np.log(0.5e-6) / count))


@pytest.mark.parametrize("operator", DISTRIBUTIONS)
def test_same_distribution(operator: str) -> None:
    @BOUNDED
    @given(st.integers(40, 90), st.integers(90, 120), st.integers(1, 99), st.sampled_from((0.0, 2.0)))
    def check(rows: int, columns: int, seed: int, mean: float) -> None:
        if operator == "RandomNormal":
            op: Any = OPERATORS[operator](seed=float(seed), mean=mean, scale=3.0)
            attributes = {"mean": mean, "scale": 3.0}
        else:
            op, attributes = OPERATORS[operator](seed=seed, seed2=int(mean)), {}
        shape = [np.array([rows, columns], np.int32)]
        (theirs,) = run(DISTRIBUTIONS[operator], shape=[rows, columns], seed=float(seed), **attributes)
        (reference,) = REFERENCES[operator](op, shape)
        for kernel, (ours,) in results(op, shape, (0,), 1):
            assert difference(ours, reference, 1e-5) == "", kernel
            assert ours.shape == theirs.shape
            assert distance(ours, theirs) < bound(ours.size), kernel

    check()


def test_another_distribution_would_be_seen() -> None:
    chance = np.random.default_rng(3)
    normal, count = chance.standard_normal((60, 100)), 6000
    assert distance(normal, chance.standard_normal((60, 100))) < bound(count)
    assert distance(normal, chance.uniform(-1.7, 1.7, (60, 100))) > bound(count)
