"""The reference calls as `.ms` files in other data types, loaded without the converter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant, data_type_of
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, REFERENCES, Array, Case
from mslite.converter.mindir.reference.element_types import converted, subject_of, types_for
from mslite.converter.passes import native_rules
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.element_type_casts import cast_unsupported_types

INTEGERS = ("bool", "int8", "uint8", "int32", "int64")
"""Data types of MindSpore Lite's kernels other than float32 and float16."""
_FIRST_SYMBOL = -(1 << 50)
_REAL = (np.dtype(np.float32), np.dtype(np.float64))
_TOLERANCES = {"float16": 6e-3, "float32": 1e-4, "float64": 1e-4}


@dataclass(frozen=True)
class Call:
    """A case in a data type, with the reference's results for its operands."""

    case: Case
    inputs: list[Array]
    wanted: list[Array]

    @property
    def name(self) -> str:
        """The primitive of the operator."""
        return self.case.op.name


def calls(dtype: npt.DTypeLike, *, once: bool = False) -> Iterator[Call]:
    """Yields every case of a primitive that is valid in the data type and its reference; `once`: one case of each primitive."""
    kind, done = np.dtype(dtype), set[str]()
    for case in CASES:
        subject = subject_of(case)
        types = (np.dtype(np.float16),) if subject == np.float32 else ()
        if case.op.declaration.is_custom or case.op.name in done or kind not in (*types_for(case), *types):
            continue
        inputs = [
            np.ascontiguousarray(converted(array, kind) if array.dtype == subject else array).reshape(array.shape)
            for array in case.inputs
            if array is not None
        ]
        wanted = _reference(case, inputs)
        if wanted is not None and len(case.constants) < len(inputs):
            if once:
                done.add(case.op.name)
            yield Call(case, inputs, wanted)


def _reference(case: Case, inputs: list[Array]) -> list[Array] | None:
    """Returns the reference's results; None if the reference does not support the data type."""
    half = any(array.dtype == np.float16 for array in inputs)
    operands = [array.astype(np.float32) if array.dtype == np.float16 else array for array in inputs]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = [np.asarray(array) for array in REFERENCES[case.op.name](case.op, operands)]
            return [array.astype(np.float16) if half and array.dtype in _REAL else array for array in results]
    except (TypeError, ValueError, OverflowError, IndexError, ZeroDivisionError):
        return None


def module_of(call: Call) -> tuple[Module, list[Array]]:
    """Returns the call as a model, and its inputs."""
    values = [
        constant(f"x{index}", array)
        if index in call.case.constants
        else Value(f"x{index}", data_type_of(array), array.shape)
        for index, array in enumerate(call.inputs)
    ]
    outputs = tuple(Value(f"y{index}", data_type_of(array), array.shape) for index, array in enumerate(call.wanted))
    node = Node(call.case.op, "node", tuple(values), outputs)
    for output in outputs:
        output.producer = node
    entering = [value for value in values if not value.is_constant]
    given = [array for value, array in zip(values, call.inputs, strict=True) if not value.is_constant]
    return Module([Graph("main", entering, list(outputs), [node])]), given


def run(module: Module, inputs: list[Array], folder: Path) -> list[Array] | str:
    """Returns the outputs, or the reason if the file does not run."""
    path = folder / "m.ms"
    path.unlink(missing_ok=True)
    model = mslite.Model()
    try:
        save(module, path)
        model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
        return [tensor.get_data_to_numpy() for tensor in model.predict(inputs)]
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error).strip().splitlines()[-1]


def outcome(call: Call, folder: Path) -> str:
    """Returns "" if the file runs and gives the reference's results, else the problem."""
    got = run(*module_of(call), folder)
    return got if isinstance(got, str) else next(filter(None, map(_difference, got, call.wanted)), "")


def is_as_converted(call: Call, folder: Path) -> bool | None:
    """Returns whether the file gives the same bits, or the same error, as the converted model; None if both fail."""
    module, inputs = module_of(call)
    results = [value.dtype for value in native_results(call)]
    got = run(module, inputs, folder)
    module, _ = module_of(call)
    for value, dtype in zip(module.main.outputs, results, strict=False):
        value.dtype = dtype
    cast_unsupported_types(module, Context(Settings()))
    wanted = run(module, inputs, folder)
    if isinstance(got, str) or isinstance(wanted, str):
        return None if isinstance(got, str) and isinstance(wanted, str) else False
    return all(one.dtype == two.dtype and one.tobytes() == two.tobytes() for one, two in zip(got, wanted, strict=True))


def native_results(call: Call) -> list[native_rules.NativeTensorFacts]:
    """Returns the data types of the outputs by shape inference; empty if it rejects the operands."""
    facts = [native_rules.NativeTensorFacts(data_type_of(array), array.shape, None, array) for array in call.inputs]
    try:
        return native_rules.infer(call.case.op, facts, len(call.wanted), _FIRST_SYMBOL)[0]
    except native_rules.NativeRuleError:
        return []


def _difference(got: Array, wanted: Array) -> str:
    if got.shape != wanted.shape:
        return f"it is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    if DataType.FLOAT16 in (data_type_of(got), data_type_of(wanted)) and got.dtype != wanted.dtype:
        return f"it is {got.dtype}, not {wanted.dtype}"
    kind = "c16" if wanted.dtype.kind == "c" else "f8"
    if wanted.dtype.kind not in "fc" and got.dtype.kind not in "fc":
        return (
            "" if np.array_equal(got, wanted) else f"{np.count_nonzero(got != wanted)} of {wanted.size} elements differ"
        )
    size = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1))
    slack = max(_TOLERANCES.get(array.dtype.name, 0) for array in (got, wanted)) * max(size, 1)
    with np.errstate(all="ignore"):
        close = np.allclose(got.astype(kind), wanted.astype(kind), 0, slack, equal_nan=True)
    return "" if close else "numbers differ"
