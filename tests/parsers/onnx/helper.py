"""Small ONNX models, converted and compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline

Array = npt.NDArray[Any]
node = helper.make_node


def make_model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    constants: Mapping[str, Array] | None = None,
    opset: int = 17,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
) -> ModelProto:
    """Returns a model with inputs in the data types (and, unless `shapes` is given, the shapes) of these arrays."""
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), (shapes or {}).get(name, array.shape)
        )
        for name, array in inputs.items()
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(list(nodes), "test", infos, results, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def one(
    op_type: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    opset: int = 17,
    outputs: int = 1,
    **attributes: Any,
) -> ModelProto:
    """Returns a model with one node that reads the inputs and then the constants."""
    names = [*inputs, *(constants or {})]
    results = [f"y{index}" for index in range(outputs)]
    return make_model([node(op_type, names, results, **attributes)], inputs, results, constants, opset)


def operators(module: Module, graph: int = 0) -> list[str]:
    return [entry.op.name for entry in module.graphs[graph].nodes]


def reference(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """Returns onnxruntime's results."""
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    typed = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(typed.SerializeToString(), options)
    results: list[Array] = session.run(None, dict(inputs))
    return results


def compute(model: ModelProto, inputs: Mapping[str, Array], folder: Path) -> list[Array]:
    """Returns the results of the converted model in the runtime: parser, passes, file, runtime."""
    module = parse(model)
    names = [value.name for value in module.main.outputs]
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    module_io.save(module, path)
    runner = mslite.Model()
    runner.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = runner.get_inputs()
    runner.resize(tensors, [list(inputs[tensor.name].shape) for tensor in tensors])
    tensors = runner.get_inputs()
    for tensor in tensors:
        tensor.set_data_from_numpy(np.asarray(inputs[tensor.name], order="C"))
    results = {tensor.name: tensor.get_data_to_numpy() for tensor in runner.predict(tensors)}
    return [results[name] for name in names]


def check(
    model: ModelProto,
    inputs: Mapping[str, Array],
    folder: Path,
    tolerance: float = 2e-5,
    wanted: Sequence[Array] | None = None,
) -> None:
    """Asserts that the runtime's results equal onnxruntime's, or `wanted` if onnxruntime rejects the model.

    Data types and shapes are equal, and values are within the tolerance times the largest magnitude.
    """
    got = compute(model, inputs, folder)
    wanted = reference(model, inputs) if wanted is None else wanted
    assert len(got) == len(wanted)
    for actual, expected in zip(got, wanted, strict=True):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        if expected.dtype.kind == "f":
            scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
            np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale)
        else:
            np.testing.assert_array_equal(actual, expected)


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
