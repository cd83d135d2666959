"""What the parser makes of whole models, of models it must refuse, and of damaged files."""

from __future__ import annotations

import json
import random
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import lowered, run_module

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.detection import DetectionPostProcess
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import DynamicQuant, QuantDTypeCast
from mslite.converter.mindir.verifier import verify
from mslite.converter.parsers.tflite import parse
from mslite.converter.passes.native_rules import NativeRuleError

SHARED = Path(__file__).resolve().parents[4] / "shared" / "models"
MANIFEST = SHARED / "manifest.json"


def shared_models(*classes: str) -> list[dict[str, Any]]:
    if not MANIFEST.exists():
        return []
    models: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))["models"]
    return [model for model in models if model["kind"] == "tflite" and model["tolerance_class"] in classes]


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.skipif(not MANIFEST.exists(), reason="../shared/models is not there")
@pytest.mark.parametrize("model", shared_models("float", "fp16", "drq"), ids=lambda model: model["path"])
def test_shared_model(model: dict[str, Any]) -> None:
    """Parsed, lowered and run node by node, every case is within its tolerance."""
    folder = SHARED / model["path"]
    module = parse(folder / "model.tflite")
    verify(module)
    assert [value.name for value in module.main.inputs] == [entry["name"] for entry in model["inputs"]]
    assert [value.name for value in module.main.outputs] == [entry["name"] for entry in model["outputs"]]
    if len(module.graphs) > 1:
        pytest.skip("control flow needs the whole runtime")
    try:
        lowered(module)
        for case in model["cases"]:
            found = run_module(module, [np.load(folder / name) for name in case["inputs"]])
            for ours, name, tolerance in zip(found, case["outputs"], case["tolerance"], strict=True):
                theirs = np.load(folder / name)
                assert ours.shape == theirs.shape
                assert ours.dtype == theirs.dtype
                if tolerance.get("unstable") or not ours.size:
                    continue
                worst = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()
                assert worst <= tolerance.get("max_abs_err", 0.0)
    except (ConversionError, NativeRuleError) as error:
        if "no kernel" in str(error) or "no shape rule" in str(error):
            pytest.skip(str(error))
        raise


def test_depthwise_weights_are_permuted_and_padding_is_kept(tmp_path: Path) -> None:
    weight = np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)
    options = {0: ("byte", 0), 1: ("int", 2), 2: ("int", 1), 3: ("int", 1)}
    model = single("DEPTHWISE_CONV_2D", [np.zeros((1, 4, 4, 3), np.float32), weight], (1,), ("float32",), options, "DepthwiseConv2DOptions")  # fmt: skip
    (node,) = parse(written(tmp_path / "m.tflite", model)).main.nodes
    assert isinstance(node.op, Conv2DFusion)
    assert (node.op.group, node.op.stride, node.op.pad_mode.name) == (3, (1, 2), "SAME")
    assert np.array_equal(node.inputs[1].array(), weight.transpose(3, 1, 2, 0))


def test_quantized_unsigned_bytes_become_signed(tmp_path: Path) -> None:
    tensors = [
        Tensor("x", (1, 4), "uint8", quant=(0.5, 128)),
        Tensor("w", data=np.array([[1, 128, 255, 0]], np.uint8), quant=(0.25, 120)),
        Tensor("y", (1, 1), "uint8", quant=(0.1, 3)),
    ]
    model = build(Graph(tensors, [0], [2], [Operator("FULLY_CONNECTED", [0, 1, -1], [2], {}, "FullyConnectedOptions")]))
    module = parse(written(tmp_path / "m.tflite", model))
    first, matmul, last = module.main.nodes
    assert isinstance(first.op, QuantDTypeCast)
    assert isinstance(last.op, QuantDTypeCast)
    assert module.main.inputs[0].dtype is module.main.outputs[0].dtype is DataType.UINT8
    assert matmul.quant_type is QuantType.QUANT_ALL
    weight = matmul.inputs[1]
    assert weight.array().tolist() == [[-127, 0, 127, -128]]
    assert weight.quant[0].zeroPoint == 120 - 128
    assert matmul.output.quant[0].zeroPoint == 3 - 128
    assert module.main.inputs[0].quant[0].zeroPoint == 128, "the user's side stays unsigned"
    assert module.main.outputs[0].quant[0].zeroPoint == 3


def test_eight_bit_weights_of_a_float_layer_stay_stored(tmp_path: Path) -> None:
    tensors = [
        Tensor("x", (1, 2)),
        Tensor("w", data=np.array([[-4, 6]], np.int8), quant=(0.5, 2)),
        Tensor("y", (1, 1)),
    ]
    model = build(Graph(tensors, [0], [2], [Operator("FULLY_CONNECTED", [0, 1, -1], [2], {}, "FullyConnectedOptions")]))
    rounding, node = parse(written(tmp_path / "m.tflite", model)).main.nodes
    assert rounding.op == DynamicQuant(symmetric=True, activation_channel=True, prefer_axes=(0,))
    assert node.inputs[1].array().tolist() == [[-4, 6]]
    assert [(record.scale, record.zeroPoint) for record in node.inputs[1].quant] == [(0.5, 2)]
    assert node.quant_type is QuantType.QUANT_DYNAMIC


def test_float16_weights_become_float32(tmp_path: Path) -> None:
    half = np.array([1.5, -2], np.float16)
    tensors = [Tensor("x", (2,)), Tensor("h", data=half), Tensor("w", (2,)), Tensor("y", (2,))]
    nodes = [Operator("DEQUANTIZE", [1], [2]), Operator("MUL", [0, 2], [3], {}, "MulOptions")]
    (node,) = parse(written(tmp_path / "m.tflite", build(Graph(tensors, [0], [3], nodes)))).main.nodes
    assert node.inputs[1].array().dtype == np.float32
    assert node.inputs[1].array().tolist() == [1.5, -2.0]


def test_detection_post_processing_options(tmp_path: Path) -> None:
    builder = flexbuffers.Builder()
    with builder.Map():
        for key in ("max_detections", "max_classes_per_detection", "num_classes"):
            builder.Key(key)
            builder.Int(7)
        for key, number in {"h_scale": 1, "w_scale": 2, "x_scale": 3, "y_scale": 4}.items():
            builder.Key(key)
            builder.Float(number)
        for key in ("nms_iou_threshold", "nms_score_threshold"):
            builder.Key(key)
            builder.Float(0.5)
        builder.Key("use_regular_nms")
        builder.Bool(True)
    operands = [np.zeros(shape, np.float32) for shape in ((1, 6, 4), (1, 6, 8), (6, 4))]
    name = "CUSTOM:TFLite_Detection_PostProcess"
    model = single(name, operands, (2,), ("float32",) * 4, custom=bytes(builder.Finish()))
    (node,) = parse(written(tmp_path / "m.tflite", model)).main.nodes
    assert isinstance(node.op, DetectionPostProcess)
    assert node.op.scale == (1, 2, 3, 4), "in the order of MindSpore Lite: height, width, x, y"
    assert (node.op.num_classes, node.op.use_regular_nms) == (7, True)
    for damage in (b"", b"\0", b"\xff" * 9, bytes(builder.Finish())[:-20]):
        path = written(tmp_path / "bad.tflite", single(name, operands, (2,), ("float32",) * 4, custom=damage))
        with pytest.raises(ConversionError, match="TFLite_Detection_PostProcess"):
            parse(path)


def test_a_loop_becomes_closures(tmp_path: Path) -> None:
    def scalars(*names: str) -> list[Tensor]:
        return [Tensor(name, (), "int32") for name in names]

    one, ten = Tensor("one", data=np.array(1, np.int32)), Tensor("ten", data=np.array(10, np.int32))
    main = Graph(
        scalars("x", "y"), [0], [1], [Operator("WHILE", [0], [1], {0: ("int", 1), 1: ("int", 2)}, "WhileOptions")]
    )
    cond = Graph([*scalars("i"), ten, Tensor("c", (), "bool")], [0], [2], [Operator("LESS", [0, 1], [2])])
    body = Graph([*scalars("i"), one, *scalars("j")], [0], [2], [Operator("ADD", [0, 1], [2], {}, "AddOptions")])
    module = parse(written(tmp_path / "m.tflite", build(main, cond, body)))
    verify(module)
    assert [len(graph.nodes) for graph in module.graphs] == [2, 5, 3, 0]
    assert [type(node.op) for node in module.graphs[1].nodes[1:]] == [PartialFusion, PartialFusion, Switch, Call]
    calls = [node.op for graph in module.graphs for node in graph.nodes if isinstance(node.op, Call)]
    assert [call.is_tail_call for call in calls] == [False, True, True]
    recursive = Graph(
        main.tensors, [0], [1], [Operator("WHILE", [0], [1], {0: ("int", 1), 1: ("int", 1)}, "WhileOptions")]
    )
    with pytest.raises(ConversionError, match="calls itself"):
        parse(written(tmp_path / "r.tflite", build(recursive, recursive)))


def test_all_blocking_nodes_are_reported_at_once(tmp_path: Path) -> None:
    tensors = [Tensor(name, (1, 2, 2, 1)) for name in "xyz"]
    nodes = [
        Operator("SVDF", [0], [1]),
        Operator("MAX_POOL_2D", [1], [2], {3: ("int", 0)}, "Pool2DOptions"),
    ]
    with pytest.raises(ConversionError, match="2 nodes prevent the conversion") as caught:
        parse(written(tmp_path / "m.tflite", build(Graph(tensors, [0], [2], nodes))))
    first, second = caught.value.blockers
    assert (first.node, first.operator) == ("y", "SVDF")
    assert first.reason
    assert first.remedy
    assert (second.node, second.operator, second.attribute) == ("z", "MAX_POOL_2D", "filter")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"short", "too few"),
        (b"\0" * 100, "TFL3 is missing"),
        (b"\x10\0\0\0TFL3" + b"\xff" * 40, "not a valid"),
    ],
)
def test_things_that_are_no_models(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=message):
        parse(written(tmp_path / "m.tflite", data))
    with pytest.raises(ConversionError, match="No such file"):
        parse(tmp_path / "missing.tflite")


def _models() -> list[bytes]:
    x = np.ones((1, 4, 4, 2), np.float32)
    conv = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1)}
    return [
        single("CONV_2D", [x, np.ones((2, 3, 3, 2), np.float32), np.ones(2, np.float32)], (1, 2), ("float32",), conv, "Conv2DOptions"),
        single("GATHER", [x, np.array([0, 1], np.int32)], (1,), ("float32",), {0: ("int", 1)}, "GatherOptions"),
        single("SPLIT", [np.array(3, np.int32), x], (0,), ("float32",) * 2, {0: ("int", 2)}, "SplitOptions"),
        single("PAD", [x, np.zeros((4, 2), np.int32)], (1,)),
    ]  # fmt: skip


def test_damaged_files_give_one_kind_of_error(tmp_path: Path) -> None:
    chance, refused, path = random.Random(4), 0, tmp_path / "m.tflite"
    started = time.monotonic()
    for good in _models():
        for _ in range(500):
            broken = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(broken) - 4)
                if chance.random() < 0.6:
                    struct.pack_into(
                        "<I", broken, at & ~3, chance.choice([0, 1, 2, 0xFFFFFFFF, 0x7FFFFFFF, at, 1 << 20])
                    )
                else:
                    broken[at] ^= 1 << chance.randrange(8)
            path.write_bytes(broken[: chance.randrange(len(broken))] if chance.random() < 0.1 else broken)
            try:
                parse(path)
            except ConversionError:
                refused += 1
    assert refused > 200
    assert time.monotonic() - started < 60
