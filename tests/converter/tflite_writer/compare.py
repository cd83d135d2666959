"""Runs subgraphs twice: in the runtime, and in LiteRT from the file that the TensorFlow Lite writer makes of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.ethosu.partitions import Part
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.tflite_writer import write_tflite

Array = npt.NDArray[Any]
_UNSIGNED = 128


def module_of(part: Part) -> Module:
    """Returns a model of a single partition."""
    copies: dict[int, Value] = {}

    def copied(value: Value) -> Value:
        if id(value) not in copies:
            copies[id(value)] = Value(value.name, value.dtype, value.shape, value.data, value.format, value.quant)
        return copies[id(value)]

    graph = Graph("main", [copied(value) for value in part.inputs], [copied(value) for value in part.outputs])
    graph.nodes = [
        Node(node.op, node.name, tuple(map(copied, node.inputs)), tuple(map(copied, node.outputs)), node.quant_type)
        for node in part.nodes
    ]
    return Module([graph])


def run_ours(module: Module, inputs: Sequence[Array]) -> list[Array]:
    """Returns the outputs of the runtime, in the order of the module."""
    with tempfile.TemporaryDirectory() as folder:
        path = save(module, Path(folder) / "part.ms")[0]
        model = mslite.Model()
        model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
        tensors = model.get_inputs()
        for tensor, array in zip(tensors, inputs, strict=True):
            tensor.set_data_from_numpy(array)
        results = {tensor.name: np.array(tensor.get_data_to_numpy()) for tensor in model.predict(tensors)}
    return [results[value.name] for value in module.main.outputs]


def run_file(data: bytes, inputs: Sequence[Array], resolver: str = "BUILTIN_REF") -> list[Array]:
    """Returns the outputs of LiteRT's kernels; int8 inputs are passed as uint8 if the file has uint8."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    chosen = getattr(interpreter.OpResolverType, resolver)
    runner = interpreter.Interpreter(model_content=data, experimental_op_resolver_type=chosen)
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), inputs, strict=True):
        shifted = (array.astype(np.int16) + _UNSIGNED).astype(np.uint8)
        runner.set_tensor(detail["index"], shifted if detail["dtype"] == np.uint8 != array.dtype else array)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()]


def _draw(generator: np.random.Generator, part: Part, value: Value) -> Array:
    if value.dtype is DataType.UINT8:
        return generator.integers(0, 256, value.shape).astype(np.uint8)
    return generator.integers(_least(part, value), 128, value.shape).astype(np.int8)


def _least(part: Part, value: Value) -> int:
    """Lower bound of the inputs: LiteRT has no square root of negative values."""
    roots = any(node.op.name == "Rsqrt" and value in node.inputs for node in part.nodes)
    return value.quant[0].zeroPoint if roots else -128


def assert_written_alike(part: Part, seed: int = 1, resolver: str = "BUILTIN_REF") -> None:
    """Asserts that LiteRT computes the same bits for random inputs."""
    generator = np.random.default_rng(seed)
    inputs = [_draw(generator, part, value) for value in part.inputs]
    file = write_tflite(part.nodes, part.inputs, part.outputs)
    theirs = run_file(file.data, inputs, resolver)
    for value, mine, other in zip(part.outputs, run_ours(module_of(part), inputs), theirs, strict=True):
        if mine.dtype == np.int8 and other.dtype == np.uint8:
            other = (other.astype(np.int16) - _UNSIGNED).astype(np.int8)
        operators = ", ".join(node.op.name for node in part.nodes)
        np.testing.assert_array_equal(mine, other, f"'{value.name}' of {operators}")
