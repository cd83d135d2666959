"""Every operator of the OpenVINO engine on OpenVINO's CPU device, against the NumPy references of the kernels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.activation import Shrink
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.reference import CASES, Case
from tests.delegate.models import only_trains
from tests.kernels.calls import difference, expected, inputs_of

from . import runs

openvino = pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install openvino)")
pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.nonconforming("cases of all kinds, with operators of mslite"),
    pytest.mark.skipif(not runs.PROGRAM.is_file(), reason=f"{runs.PROGRAM} was not built"),
]

TYPES = {"float32", "int32", "int64", "bool"}
WITH_CONSTANTS = {
    *("Crop", "GatherD", "Gather", "ReverseSequence", "BatchNorm", "FusedBatchNorm"),
    *("LSTM", "GRU", "LSTMSequence", "GRUSequence", "RNNSequence"),
}
"""Operators that the engine takes where all operands but the first are constants, which the cases leave open."""
ON_NAN = {
    *("Activation-nan", "ExpFusion-special", "Maximum-nan", "Minimum-nan", "ReduceFusion-nan"),
    *("ArgMaxFusion-float32-nan", "ArgMinFusion-float32-nan"),
    *(f"TopKFusion-float32-nan-{largest}-{k}" for largest in (1, -1) for k in (1, 4, 9)),
}
"""OpenVINO's maximum, minimum, ReLU and exponential of NaN are numbers, and its TopK gives NaN no fixed rank. A test fails when
one of these cases gives what the CPU gives."""
BEYOND_32_BITS = {"Cast-round-once"}
"""Numbers of int64 that OpenVINO would cut: the run is refused."""


def _constants(case: Case) -> tuple[int, ...]:
    if case.op.name in WITH_CONSTANTS:
        return tuple(range(1, len(inputs_of(case))))
    return case.constants


def _cases(operator: str) -> Iterator[Case]:
    for case in CASES:
        if case.op.name == operator and not only_trains(case):
            tensors = [*inputs_of(case), *expected(case.name)]
            if {array.dtype.name for array in tensors} <= TYPES:
                yield case


@pytest.mark.parametrize("operator", runs.operators() if runs.PROGRAM.is_file() else [])
def test_operator(operator: str, tmp_path: Path) -> None:
    cases = list(_cases(operator))
    folders = [tmp_path / str(number) for number in range(len(cases))]
    for case, folder in zip(cases, folders, strict=True):
        runs.write_model(folder, case.op, inputs_of(case), _constants(case), expected(case.name))
    taken = 0
    for case, result in zip(cases, runs.run(folders), strict=True):
        if case.name in BEYOND_32_BITS:
            assert "has a value outside 32 bits" in result.error
            continue
        assert not result.error, f"{case.name}: {result.error}"
        taken += result.is_whole
        pairs = zip(result.outputs, expected(case.name), strict=True)
        problems = [text for got, wanted in pairs if (text := difference(got, wanted, case.tolerance))]
        assert bool(problems) == (case.name in ON_NAN), f"{case.name}: {problems}"
    assert taken, "the engine takes none of the cases"


@pytest.mark.parametrize("operator", ["Conv2DFusion", "LSTMSequence", "Gather", "MatMulFusion", "ResizeND"])
def test_openvino_itself_reads_what_is_written(operator: str, tmp_path: Path) -> None:
    """The text and the weights, read from files and compiled by OpenVINO's own Python, give the same outputs."""
    core = openvino.Core()
    for number, case in enumerate(_cases(operator)):
        folder, dump = tmp_path / str(number), tmp_path / f"{number}_dump"
        dump.mkdir()
        runs.write_model(folder, case.op, inputs_of(case), _constants(case), expected(case.name))
        (result,) = runs.run([folder], MSLITE_OPENVINO_DUMP=os.fspath(dump))
        if not result.is_whole:
            assert not list(dump.iterdir())
            continue
        compiled = core.compile_model(dump / "part_0.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        inputs = [np.load(path) for path in sorted(folder.glob("input_*.npy"))]
        outputs = list(compiled(inputs).values())
        for got, wanted in zip(result.outputs, outputs, strict=False):  # what checks indices stands behind the outputs
            assert difference(got, np.asarray(wanted), 1e-6) == "", case.name


def test_a_part_whose_constants_are_empty(tmp_path: Path) -> None:
    """A number is transposed, by an order of no dimensions, between two operators that the CPU runs."""
    x = np.array([1, -3, 5], np.float32)
    values = [Value("x", DataType.FLOAT32, (3,)), *(Value(name, DataType.FLOAT32, ()) for name in "abcd")]
    graph = Graph("main", [values[0]], [values[4]])
    operators = (ReduceFusion(mode=ReduceMode.ReduceSum), Shrink(), Transpose(), Shrink())
    for op, source, target in zip(operators, values[:-1], values[1:], strict=True):
        graph.nodes.append(Node(op, target.name, (source,), (target,)))
    module_io.save(Module([graph]), tmp_path / "model.ms")
    np.save(tmp_path / "input_0.npy", x)
    (result,) = runs.run([tmp_path])
    assert not result.error
    assert [node.part >= 0 for node in result.placements] == [True, False, True, False]
    assert np.array_equal(result.outputs[0], np.float32(3))


def test_an_index_that_is_not_there(tmp_path: Path) -> None:
    """The run ends with an error, as on the CPU, and the next run gives its result.

    OpenVINO's own int64 has 32 bits: what does not fit is refused as well."""
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    for dtype, value in (("int32", 4), ("int32", -5), ("int64", 4), ("int64", 1 << 32), ("int64", -(1 << 40))):
        wrong, right = tmp_path / "wrong", tmp_path / "right"
        for folder, index in ((wrong, value), (right, 3)):
            indices = np.array([0, index], dtype)
            runs.write_model(folder, Gather(), [table, indices, np.array(0, np.int32)], (0, 2), [table[:2]])
        results = runs.run([wrong, right])
        reason = "an index is out of range" if abs(value) < 1 << 31 else "has a value outside 32 bits"
        assert reason in results[0].error, (dtype, value)
        assert results[1].is_whole
        assert np.array_equal(results[1].outputs[0], table[[0, 3]])
