"""The test cases of the operators' references as nodes and as calls of the native module."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mslite import _native
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Array, Node, Value, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, REFERENCES, Case
from mslite.converter.mindir.serialization import primitive_bytes


def inputs_of(case: Case) -> list[Array]:
    """The inputs of a case, without absent ones."""
    return [np.ascontiguousarray(array).reshape(array.shape) for array in case.inputs if array is not None]


_OUTPUT_COUNTS: dict[str, int] = {}


def output_count(case: Case) -> int:
    """How many outputs a case has. Its reference is computed once."""
    if case.name not in _OUTPUT_COUNTS:
        with np.errstate(all="ignore"):
            _OUTPUT_COUNTS[case.name] = len(REFERENCES[case.op.name](case.op, case.inputs))
    return _OUTPUT_COUNTS[case.name]


def infer(case: Case, inputs: list[Array]) -> list[_native.TensorInfo] | None:
    """The outputs of the case, if only its constants are known; None if the shape rule refuses the inputs."""
    infos = [
        _native.TensorInfo(
            int(data_type_of(array)), list(array.shape), None, array if index in case.constants else None
        )
        for index, array in enumerate(inputs)
    ]
    try:
        return _native.infer(primitive_bytes(case.op), infos, output_count(case), SYMBOL_LIMIT)[0]
    except (_native.OperatorError, ValueError):
        return None


def has_fixed_shapes(case: Case) -> bool:
    """Whether the shapes of the outputs follow from the shapes of the inputs and from constants."""
    outputs = infer(case, inputs_of(case))
    return outputs is not None and all(
        output.dims is not None and min(output.dims, default=0) >= 0 for output in outputs
    )


def has_known_outputs(case: Case) -> bool:
    """Whether the integers of the outputs follow from the shapes of the inputs and from constants, as those of Shape do."""
    inputs = inputs_of(case)
    outputs = infer(case, inputs) if len(case.constants) < len(inputs) else None
    return bool(outputs) and all(_is_known(output) for output in outputs or ())


def _is_known(output: _native.TensorInfo) -> bool:
    if DataType(output.dtype) not in (DataType.INT32, DataType.INT64, DataType.BOOL) or output.dims is None:
        return False
    known = output.known or []
    return bool(known) and len(known) == np.prod(output.dims, dtype=np.int64) and min(known) > SYMBOL_LIMIT


def node_of(case: Case) -> Node | None:
    """The node of a case, named `node`; None if the shape rule refuses it."""
    inputs = inputs_of(case)
    outputs = infer(case, inputs)
    if outputs is None:
        return None
    values = [
        Value(f"x{index}", data_type_of(array), array.shape, array if index in case.constants else None)
        for index, array in enumerate(inputs)
    ]
    results = [
        Value(f"y{index}", DataType(output.dtype), None if output.dims is None else tuple(output.dims))
        for index, output in enumerate(outputs)
    ]
    return Node(case.op, "node", tuple(values), tuple(results))


def nodes() -> Iterator[tuple[Case, Node]]:
    """Every case with its node."""
    for case in CASES:
        node = node_of(case)
        if node is not None:
            yield case, node
