"""Every TensorFlow Lite operator in every data type of LiteRT's kernels: models of one node in other data types.

`python -m tests.element_types tflite` prints calls that do not run, or that differ.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mslite
from mslite.converter.errors import ConversionError
from mslite.converter.mindir import module_io
from mslite.converter.mindir.reference.element_types import converted
from mslite.converter.parsers.tflite import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.kernels.integer_audit import CASES as STORED
from tests.parsers.tflite.tflite_build import single
from tests.parsers.tflite.tflite_run import Array, run_source

from .tflite_cases import CALLS

TYPES = ("float32", "float16", "bool", "int8", "uint8", "int16", "int32", "int64")
"""Data types that TensorFlow Lite's operators support, for the float or integer operands of a call."""
NO_ORACLE = "no oracle"
"""LiteRT rejects the call."""
_GARBAGE = frozenset(
    (
        *(("MATRIX_DIAG", "real", wanted) for wanted in ("float16", "bool")),
        *(("MATRIX_SET_DIAG", "real", wanted) for wanted in ("float16", "bool")),
        *(("LSH_PROJECTION", sort, wanted) for sort in ("real", "integers") for wanted in TYPES),
        ("MUL", "real", "bool"),
        ("ARG_MIN", "integers", "int64"),  # its option and its output have different data types
        ("SPACE_TO_BATCH_ND", "integers", "bool"),
        ("TRANSPOSE", "integers", "int64"),
        *(("RESHAPE", "integers", wanted) for wanted in ("bool", "int8", "uint8", "int16")),
    )
)
"""Calls that LiteRT accepts but does not compute, or computes from invalid memory."""
_TOLERANCES = {"float16": 4e-3, "float32": 1e-4}


@dataclass(frozen=True)
class Call:
    """A call of `CALLS` with its float or integer operands in a data type."""

    index: int
    operands: str
    type: str

    @property
    def operator(self) -> str:
        """TensorFlow Lite's name of the operator."""
        return CALLS[self.index][0]

    def __str__(self) -> str:
        return f"{self.operator}({self.operands}={self.type})"


def calls() -> Iterator[Call]:
    """Yields every operator, kind of operand and data type, with all calls of the operator."""
    for index, (_, operands, _) in enumerate(CALLS):
        kinds = {array.dtype.name for array in operands if isinstance(array, np.ndarray | np.generic)}
        for sort, name in (("real", "float32"), ("integers", "int32"), ("truths", "bool")):
            if name not in kinds:
                continue
            for wanted in TYPES:
                call = Call(index, sort, wanted)
                if wanted != name and not (sort == "integers" and wanted.startswith("float")) and _has_meaning(call):
                    yield call


def _has_meaning(call: Call) -> bool:
    """Operators that need quantization parameters: `python -m tests.kernels.integer_audit` tests them."""
    if call.operands == "real" and call.type in ("int8", "uint8", "int16") and call.operator in STORED:
        return False
    return (call.operator, call.operands, call.type) not in _GARBAGE


@dataclass(frozen=True)
class Retyped:
    """A model of one node, its inputs, and LiteRT's results."""

    model: bytes
    inputs: list[Array]
    wanted: list[Array]


class Oracle:
    """LiteRT in a separate process, because it aborts for some unsupported models."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def run(self, model: bytes, inputs: list[Array]) -> list[Array] | None:
        """Returns the outputs; None if LiteRT rejects the model."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1)
        try:
            return self._pool.submit(_run_source, model, inputs).result()
        except BrokenProcessPool:
            self.close()
            return None

    def close(self) -> None:
        """Ends the process."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _run_source(model: bytes, inputs: list[Array]) -> list[Array] | None:
    with contextlib.suppress(RuntimeError, ValueError), np.errstate(all="ignore"):
        return run_source(model, inputs)
    return None


def retyped(call: Call, oracle: Oracle) -> Retyped | None:
    """Returns the call as a model; None if LiteRT rejects it with every output data type."""
    operator, operands, arguments = CALLS[call.index]
    name = {"real": "float32", "integers": "int32", "truths": "bool"}[call.operands]
    arrays: list[Any] = [
        converted(array, call.type)
        if isinstance(array, np.ndarray | np.generic) and array.dtype.name == name
        else array
        for array in operands
    ]
    results = tuple(arguments.get("outputs", ("float32",)))
    same = tuple(call.type if result == name else result for result in results)
    constant = arguments.get("constant", ())
    fed = [
        np.asarray(array)
        for index, array in enumerate(arrays)
        if isinstance(array, np.ndarray | np.generic) and index not in constant
    ]
    for outputs in dict.fromkeys(
        (results, same) if call.operands == "integers" and "float32" in results else (same, results)
    ):
        model = single(operator, arrays, **arguments | {"outputs": outputs})
        wanted = oracle.run(model, fed)
        if wanted is not None:
            return Retyped(model, fed, wanted)
    return None


def outcome(call: Call, oracle: Oracle) -> str:
    """Returns "" if the call runs and gives LiteRT's results, else the problem."""
    made = retyped(call, oracle)
    if made is None:
        return NO_ORACLE
    try:
        got = _run(made)
    except ConversionError as error:
        return error.blockers[0].reason if error.blockers else error.message.splitlines()[0]
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error).strip().splitlines()[-1]
    return _difference(got, made.wanted)


def _run(made: Retyped) -> list[Array]:
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name, "m.tflite"), Path(name, "m.ms")
        source.write_bytes(made.model)
        module = parse(source)
        run_pipeline(module, Settings())
        module_io.save(module, target)
        model = mslite.Model()
        model.build_from_file(str(target), mslite.ModelType.MINDIR_LITE)
        return [np.asarray(tensor.get_data_to_numpy()) for tensor in model.predict(made.inputs)]


def _difference(got: list[Array], wanted: list[Array]) -> str:
    if len(got) != len(wanted):
        return f"{len(got)} outputs, not {len(wanted)}"
    for index, (actual, right) in enumerate(zip(got, wanted, strict=True)):
        if actual.dtype != right.dtype or actual.shape != right.shape:
            return f"output {index} is {actual.dtype}{list(actual.shape)}, not {right.dtype}{list(right.shape)}"
        if right.dtype.kind not in "fc":
            if not np.array_equal(actual, right):
                return f"output {index}: {np.count_nonzero(actual != right)} of {right.size} elements differ"
            continue
        kind = "c16" if right.dtype.kind == "c" else "f8"
        size = np.abs(right[np.isfinite(right)]).max(initial=1)
        slack = _TOLERANCES.get(right.dtype.name, 1e-4) * float(size)
        if not np.allclose(actual.astype(kind), right.astype(kind), 0, slack, equal_nan=True):
            return f"output {index} differs"
    return ""
