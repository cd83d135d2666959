"""Small valid models for every parser, made from the project's own: the seeds of fuzzing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.converter.onnx_models import quantized_network, small_network
from tests.parsers.tf import archive
from tests.parsers.tflite.tflite_build import Tensor, single

from . import test_hostile_caffe, test_hostile_mindir
from .hostile_onnx import one_node
from .limits import ROOT

_MAX_BYTES = 30_000


def onnx_seeds() -> list[bytes]:
    """Layers, control flow and integers."""
    with tempfile.TemporaryDirectory() as name:
        made = [small_network(Path(name) / "a.onnx"), quantized_network(Path(name) / "b.onnx")]
        files = [path.read_bytes() for path in (*made, ROOT / "examples" / "digits" / "digits.onnx")]
    weights = np.zeros((1, 8, 4), np.float32)
    models = [
        one_node("Resize", {"r": [0.0], "s": [1.0, 1.0, 2.0, 2.0]}),
        one_node("Slice", {"b": [0], "e": [3], "a": [2], "s": [1]}),
        one_node("Split", {"s": [2]}, axis=1),
        one_node("Expand", {"s": [1, 2, 4, 4]}),
        one_node("LSTM", {"w": weights, "r": np.zeros((1, 8, 2), np.float32)}, shape=[3, 1, 4], hidden_size=2),
        one_node("Einsum", inputs=2, equation="abcd,abcd->ab"),
        one_node("OneHot", {"d": [4], "v": [0.0, 1.0]}),
        one_node("ConvTranspose", {"w": np.zeros((2, 1, 3, 3), np.float32)}, strides=[2, 2]),
        one_node("BatchNormalization", {"s": [1.0] * 2, "b": [1.0] * 2, "m": [1.0] * 2, "v": [1.0] * 2}),
        one_node("Pad", {"p": [0, 0, 1, 0, 0, 0, 1, 0]}),
        one_node("TopK", {"k": [2]}),
        _branches(),
        _loop(),
    ]
    return files + [model.SerializeToString() for model in models]


def _branches() -> object:
    def branch(operator: str) -> object:
        return helper.make_graph([helper.make_node(operator, ["x0"], ["t"])], operator, [], [_value("t")])

    model = one_node("If", {"c": np.array(True)}, then_branch=branch("Relu"), else_branch=branch("Neg"))
    del model.graph.node[0].input[0]
    return model


def _loop() -> object:
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            _value("v"),
        ],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), _value("w")],
    )
    model = one_node("Loop", {"n": np.array(3, np.int64), "c": np.array(True)}, body=body)
    model.graph.node[0].input[:] = ["n", "c", "x0"]
    return model


def _value(name: str) -> object:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, 4, 4])


def tflite_seeds() -> list[bytes]:
    """Single layers, and the models of the repository."""
    draw = np.random.default_rng(1)
    image, kernel = (draw.standard_normal(shape).astype(np.float32) for shape in ((1, 6, 6, 2), (3, 3, 3, 2)))
    integers = Tensor("i", (1, 6, 6, 2), "int8", quant=(0.5, 3))
    window = {1: ("int", 1), 2: ("int", 1)}
    made = [
        single(
            "CONV_2D", [image, kernel, np.zeros(3, np.float32)], (1, 2), options=window, options_type="Conv2DOptions"
        ),
        single("TRANSPOSE", [image, np.array([0, 3, 1, 2], np.int32)], (1,)),
        single("ADD", [image, image], options_type="AddOptions"),
        single("SOFTMAX", [image], options={0: ("float", 1.0)}, options_type="SoftmaxOptions"),
        single("DEQUANTIZE", [integers]),
        single("CONCATENATION", [image, image], options={0: ("int", 3)}, options_type="ConcatenationOptions"),
        single("RESHAPE", [image, np.array([1, -1], np.int32)], (1,)),
        single("PAD", [image, np.ones((4, 2), np.int32)], (1,)),
        single("STRIDED_SLICE", [image, *np.array([[0] * 4, [1, 3, 3, 1], [1] * 4], np.int32)], (1, 2, 3)),
    ]
    return made + [path.read_bytes() for path in sorted(ROOT.glob("**/*.tflite")) if "build" not in path.parts]


def tf_seeds() -> list[bytes]:
    """Every thirtieth of the graphs that TensorFlow wrote for the tests."""
    found = [archive.read(name).content for name in archive.names()]
    return [content for content in found if len(content) <= _MAX_BYTES][::30]


def caffe_seeds() -> list[bytes]:
    """Concatenates the text of a network and its weights, with a separator line."""
    return [joined(test_hostile_caffe.NETWORK.encode(), test_hostile_caffe.weights())]


_BORDER = b"\n#-- weights --\n"


def joined(text: bytes, weights: bytes) -> bytes:
    return text + _BORDER + weights


def parted(pair: bytes) -> tuple[bytes, bytes]:
    text, _, weights = pair.partition(_BORDER)
    return text, weights


def mindir_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return test_hostile_mindir.seeds(Path(folder))


def ms_seeds() -> list[bytes]:
    """Returns the converted ONNX models, and the files of the tests."""
    files = [path.read_bytes() for path in sorted((ROOT / "tests" / "models").glob("*.ms"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, content in enumerate(onnx_seeds()):
            (folder / "model.onnx").write_bytes(content)
            files.append(convert(Options(folder / "model.onnx", folder / str(number))).files[0].read_bytes())
    return [content for content in files if len(content) <= _MAX_BYTES]


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "onnx": onnx_seeds,
    "tflite": tflite_seeds,
    "tf": tf_seeds,
    "caffe": caffe_seeds,
    "mindir": mindir_seeds,
    "ms": ms_seeds,
}
