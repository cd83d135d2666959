"""Operators that exporters put into the standard domain though they are not in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline

Array = npt.NDArray[Any]
X = np.random.default_rng(2).standard_normal((2, 5, 3)).astype(np.float32)


def run(operator: str, folder: Path, x: Array, **attributes: Any) -> Array:
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    output = TensorProto.BOOL if x.dtype == np.bool_ else TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", output, None)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    module = parse(folder / "m.onnx")
    run_pipeline(module, Settings())
    module_io.save(module, folder / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(folder / "m.ms"), mslite.ModelType.MINDIR_LITE)
    (tensor,) = runner.get_inputs()
    tensor.set_data_from_numpy(x)
    return runner.predict([tensor])[0].get_data_to_numpy()


def test_splice(tmp_path: Path) -> None:
    rows = [0, 1, 1, 3, 4, 0]
    expected = X[:, rows].reshape(2, 3, 6)
    np.testing.assert_array_equal(
        run("Splice", tmp_path, X, context=[0, 1], forward_indexes=rows, output_dim=6), expected
    )


def test_gelu_function(tmp_path: Path) -> None:
    expected = X * (1 + np.vectorize(math.erf)(X / math.sqrt(2))) / 2
    np.testing.assert_allclose(run("GeLUFunction", tmp_path, X), expected, rtol=1e-5, atol=1e-6)


def test_logical_not(tmp_path: Path) -> None:
    np.testing.assert_array_equal(run("logical_not", tmp_path, X > 0), ~(X > 0))


def test_rows_of_no_context(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="5 rows are not a multiple of 2"):
        run("Splice", tmp_path, X, context=[0, 1], forward_indexes=[0, 1, 2, 3, 4], output_dim=6)
