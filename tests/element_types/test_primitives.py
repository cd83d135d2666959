"""The data types in docs/operators_reference.md: kernels compute as the references say in all that they take."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from mslite import _native
from mslite.converter.mindir.reference import CASES, REFERENCES, Array, Case
from mslite.converter.mindir.reference.element_types import retyped, subject_of, types_for
from mslite.converter.mindir.serialization import primitive_bytes
from mslite.converter.operator_pages.cases import output_count
from mslite.converter.operator_pages.data_types import typed_node
from mslite.converter.passes.element_type_casts import has_kernel_for_types
from tests.kernels.calls import difference, info, inputs_of

_MIN_TOLERANCE = 1e-5
"""Some cases in float64 state what float32 cannot reach."""


def calls() -> Iterator[Case]:
    """Per operator and type the first case that a kernel takes, where the type is not the case's own."""
    done = {(case.op.name, kind.name) for case in CASES if (kind := subject_of(case)) is not None}
    for case in CASES:
        wanted = [dtype for dtype in types_for(case) if (case.op.name, dtype.name) not in done]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            count = output_count(case) if wanted else 0
        for dtype in wanted:
            other = retyped(case, dtype)
            node = typed_node(other, count)
            if node is not None and has_kernel_for_types(node):
                done.add((case.op.name, dtype.name))
                yield other


def reference(case: Case) -> list[Array] | None:
    """None where the reference is written for other types."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return [np.asarray(array) for array in REFERENCES[case.op.name](case.op, case.inputs)]
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def wrong(case: Case, wanted: list[Array]) -> str:
    """Empty when the scalar kernels compute what the reference says."""
    try:
        got = _native.evaluate(primitive_bytes(case.op), [info(array) for array in inputs_of(case)], len(wanted))
    except _native.OperatorError as error:
        return str(error)
    return next(
        filter(
            None,
            (
                difference(np.asarray(g), w, max(case.tolerance, _MIN_TOLERANCE))
                for g, w in zip(got, wanted, strict=True)
            ),
        ),
        "",
    )


def test_every_type_that_a_kernel_takes() -> None:
    compared, found = 0, {}
    for case in calls():
        wanted = reference(case)
        if wanted is None:
            continue
        compared += 1
        problem = wrong(case, wanted)
        if problem:
            found[case.name] = problem
    assert found == {}
    assert compared > 600
