"""Fields of converted files that MindSpore Lite's readers were found to stumble over, one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.converter.convert import convert
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format
from mslite.converter.mindir.ops.pooling import AvgPoolFusion
from mslite.converter.mindir.ops.tables import MetaGraph
from mslite.converter.options import Options
from tests.converter.onnx_models import quantized_network, save, small_network
from tests.parsers.tflite.tflite_build import Graph, Tensor, build
from tests.parsers.tflite.tflite_build import Operator as Call


def converted(model: Path) -> MetaGraph:
    convert(Options(model, model.with_suffix("")))
    return read_ms(model.with_suffix(".ms"))


def operators(meta: MetaGraph) -> list[Operator]:
    return [node.primitive for node in meta.nodes or () if node.primitive is not None]


def test_weights_that_took_up_a_batch_norm_say_the_layout_that_they_have(tmp_path: Path) -> None:
    meta = converted(small_network(tmp_path / "net.onnx"))
    convolution = (meta.nodes or [])[0]
    weight = (meta.allTensors or [])[(convolution.inputIndex or ())[1]]
    assert (weight.name or "").endswith("_scaled")
    assert weight.dims == (4, 3, 3, 2)
    assert weight.format is Format.NHWC


def test_a_global_average_of_onnx_has_window_strides_and_padding(tmp_path: Path) -> None:
    (pool,) = (op for op in operators(converted(small_network(tmp_path / "net.onnx"))) if isinstance(op, AvgPoolFusion))
    assert (pool.global_, pool.kernel_size, pool.strides, pool.pad) == (True, (6, 5), (1, 1), (0, 0, 0, 0))


def test_every_record_of_a_quantized_model_is_valid(tmp_path: Path) -> None:
    meta = converted(quantized_network(tmp_path / "net.onnx"))
    records = [record for tensor in meta.allTensors or () for record in tensor.quantParams or ()]
    assert records
    assert all(record.inited for record in records)


@pytest.mark.parametrize(
    ("alpha", "beta", "kind"), [(1 / 6, 0.5, ActivationType.HSIGMOID), (0.2, 0.5, None), (1 / 6, 0.4, None)]
)
def test_the_hard_sigmoid_of_mobilenet_is_an_activation(
    alpha: float, beta: float, kind: ActivationType | None, tmp_path: Path
) -> None:
    node = helper.make_node("HardSigmoid", ["x"], ["y"], alpha=alpha, beta=beta)
    (op,) = operators(converted(save(tmp_path / "net.onnx", [node], {"x": [2, 3]}, {"y": [2, 3]})))
    if kind is None:
        assert isinstance(op, Custom) or op.declaration.custom_type == "mslite.HardSigmoid"
    else:
        assert isinstance(op, Activation)
        assert op.activation_type is kind


def test_a_residual_needs_no_custom_node(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((2, 2, 3, 3), np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "x"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    meta = converted(save(tmp_path / "net.onnx", nodes, {"x": [1, 2, 4, 4]}, {"y": [1, 2, 4, 4]}, [weight]))
    assert not [op for op in operators(meta) if op.declaration.is_custom or isinstance(op, Custom)]


@pytest.mark.parametrize(("dtype", "marked"), [("int16", True), ("int8", False)])
def test_sixteen_bit_activations_are_no_int8_nodes(dtype: str, marked: bool, tmp_path: Path) -> None:
    """1.3 would take the kernel for int8, and read beyond the data."""
    draw = np.random.default_rng(0)
    tensors = [
        Tensor("x", (1, 4), dtype, quant=(0.01, 0)),
        Tensor("w", data=draw.integers(-127, 127, (3, 4)).astype(np.int8), quant=(0.02, 0)),
        Tensor("y", (1, 3), dtype, quant=(0.05, 0)),
    ]
    model = tmp_path / "net.tflite"
    layer = Call("FULLY_CONNECTED", [0, 1], [2], ("FullyConnectedOptions", {}))
    model.write_bytes(build(Graph(tensors, [0], [2], [layer])))
    meta = converted(model)
    names = [op.declaration.custom_type for op in operators(meta) if op.declaration.is_custom]
    assert names == (["mslite.Bitcast"] if marked else [])
    if marked:
        first = (meta.nodes or [])[0]
        assert (meta.allTensors or [])[(first.outputIndex or ())[0]].dataType == DataType.INT16


def test_inputs_that_are_no_images_are_nhwc(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    meta = converted(save(tmp_path / "net.onnx", [node], {"x": [2, 3, 4]}, {"y": [2, 3, 4]}, kind=TensorProto.FLOAT))
    (number,) = meta.inputIndex or ()
    assert (meta.allTensors or [])[number].format is Format.NHWC
