"""Finds the element types in which each operator runs: tries the test cases of the references in each type."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Node, Value, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, REFERENCES, Case
from mslite.converter.mindir.reference.retyping import ELEMENT_TYPES, retyped, types_for
from mslite.converter.passes import native
from mslite.converter.passes.element_type_casts import runs_as_it_is, runs_between_casts

_FIRST_SYMBOL = -(1 << 50)


def types_of_operators() -> dict[str, tuple[list[str], list[str]]]:
    """Returns operator -> the types that a kernel supports in some test case, and the types that need casts around the
    node."""
    taken: dict[str, set[str]] = {}
    cast: dict[str, set[str]] = {}
    for case in CASES:
        name = case.op.name
        wanted = [dtype for dtype in types_for(case) if dtype.name not in taken.get(name, ())]
        if not wanted:
            continue
        count = result_count(case)
        for dtype in wanted:
            node = node_of(retyped(case, dtype), count)
            if node is None:
                continue
            if runs_as_it_is(node):
                taken.setdefault(name, set()).add(dtype.name)
            elif dtype.name not in cast.get(name, ()) and runs_between_casts(node):
                cast.setdefault(name, set()).add(dtype.name)
    order = [dtype.name for dtype in ELEMENT_TYPES] + ["float16", "complex64"]
    return {
        name: (
            sorted(taken.get(name, ()), key=order.index),
            sorted(cast.get(name, set()) - taken.get(name, set()), key=order.index),
        )
        for name in taken.keys() | cast.keys()
    }


def result_count(case: Case) -> int:
    """Returns the number of outputs of a case."""
    with np.errstate(all="ignore"):
        return len(REFERENCES[case.op.name](case.op, case.inputs))


def node_of(case: Case, count: int) -> Node | None:
    """Returns the node of a case with inferred outputs; None if shape inference refuses the input types."""
    inputs = []
    for index, array in enumerate(array for array in case.inputs if array is not None):
        data = np.ascontiguousarray(array).reshape(array.shape)
        inputs.append(Value(f"{index}", data_type_of(data), data.shape, data=data))
    facts = [native.Facts(value.dtype, value.shape, None, value.data) for value in inputs]
    try:
        results, _ = native.infer(case.op, facts, count, _FIRST_SYMBOL)
    except (native.RuleError, ValueError):
        return None
    outputs = tuple(Value(f"y{index}", DataType(result.dtype), result.shape) for index, result in enumerate(results))
    return Node(case.op, case.name, tuple(inputs), outputs)
