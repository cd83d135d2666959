"""Every case of an operator that is taken apart: its decomposition gives the same numbers, in operators that the version has."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.compatibility import Version, refusals
from mslite.converter.mindir.reference import CASES, REFERENCES, Case
from mslite.converter.passes.target.writer import DECOMPOSITIONS
from tests.kernels.calls import difference
from tests.passes.target.single import lowered, module_of, run

LEFT = {
    "LSTM-mindir-": "one vector",
    "DynamicQuantizeLinear-": "read by the user",
    "ComplexAbs-": "do not come from a Fourier transform",
    "FftReal-": "do not come from a Fourier transform",
    "FftImag-": "do not come from a Fourier transform",
    "MatMulFusion-empty-inner": "without elements",
    "BatchGather-inner": "between its batches and its axis",
    "NonMaxSuppression-center": "needs the maximum number of boxes",
    "StridedSlice-ellipsis-new-axis": "ellipsis",
    "Where-": "",
    "AvgPoolFusion-outside": "entirely in the padding",
    "Conv2DFusion-cropped": "negative padding",
    "Conv2DFusion-depthwise-outside": "entirely in the padding",
    "Conv2DFusion-depthwise-padding": "entirely in the padding",
    "Conv2DFusion-outside": "entirely in the padding",
    **{
        f"{name}-empty": "without elements"
        for name in (
            "Abs",
            "AddFusion",
            "Conv2DFusion",
            "Conv2DFusion-variable",
            "DivFusion",
            "Hardmax",
            "LogSoftmax",
            "MulFusion",
            "Softmax",
            "SubFusion",
        )
    },
}
"""Cases that a version goes on refusing, by the beginnings of their names, and what is said of it."""

ODD = {"float64", "float16", "int8", "uint8", "int16", "uint16", "uint32", "uint64", "int64", "complex64"}
"""Element types in which a version may go on refusing a node."""

LOOSER = {"RNNSequence-rounded": 0.1, "LSTMSequence-rounded": 0.1}
"""Decompositions that say of themselves that they are not exact."""

OTHERWISE = {
    "Acos-special": "outside of [-1, 1] as at the ends",
    "Asin-special": "outside of [-1, 1] as at the ends",
    "Acosh-special": "0 below 1",
    "Log1p-special": "no infinities",
    "DivFusion-limits": "int32 between casts to float32",
    "MatMulFusion-int32": "int32 between casts to float32",
    "MatMulInteger-wraps": "sums in float32",
    "MatMulInteger-beyond-24-bits": "sums in float32",
}
"""Cases whose numbers are others, and why."""

_TOLERANCE = 1e-4


def _refused(version: Version) -> list[Case]:
    """The cases that the version refuses as they are."""
    return [case for case in CASES if case.op.name in DECOMPOSITIONS and refusals(module_of(case), version)]


def _types(case: Case) -> set[str]:
    results = REFERENCES[case.op.name](case.op, case.inputs)
    return {np.asarray(array).dtype.name for array in (*case.inputs, *results) if array is not None}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("version", list(Version))
def test_decompositions(version: Version) -> None:
    problems = []
    for case in _refused(version):
        if case.name in OTHERWISE:
            continue
        module = module_of(case)
        context = lowered(module, version)
        left = refusals(module, version)
        if left and _types(case) & ODD:
            continue
        reason = next((word for name, word in LEFT.items() if case.name.startswith(name)), None)
        if left:
            told = " ".join([*(one.reason for one in left), *(text for _, _, text in context.refusals)])
            if reason is None or reason not in told:
                problems.append(f"{case.name}: {told}")
            continue
        wanted = REFERENCES[case.op.name](case.op, case.inputs)
        found = run(module, case)
        tolerance = next((value for name, value in LOOSER.items() if case.name.startswith(name)), _TOLERANCE)
        for got, expected in zip(found, wanted, strict=True):
            text = difference(got, np.asarray(expected), max(tolerance, case.tolerance))
            if text:
                problems.append(f"{case.name}: {text}")
    assert not problems, "\n".join(problems)
