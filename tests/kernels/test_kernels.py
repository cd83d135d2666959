"""Every kernel against the NumPy reference of its operator, on every instruction set that this machine has."""

from __future__ import annotations

import numpy as np
import pytest

from mslite import _native
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.reference import CASES, REFERENCES, Case
from mslite.converter.mindir.serialization import primitive_bytes

from .calls import KERNELS, Kernel, difference, expected, info, inputs_of, run, same_bits, supports

PAIRS = [(kernel, case) for case in CASES for kernel in KERNELS if kernel.operator == case.op.name]
RULED = {cls.__name__ for cls in OPERATORS.values() if cls.declaration.wire_id in _native.shape_rules()}


TESTED_THROUGH_MODELS = {"QuantDTypeCast"}
"""Operators whose operands carry what a case cannot: tests/runtime/test_quant_dtype_cast.py runs whole models."""


def by_name(argument: object) -> str:
    return argument.name if isinstance(argument, Kernel | Case) else str(argument)


@pytest.mark.parametrize(("kernel", "case"), PAIRS, ids=by_name)
def test_kernel(kernel: Kernel, case: Case) -> None:
    """The result is the reference's; threads, order of the parts and in-place running do not change a bit of it."""
    if not supports(kernel, case):
        pytest.skip("the kernel does not take this case, or the machine lacks the instruction set")
    plain = run(kernel, case)
    for got, wanted in zip(plain, expected(case.name), strict=True):
        assert difference(got, wanted, case.tolerance) == ""
    for threads, seed in ((1, 11), (2, 12), (3, 13), (7, 14)):
        again = run(kernel, case, threads=threads, seed=seed)
        assert all(map(same_bits, again, plain)), f"{threads} threads, order {seed}: other bits"
    if kernel.in_place:
        assert all(map(same_bits, run(kernel, case, in_place=True), plain)), "in place: other bits"


@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_scalar_kernels_take_every_case(case: Case) -> None:
    """Constant folding and machines without vectors need a scalar kernel for everything."""
    outputs = _native.evaluate(primitive_bytes(case.op), [info(x) for x in inputs_of(case)], len(expected(case.name)))
    for got, wanted in zip(outputs, expected(case.name), strict=True):
        assert difference(got, wanted, case.tolerance) == ""


def test_every_operator_has_rule_reference_and_cases() -> None:
    with_kernel = {kernel.operator for kernel in KERNELS} - TESTED_THROUGH_MODELS
    with_cases = {case.op.name for case in CASES}
    assert with_kernel - RULED == set(), "kernels without a shape rule"
    assert with_kernel - set(REFERENCES) == set(), "kernels without a reference"
    assert with_kernel - with_cases == set(), "kernels without test cases"
    assert with_cases - with_kernel == set(), "test cases without a kernel"


def test_every_kernel_is_run_by_some_case() -> None:
    runnable = {
        kernel for kernel in KERNELS if kernel.isa in _native.isas() and kernel.operator not in TESTED_THROUGH_MODELS
    }
    idle = {kernel.name for kernel in runnable} - {kernel.name for kernel, case in PAIRS if supports(kernel, case)}
    assert idle == set(), "no case reaches these kernels"


def test_names_are_unique() -> None:
    assert len({kernel.name for kernel in KERNELS}) == len(KERNELS)
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_wrong_result_is_seen() -> None:
    wanted = np.array([1.0, -2.0, np.inf, np.nan], np.float32)
    assert difference(wanted.copy(), wanted, 0.0) == ""
    for i, value in enumerate((1.001, 2.0, -np.inf, 0.0)):
        wrong = wanted.copy()
        wrong[i] = value
        assert difference(wrong, wanted, 1e-5) != ""
    assert difference(wanted.astype(np.float64), wanted, 1.0) != ""
    assert difference(np.array([1, 2]), np.array([1, 3]), 1.0) != ""
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
