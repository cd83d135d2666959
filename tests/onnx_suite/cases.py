"""The test cases of the onnx package: single operators and small models with inputs and outputs."""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.model import collect_testcases
from onnx.backend.test.loader import load_model_tests

Array = npt.NDArray[Any]

_KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
_MIN_TOLERANCE = 1e-6
"""Absolute tolerance of float32 sums, if a case has a smaller one."""


@dataclass(frozen=True)
class BackendCase:
    """A model, its inputs by name, and the expected outputs."""

    name: str
    model: ModelProto
    inputs: dict[str, Array]
    outputs: list[Array]
    relative: float
    absolute: float

    @property
    def operators(self) -> list[str]:
        """The operators of the main graph, without duplicates."""
        return sorted({node.op_type for node in self.model.graph.node})


@cache
def _all() -> dict[str, Any]:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        listed = [test for kind in _KINDS for test in load_model_tests(kind=kind)]
        return {test.name: test for test in (*collect_testcases(), *listed) if test.model or test.model_dir}


def names() -> list[str]:
    """Returns all cases with models in the package, in order, without networks that it would download."""
    return sorted(_all())


def model_of(name: str) -> ModelProto:
    """Returns the model of a case."""
    test = _all()[name]
    return test.model if test.model is not None else onnx.load(Path(test.model_dir) / "model.onnx")


def case_named(name: str) -> BackendCase | None:
    """Returns a case; None if its inputs or outputs are sequences, optional values or maps."""
    test, model = _all()[name], model_of(name)
    if test.data_sets:
        inputs, outputs = test.data_sets[0]
    else:
        folder = Path(test.model_dir) / "test_data_set_0"
        inputs, outputs = (_files(folder, kind) for kind in ("input", "output"))
    arrays = [[_array(item) for item in items] for items in (inputs, outputs)]
    if any(item is None for items in arrays for item in items):
        return None
    values = dict(zip((value.name for value in model.graph.input), map(np.asarray, arrays[0]), strict=False))
    return BackendCase(name, model, values, [np.asarray(x) for x in arrays[1]], test.rtol, test.atol)


def _files(folder: Path, kind: str) -> list[TensorProto]:
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [TensorProto.FromString(path.read_bytes()) for path in paths]


def _array(item: Any) -> Array | None:
    """Returns a tensor as an array; None for sequences, maps and missing values."""
    if isinstance(item, TensorProto):
        return numpy_helper.to_array(item)
    if item is None or isinstance(item, list | dict | tuple):
        return None
    return np.asarray(item)


def difference(case: BackendCase, got: list[Array]) -> str:
    """Returns "" if the outputs match the case: equal data types and shapes, values within its tolerances."""
    if len(got) != len(case.outputs):
        return f"{len(got)} outputs instead of {len(case.outputs)}"
    for index, (actual, wanted) in enumerate(zip(got, case.outputs, strict=True)):
        if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
            return f"output {index} is {actual.dtype}{list(actual.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        if wanted.dtype.kind not in "fc":
            if not np.array_equal(actual, wanted):
                return f"output {index}: {np.count_nonzero(actual != wanted)} of {wanted.size} elements differ"
            continue
        absolute = max(case.absolute, _MIN_TOLERANCE)
        if not np.allclose(actual.astype(np.float64), wanted.astype(np.float64), case.relative, absolute, True):
            worst = np.nanmax(np.abs(actual.astype(np.float64) - wanted.astype(np.float64)))
            return f"output {index} differs by {worst:.3g}"
    return ""
