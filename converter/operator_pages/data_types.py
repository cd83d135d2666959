"""In which data types each operator runs: the test cases of the references, in every data type, offered to the kernels."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Node, Value, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, Case
from mslite.converter.mindir.reference.element_types import ELEMENT_TYPES, retyped, types_for
from mslite.converter.operator_pages.cases import output_count
from mslite.converter.passes import native_rules
from mslite.converter.passes.element_type_casts import has_kernel_for_types, has_kernel_for_wider_types

_FIRST_SYMBOL = -(1 << 50)


def types_of_operators() -> dict[str, tuple[list[str], list[str]]]:
    """Operator -> the data types that some kernel takes in some case, and those that are computed between casts."""
    taken: dict[str, set[str]] = {}
    cast: dict[str, set[str]] = {}
    for case in CASES:
        name = case.op.name
        wanted = [dtype for dtype in types_for(case) if dtype.name not in taken.get(name, ())]
        if not wanted:
            continue
        count = output_count(case)
        for dtype in wanted:
            node = typed_node(retyped(case, dtype), count)
            if node is None:
                continue
            if has_kernel_for_types(node):
                taken.setdefault(name, set()).add(dtype.name)
            elif dtype.name not in cast.get(name, ()) and has_kernel_for_wider_types(node):
                cast.setdefault(name, set()).add(dtype.name)
    order = [dtype.name for dtype in ELEMENT_TYPES] + ["float16", "complex64"]
    return {
        name: (
            sorted(taken.get(name, ()), key=order.index),
            sorted(cast.get(name, set()) - taken.get(name, set()), key=order.index),
        )
        for name in taken.keys() | cast.keys()
    }


def typed_node(case: Case, count: int) -> Node | None:
    """The node of a case with the data types of its outputs; None if its shape rule refuses the data types of the inputs."""
    inputs = []
    for index, array in enumerate(array for array in case.inputs if array is not None):
        data = np.ascontiguousarray(array).reshape(array.shape)
        inputs.append(Value(f"{index}", data_type_of(data), data.shape, data=data))
    facts = [native_rules.NativeTensorFacts(value.dtype, value.shape, None, value.data) for value in inputs]
    try:
        results, _ = native_rules.infer(case.op, facts, count, _FIRST_SYMBOL)
    except (native_rules.NativeRuleError, ValueError):
        return None
    outputs = tuple(Value(f"y{index}", DataType(result.dtype), result.shape) for index, result in enumerate(results))
    return Node(case.op, case.name, tuple(inputs), outputs)
