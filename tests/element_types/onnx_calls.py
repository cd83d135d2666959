"""Every ONNX operator in every data type of the standard: models of one node, from the cases of the onnx package in other data types."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, defs, helper
from onnx.defs import OpSchema
from onnx.reference import ReferenceEvaluator

from mslite import onnx_backend
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.reference.element_types import converted
from tests.onnx_suite.cases import case_named, model_of, names

Array = npt.NDArray[Any]

TYPES = {
    "float16": TensorProto.FLOAT16,
    "float": TensorProto.FLOAT,
    "double": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16,
    "int32": TensorProto.INT32,
    "uint32": TensorProto.UINT32,
    "int64": TensorProto.INT64,
    "uint64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
}
"""Data types of `.ms` files: ONNX's name -> code."""

_HELD = frozenset(np.dtype(helper.tensor_dtype_to_np_dtype(number)).name for number in TYPES.values())

RANDOM = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout")
)
"""Operators with random outputs."""
NO_ORACLE = "no oracle"
"""The reference implementation has no result, or no case has an operand of this type variable."""

_TOLERANCES = {"float16": 4e-3, "float32": 1e-4, "float64": 1e-4}
_WANTED_CASES = {"Resize": "nearest", "GridSample": "nearest"}
"""Operators for which the reference implementation rounds integers in every step, except in these cases."""
_NAMES_ITS_TYPE = ("to", "dtype")
_LARGEST_CAST = 100
_OPSET = defs.onnx_opset_version()


@dataclass(frozen=True)
class Call:
    """An operator with a type variable in a data type. `case` provides attributes and shapes."""

    operator: str
    variable: str
    type: str
    case: str

    def __str__(self) -> str:
        return f"{self.operator}({self.variable}={self.type})"


@cache
def cases_of() -> dict[str, list[str]]:
    """Operator of the standard's main domain -> its cases with one node, in the newest version."""
    found: dict[str, list[str]] = {}
    for name in names():
        model = model_of(name)
        if len(model.graph.node) != 1 or model.graph.initializer or model.graph.sparse_initializer:
            continue
        (node,) = model.graph.node
        if _WANTED_CASES.get(node.op_type, "") not in name:
            continue
        if node.domain or any(attribute.type == AttributeProto.GRAPH for attribute in node.attribute):
            continue
        version = next(entry.version for entry in model.opset_import if entry.domain == "")
        newest = defs.get_schema(node.op_type, _OPSET, "").since_version
        if defs.get_schema(node.op_type, version, "").since_version == newest:
            found.setdefault(node.op_type, []).append(name)
    return found


def calls() -> Iterator[Call]:
    """Yields every operator, type variable and data type, with the first case that has a reference result."""
    for operator, found in sorted(cases_of().items()):
        schema = defs.get_schema(operator, _OPSET, "")
        if operator in RANDOM or schema.deprecated:
            continue
        for constraint in schema.type_constraints:
            for spelling in TYPES:
                if f"tensor({spelling})" in constraint.allowed_type_strs:
                    yield Call(operator, constraint.type_param_str, spelling, found[0])


@dataclass(frozen=True)
class Retyped:
    """A model of one node, its inputs, and the reference results."""

    model: ModelProto
    inputs: dict[str, Array]
    wanted: list[Array]


def retyped(call: Call) -> Retyped | None:
    """Returns the call as a model; None if the reference implementation has no result for any case."""
    for name in cases_of()[call.operator][:_MAX_CASES]:
        case = case_named(name)
        if case is None or any(array.dtype.name not in _HELD for array in case.inputs.values()):
            continue
        made = _retyped(call, case.model, case.inputs)
        if made is not None:
            return made
    return None


_MAX_CASES = 12


def _retyped(call: Call, model: ModelProto, values: dict[str, Array]) -> Retyped | None:
    node = NodeProto()
    node.CopyFrom(model.graph.node[0])
    schema = defs.get_schema(call.operator, _OPSET, "")
    inputs = dict(zip(node.input, _variables(schema.inputs, len(node.input)), strict=True))
    outputs = dict(zip(node.output, _variables(schema.outputs, len(node.output)), strict=True))
    if call.variable not in (*inputs.values(), *outputs.values()):
        return None
    number = TYPES[call.type]
    if call.variable not in inputs.values():
        named = [attribute for attribute in node.attribute if attribute.name in _NAMES_ITS_TYPE]
        if not named:
            return None
        named[0].i = number
    if call.operator in ("Cast", "CastLike"):  # the result of casting fractions to integers is undefined
        values = {
            name: np.clip(np.nan_to_num(array), 0, _LARGEST_CAST).astype(array.dtype) for name, array in values.items()
        }
    arrays = {
        name: converted(values[name], helper.tensor_dtype_to_np_dtype(number))
        if variable == call.variable
        else values[name]
        for name, variable in inputs.items()
        if name
    }
    wanted = _oracle(node, arrays)
    if wanted is None:
        return None
    kinds = _result_types(node, arrays, {name: number for name, kind in outputs.items() if kind == call.variable})
    if call.type == "float16":  # the reference rounds in every step
        exact = _oracle(node, {name: _widened(array) for name, array in arrays.items()})
        if exact is None:
            return None
        with np.errstate(over="ignore"):  # products may overflow in float16
            wanted = [array.astype(kind) for array, kind in zip(exact, kinds, strict=True)]
    if [array.dtype for array in wanted] != kinds:
        return None
    return Retyped(_model(node, arrays, wanted), arrays, wanted)


def _variables(formal: list[OpSchema.FormalParameter], count: int) -> list[str]:
    """Returns the type variable of each operand; the last one may be repeated."""
    return [str(formal[min(index, len(formal) - 1)].type_str) for index in range(count)]


def _result_types(node: NodeProto, inputs: dict[str, Array], default: dict[str, int]) -> list[np.dtype[Any]]:
    """Returns the data types of the outputs by the standard; `default` if its inference gives none."""
    inferred = onnx.shape_inference.infer_shapes(_model(node, inputs, [])).graph.value_info
    found = default | {value.name: value.type.tensor_type.elem_type for value in inferred}
    names = [name for name in node.output if name]
    return [np.dtype(helper.tensor_dtype_to_np_dtype(found.get(name, TensorProto.FLOAT))) for name in names]


def _widened(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _model(node: NodeProto, inputs: dict[str, Array], outputs: list[Array]) -> ModelProto:
    def info(name: str, array: Array) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    graph = helper.make_graph(
        [node],
        "call",
        [info(name, array) for name, array in inputs.items()],
        [info(name, array) for name, array in zip([n for n in node.output if n], outputs, strict=False)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=13)


def _oracle(node: NodeProto, inputs: dict[str, Array]) -> list[Array] | None:
    graph = helper.make_graph(
        [node],
        "call",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in inputs.items()
        ],
        [helper.make_tensor_value_info(n, 0, None) for n in node.output if n],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=13)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = ReferenceEvaluator(model).run(None, inputs)
    except Exception:  # the reference raises any exception of NumPy
        return None
    if any(not isinstance(result, np.ndarray | np.generic) for result in results):
        return None
    return [np.asarray(result) for result in results]


def outcome(call: Call) -> str:
    """Returns "" if the call runs and gives the reference's results, else the problem."""
    made = retyped(call)
    if made is None:
        return NO_ORACLE
    try:
        got = list(onnx_backend.run_model(made.model, made.inputs))
    except ConversionError as error:
        return error.blockers[0].reason if error.blockers else error.message.splitlines()[0]
    except (RuntimeError, ValueError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines()]
        return lines[-1] if lines else "it fails"
    return _difference(call, got, made.wanted)


def _difference(call: Call, got: list[Array], wanted: list[Array]) -> str:
    for index, (actual, right) in enumerate(zip(got, wanted, strict=True)):
        if actual.dtype != right.dtype or actual.shape != right.shape:
            return f"output {index} is {actual.dtype}{list(actual.shape)}, not {right.dtype}{list(right.shape)}"
        if right.dtype.kind not in "fc":
            if not np.array_equal(actual, right):
                return f"output {index}: {np.count_nonzero(actual != right)} of {right.size} elements differ"
            continue
        kind = "float16" if call.type == "float16" else str(right.dtype)
        finite = right[np.isfinite(right)].astype(np.float64)
        slack = _TOLERANCES.get(kind, 1e-4) * max(1.0, float(np.abs(finite).max(initial=0)))
        if not np.allclose(actual.astype(np.float64), right.astype(np.float64), 0, slack, True):
            return f"output {index} differs"
    return ""
