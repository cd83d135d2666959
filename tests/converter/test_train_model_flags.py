"""`converter_lite --trainModel=true`: its flags and settings, what it refuses, and every front end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings
from tests.codegen.training_reference import (
    lenet,
)
from tests.converter.trained import BATCH, built, converted, weights_of


def _product_and(path: Path, *operators: str) -> None:
    """A product, then functions of its result whose sum is the output."""
    weight = numpy_helper.from_array(np.ones((4, 4), np.float32), "weight")
    nodes = [helper.make_node("MatMul", ["x", "weight"], ["y"], name="product")]
    nodes += [helper.make_node(name, ["y"], [f"y_{name}"], name=f"no_{name}") for name in operators]
    nodes.append(helper.make_node("Sum", [f"y_{name}" for name in operators], ["z"], name="sum"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", "z")]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], [weight])
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def _run(
    capsys: pytest.CaptureFixture[str], model: Path, *flags: str, section: str | None = None
) -> tuple[int, str, str]:
    arguments = [f"--modelFile={model}", "--trainModel=true", *flags]
    if not any(flag.startswith("--outputFile=") for flag in flags):
        arguments.append(f"--outputFile={model.with_suffix('')}")
    if section is not None:
        config = model.with_suffix(".cfg")
        config.write_text(f"[train_param]\n{section}")
        arguments.append(f"--configFile={config}")
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_biases_in_another_shape_and_what_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bias of heads follows a product in another shape, and one of channels begins with dimensions of 1: they learn. What could
    be anything, as a table of positions, stays and is named."""
    chance = np.random.default_rng(5)
    shapes = {"weight": (4, 6), "heads": (3, 2), "square": (6, 6), "bias": (1, 1, 6), "positions": (1, 2, 6)}
    constants = {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    sizes = {"to_heads": np.asarray([1, 2, 3, 2], np.int64), "to_rows": np.asarray([1, 2, 6], np.int64)}
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["a"]),
        helper.make_node("Reshape", ["a", "to_heads"], ["b"]),
        helper.make_node("Add", ["b", "heads"], ["c"]),
        helper.make_node("Reshape", ["c", "to_rows"], ["d"]),
        helper.make_node("Tanh", ["d"], ["e"]),
        helper.make_node("Add", ["e", "positions"], ["f"]),
        helper.make_node("MatMul", ["f", "square"], ["g"]),
        helper.make_node("Add", ["g", "bias"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, size]) for name, size in (("x", 4), ("y", 6))]
    initial = [numpy_helper.from_array(data, name) for name, data in (constants | sizes).items()]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], initial)
    model = tmp_path / "model.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
    status, out, _ = _run(capsys, model, section="loss=MeanSquaredError\nlearning_rate=0.1\n")
    assert status == 0
    assert "constants after trained layers that are not trained, unless trained= names them: 'positions'" in out
    trained = built(model.with_suffix(".ms"))
    x, wanted = (chance.standard_normal((1, 2, size)).astype(np.float32) for size in (4, 6))
    trained.run_step([x, wanted])
    weight, heads, square, bias, positions = (np.asarray(data, np.float64) for data in constants.values())
    hidden = np.tanh(((x @ weight).reshape(1, 2, 3, 2) + heads).reshape(1, 2, 6))
    dy = 2 * ((hidden + positions) @ square + bias - wanted) / wanted.size
    dc = (dy @ square.T) * (1 - hidden**2)
    gradients = {
        "weight": x[0].T @ dc[0],
        "heads": dc.sum(axis=(0, 1)).reshape(3, 2),
        "square": (hidden + positions)[0].T @ dy[0],
        "bias": dy.sum(axis=(0, 1)).reshape(1, 1, 6),
    }
    found = weights_of(trained)
    assert list(found) == ["weight", "heads", "square", "g_bias"]  # the last one is part of the product
    for ours, (name, gradient) in zip(found.values(), gradients.items(), strict=True):
        expected = constants[name] - 0.1 * gradient
        np.testing.assert_allclose(ours, expected.reshape(ours.shape), rtol=1e-5, atol=1e-6)


def test_operators_without_gradients_are_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.onnx"
    _product_and(model, "Hardmax", "Relu", "LpNormalization")
    status, out, err = _run(capsys, model, section="loss=MeanSquaredError\n")
    assert status == 3
    assert "2 node(s) have no gradient" in err
    assert "no_Hardmax" in err
    assert "no_LpNormalization" in err
    assert "no_Relu" not in err
    assert out.startswith("Convert failed. Ret: ")
    assert not model.with_suffix(".ms").exists()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[train_param] says all that the API's settings do; the number of rows comes from it, or from --inputShape."""
    model = tmp_path / "lenet.onnx"
    lenet(model, 1)
    section = "loss=SparseSoftmaxCrossEntropy\noptimizer=Momentum\nlearning_rate=0.05\nmomentum=0.8\nfrozen=conv1,c2\n"
    status, out, _ = _run(capsys, model, section=f"{section}batch_size={BATCH}\n")
    assert status == 0
    assert "trains 5 constants with Momentum; the labels are 'label', int32 [16]" in out
    trained = built(model.with_suffix(".ms"))
    assert trained.get_learning_rate() == np.float32(0.05)
    numbers = {one.name: float(one.get_data_to_numpy().item()) for one in trained.get_optimizer_params()}
    assert numbers == {"learning_rate": pytest.approx(0.05), "momentum": pytest.approx(0.8)}
    assert list(weights_of(trained)) == ["b2", "d1", "e1", "d2", "e2"]
    assert [tensor.shape for tensor in trained.get_inputs()] == [[BATCH, 8, 8, 1], [BATCH]]
    model.with_suffix(".ms").unlink()
    assert _run(capsys, model, "--inputShape=x:4,1,8,8")[0] == 0
    assert [tensor.shape for tensor in built(model.with_suffix(".ms")).get_inputs()] == [[4, 8, 8, 1], [4]]


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("--fp16=on", "weights are trained in float32"),
        ("--inputDataType=INT8", "a model trains in float32"),
        ("--outputDataType=FLOAT16", "a model trains in float32"),
        ("--saveType=MINDIR", "the result is a .ms file"),
        ("--targetVersion=2.7", "leave it out"),
        ("--check", "it examines inference"),
        ("--verify", "use it with --trainModel=false"),
    ],
)
def test_what_does_not_go_with_it(flag: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    status, _, err = _run(capsys, model, flag)
    assert status == 2
    assert "INPUT ILLEGAL: trainModel=true cannot be combined with" in err
    assert reason in err


def test_wrong_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    for line, message in (
        ("optimizer=Adamm", "optimizer must be SGD|Momentum|"),
        ("learning_rat=0.1", "`learning_rat` is not supported in [train_param]; did you mean `learning_rate`?"),
        ("learning_rate=-1", "learning_rate must be a number above 0 in the range of float32, not '-1'"),
        ("learning_rate=1e99", "learning_rate must be a number above 0 in the range of float32"),
        ("learning_rate=1e-60", "learning_rate must be a number above 0 in the range of float32"),
        ("learning_rate=nan", "learning_rate must be a number above 0 in the range of float32"),
        ("beta1=1\noptimizer=Adam", "beta1 must be a number from 0 and below 1, not '1'"),
        ("batch_size=1.5", "batch_size must be an integer from 1 to 1048576, not '1.5'"),
        ("warmup_steps=-1", "warmup_steps must be an integer from 0 to 16777216"),
    ):
        status, _, err = _run(capsys, model, section=f"{line}\n")
        assert status == 2
        assert message in err
    for line, message in (
        ("momentum=0.9", "momentum applies to optimizer=Momentum|Nesterov, not to SGD"),
        ("alpha=0.9\noptimizer=Adam", "alpha applies to optimizer=RMSProp, not to Adam"),
    ):
        status, _, err = _run(capsys, model, section=f"{line}\n")
        assert status == 1
        assert message in err


def test_a_training_file_is_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, BATCH)
    file = converted(model, TrainSettings())
    status, _, err = _run(capsys, file, f"--outputFile={tmp_path / 'again'}")
    assert status == 3
    assert "already has gradients and an optimizer" in err


_MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"


@pytest.mark.skipif(not _MODELS.is_dir(), reason="the shared models are not here")
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("torch_audio/ds_cnn_kws_op13/model.onnx", ""),
        ("small_apps/keypoint_classifier/model.tflite", ""),
        ("keras_pb/ds_cnn_kws/model.pb", ""),
        ("caffe/lenet_seeded/model.prototxt", ""),
        ("dtln/dtln_1_float/model.tflite", "Identity"),
        ("keras_pb/lstm_2layer_while/model.pb", ""),
        ("arm_kws_pb/gru_s/model.pb", ""),
        ("tf1_pb/conv_mix/model.pb", ""),
    ],
    ids=[
        "ONNX",
        "TensorFlow Lite",
        "TensorFlow",
        "Caffe",
        "several outputs",
        "loops of LSTM",
        "GRU",
        "blocks of pixels",
    ],
)
def test_front_ends(name: str, output: str, tmp_path: Path) -> None:
    """Models of others learn what they are given: four steps on the same numbers, each with a smaller loss."""
    model = _MODELS / name
    settings = TrainSettings(Loss.SQUARED, Optimizer.ADAM, 1e-4, output=output, batch=1)
    weights = model.with_name("model.caffemodel") if "caffe" in name else None
    options = Options(model, tmp_path / "trains", weight_file=weights, training=settings)
    trained = built(convert(options).files[0])
    chance = np.random.default_rng(3)
    inputs = [chance.standard_normal(tensor.shape).astype(np.float32) for tensor in trained.get_inputs()]
    losses = [trained.run_step(inputs)[0].get_data_to_numpy().item() for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.skipif(not _MODELS.is_dir(), reason="the shared models are not here")
def test_outputs_of_any_size_are_refused(tmp_path: Path) -> None:
    model = _MODELS / "torch_detection/yolo_head_nms_op13/model.onnx"
    with pytest.raises(ConversionError, match="the shape of output 'boxes' depends on the data"):
        convert(Options(model, tmp_path / "trains", training=TrainSettings(Loss.SQUARED, output="boxes")))
