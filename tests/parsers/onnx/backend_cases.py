"""The test cases that the onnx package brings along: single operators and small models with inputs and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

from .helper import Array

CORE_LIST = Path(__file__).resolve().parents[4] / "shared" / "reference" / "onnx_backend_cases.json"
"""Names of the cases on dense tensors of the common types, outside of the repository."""


@dataclass(frozen=True)
class BackendCase:
    """One model, the values of its inputs by name, and what it returns."""

    name: str
    model: ModelProto
    inputs: dict[str, Array]
    outputs: list[Array]
    relative: float
    absolute: float

    @property
    def operators(self) -> list[str]:
        """The operators of the main graph, each once."""
        return sorted({node.op_type for node in self.model.graph.node})


def core_names() -> frozenset[str]:
    """The names of the core cases; empty where the list is not there."""
    if not CORE_LIST.exists():
        return frozenset()
    groups: dict[str, list[str]] = json.loads(CORE_LIST.read_text())["groups"]
    return frozenset(next(names for group, names in groups.items() if group.startswith("core")))


def backend_cases(names: frozenset[str]) -> Iterator[BackendCase]:
    """The cases with these names (all when there are none) whose inputs and outputs are plain tensors."""
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        for test in load_model_tests(kind=kind):
            if names and test.name not in names:
                continue
            case = from_test(test)
            if case is not None:
                yield case


def from_test(test: Any) -> BackendCase | None:
    """A case of the onnx package; None where it has sequences or maps, or no model on disk."""
    if test.model is not None and test.data_sets:
        model, (inputs, outputs) = test.model, test.data_sets[0]
    elif test.model_dir is not None:
        model = onnx.load(Path(test.model_dir) / "model.onnx")
        folder = Path(test.model_dir) / "test_data_set_0"
        inputs, outputs = (_files(folder, kind) for kind in ("input", "output"))
    else:
        return None
    arrays = [[_array(item) for item in items] for items in (inputs, outputs)]
    if any(item is None for items in arrays for item in items):
        return None
    names = [value.name for value in model.graph.input]
    values = dict(zip(names, (np.asarray(item) for item in arrays[0]), strict=False))
    return BackendCase(test.name, model, values, [np.asarray(x) for x in arrays[1]], test.rtol, test.atol)


def _files(folder: Path, kind: str) -> list[TensorProto]:
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [TensorProto.FromString(path.read_bytes()) for path in paths]


def _array(item: Any) -> Array | None:
    """A tensor as an array; None for sequences, maps and what is absent."""
    if isinstance(item, TensorProto):
        return numpy_helper.to_array(item)
    if item is None or isinstance(item, list | dict | tuple):
        return None
    return np.asarray(item)


def difference(case: BackendCase, got: list[Array]) -> str:
    """Empty when the outputs are those of the case: equal types and shapes, values within its tolerances."""
    if len(got) != len(case.outputs):
        return f"{len(got)} outputs instead of {len(case.outputs)}"
    for index, (actual, wanted) in enumerate(zip(got, case.outputs, strict=True)):
        if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
            return f"output {index} is {actual.dtype}{list(actual.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        if wanted.dtype.kind not in "fc":
            if not np.array_equal(actual, wanted):
                return f"output {index}: {np.count_nonzero(actual != wanted)} of {wanted.size} elements differ"
            continue
        absolute = max(case.absolute, 1e-6)
        if not np.allclose(actual.astype(np.float64), wanted.astype(np.float64), case.relative, absolute, True):
            worst = np.nanmax(np.abs(actual.astype(np.float64) - wanted.astype(np.float64)))
            return f"output {index} differs by {worst:.3g}"
    return ""
