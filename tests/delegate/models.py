"""Models of single operators for the tests of engines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.arithmetic import AddN
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, REFERENCES, Array
from tests.element_types.direct_files import Call, module_of
from tests.kernels.calls import expected, inputs_of

from .engines import Engine

_HOLDS = frozenset(np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "int32", "int64", "float32"))


def calls() -> Iterator[Call]:
    """Every reference case of an operator that MindSpore Lite's files have, in the types that engines may know."""
    for case in CASES:
        inputs, wanted = inputs_of(case), list(expected(case.name))
        if (
            not case.op.declaration.is_custom
            and len(case.constants) < len(inputs)
            and all(array.dtype in _HOLDS for array in (*inputs, *wanted))
        ):
            yield Call(case, inputs, wanted)


def write(call: Call, folder: Path) -> tuple[Path, list[Array]]:
    """The file of a model of one node, and what enters it."""
    module, inputs = module_of(call)
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    save(module, path)
    return path, inputs


HALF = np.finfo(np.float16)


def in_half(call: Call) -> Call:
    """The call with operands that float16 has, and what the reference computes of these."""
    inputs = [array if array.dtype != np.float32 else _rounded(array) for array in call.inputs]
    with np.errstate(all="ignore"):
        wanted = REFERENCES[call.name](call.case.op, inputs)
    return Call(call.case, inputs, [np.asarray(array) for array in wanted])


def _rounded(array: Array) -> Array:
    finite = np.clip(array, HALF.min, HALF.max)
    return np.where(np.isfinite(array), finite, array).astype(np.float16).astype(np.float32)


def write_inside(call: Call, folder: Path) -> tuple[Path, list[Array]]:
    """The same as `write`, with a node that changes nothing before and behind each real number, so that no tensor of the
    node is at the border of its part."""
    module, inputs = module_of(call)
    graph = module.main
    (node,) = graph.nodes
    before, behind = [], []
    for index, value in enumerate(graph.inputs):
        if value.dtype == DataType.FLOAT32:
            graph.inputs[index] = Value(f"{value.name}_given", value.dtype, value.shape)
            before.append(Node(AddN(), f"before_{value.name}", (graph.inputs[index],), (value,)))
    for index, value in enumerate(graph.outputs):
        if value.dtype == DataType.FLOAT32:
            graph.outputs[index] = Value(f"{value.name}_got", value.dtype, value.shape)
            behind.append(Node(AddN(), f"behind_{value.name}", (value,), (graph.outputs[index],)))
    graph.nodes[:] = [*before, node, *behind]
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    save(module, path)
    return path, inputs


def is_close(got: Array, wanted: Array, tolerance: float) -> bool:
    """Equal types, shapes and integers; real numbers within a share of the largest."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(got, wanted))
    mine, reference = got.astype(np.float64), wanted.astype(np.float64)
    finite: npt.NDArray[np.float64] = np.abs(reference[np.isfinite(reference)])
    largest = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(mine, reference, rtol=tolerance, atol=tolerance * largest, equal_nan=True))


def missing(engine: Engine) -> str:
    """Why nothing runs on the engine here; "" where it does."""
    call = next(call for call in calls() if call.name == "Abs" and call.wanted[0].dtype == np.float32)
    with tempfile.TemporaryDirectory() as folder, engine.chosen(MSLITE_DELEGATE_COSTS="off"):
        path, _ = write(call, Path(folder))
        try:
            placements = engine.built(path).placements()
        except RuntimeError as error:
            return f"{engine.name} is not there: {error}"
    return "" if all(map(engine.has, placements)) else f"{engine.name} does not even run Abs: {placements[0].reason}"
