"""The float kernels of microcontrollers, computed here, against the NumPy references of their operators."""

from __future__ import annotations

import numpy as np
import pytest

from mslite import _codegen, _native
from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.reference import CASES, Case
from mslite.converter.mindir.serialization import primitive_bytes

from .calls import difference, expected, info, inputs_of

FLOATS = [entry for entry in _codegen.kernels() if entry[2] in ("micro", "dsp", "mve") and "_f32_" in entry[0]]
TOLERANCE = 1e-5
"""Of the largest magnitude."""


def operands(case: Case) -> tuple[list[_native.TensorInfo], list[bool], list[_native.TensorInfo]]:
    inputs = inputs_of(case)
    outputs = [
        _native.TensorInfo(int(data_type_of(array)), list(array.shape), None, None) for array in expected(case.name)
    ]
    return [info(array) for array in inputs], [i in case.constants for i in range(len(inputs))], outputs


@pytest.mark.parametrize("name", [entry[0] for entry in FLOATS])
def test_every_case_that_the_kernel_takes(name: str) -> None:
    (operator,) = (entry[1] for entry in FLOATS if entry[0] == name)
    taken = 0
    for case in CASES:
        if case.op.name != operator:
            continue
        inputs, constant, outputs = operands(case)
        if not _codegen.supports(name, primitive_bytes(case.op), inputs, constant, outputs):
            continue
        taken += 1
        got = _codegen.run_kernel(name, primitive_bytes(case.op), inputs, constant, outputs, shuffle_seed=taken)
        for array, wanted in zip(got, expected(case.name), strict=True):
            assert difference(np.asarray(array), wanted, max(case.tolerance, TOLERANCE)) == "", case.name
    assert taken > 0, "no case reaches this kernel"
