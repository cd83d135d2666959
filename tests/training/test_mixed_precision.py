"""Training in mixed precision: what is rounded to float16, and how the loss is scaled. On processors without float16
arithmetic every number is rounded as NumPy does it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings
from mslite.types import OptimizationLevel

from .files import Array, arrays, assert_close, build, step

ROWS = 8
RATE = 0.25


def _config(
    level: OptimizationLevel = OptimizationLevel.O2, scale: float = 128, dynamic: bool = False, after: int = 1000
) -> mslite.TrainCfg:
    config = mslite.TrainCfg()
    config.optimization_level = level
    config.mix_precision_cfg.loss_scale = scale
    config.mix_precision_cfg.dynamic_loss_scale = dynamic
    config.mix_precision_cfg.num_of_not_nan_iter_th = after
    return config


def _converted(
    folder: Path, nodes: list[object], constants: dict[str, Array], shapes: tuple[list[int], list[int]]
) -> Path:
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(("x", "y"), shapes, strict=True)
    ]
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], stored)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "net.onnx")
    settings = TrainSettings(Loss.SQUARED, Optimizer.SGD, learning_rate=RATE, batch_norm=BatchNorm.TRAIN)
    return convert(Options(folder / "net.onnx", folder / "net_train", training=settings)).files[0]


def _weights() -> dict[str, Array]:
    chance = np.random.default_rng(3)
    shapes = {"w1": (6, 5), "b1": (5,), "w2": (5, 3), "b2": (3,)}
    return {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def _data() -> list[Array]:
    chance = np.random.default_rng(4)
    return [chance.standard_normal(shape).astype(np.float32) for shape in ((ROWS, 6), (ROWS, 3))]


@pytest.fixture
def perceptron(tmp_path: Path) -> Path:
    """y = relu(x w1 + b1) w2 + b2, the mean of squared differences, and SGD."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["z"], "first"),
        helper.make_node("Relu", ["z"], ["a"], "relu"),
        helper.make_node("Gemm", ["a", "w2", "b2"], ["y"], "second"),
    ]
    return _converted(tmp_path, nodes, _weights(), ([ROWS, 6], [ROWS, 3]))


@pytest.fixture
def normalized(tmp_path: Path) -> Path:
    """A convolution, batch normalization by the statistics of the batch, a mean of each image."""
    chance = np.random.default_rng(5)
    constants = {
        "w": chance.standard_normal((4, 3, 3, 3)).astype(np.float32),
        "scale": np.ones(4, np.float32),
        "offset": np.zeros(4, np.float32),
        "mean": np.zeros(4, np.float32),
        "variance": np.ones(4, np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4),
        helper.make_node(
            "BatchNormalization", ["c", "scale", "offset", "mean", "variance"], ["n"], "norm", momentum=0.5
        ),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], "pool"),
        helper.make_node("Flatten", ["g"], ["y"], "flatten"),
    ]
    return _converted(tmp_path, nodes, constants, ([ROWS, 3, 6, 6], [ROWS, 4]))


def _half(values: Array) -> Array:
    return values.astype(np.float16).astype(np.float64)


def _forward(x: Array) -> tuple[Array, Array]:
    """Behind the first layer, and the output."""
    w1, b1, w2, b2 = (_half(_weights()[name]) for name in ("w1", "b1", "w2", "b2"))
    a = np.maximum(_half(_half(x) @ w1 + b1), 0)
    return a, _half(a @ w2 + b2)


def _by_numpy(x: Array, target: Array, scale: float) -> tuple[float, dict[str, Array]]:
    a, y = _forward(x)
    loss = float(((y - target) ** 2).mean())
    wide = 2 * (y - target) / y.size * scale  # the loss and sums are float32
    dy = _half(wide)
    dz = _half(_half(dy @ _half(_weights()["w2"]).T) * (a > 0))
    gradients = {"w1": _half(x).T @ dz, "b1": dz.sum(axis=0), "w2": a.T @ dy, "b2": wide.sum(axis=0)}
    return loss, {name: value / scale for name, value in gradients.items()}


def test_rounds_as_numpy(perceptron: Path) -> None:
    inputs = _data()
    model = build(perceptron, config=_config())
    before = arrays(model.get_trainable_params())
    loss, gradients, after = step(model, inputs)
    expected_loss, expected = _by_numpy(*inputs, scale=128)
    assert loss == pytest.approx(expected_loss, rel=2e-6)
    plain_loss, plain, _ = step(build(perceptron), inputs)
    assert abs(plain_loss / expected_loss - 1) > 2e-5
    assert set(gradients) == set(plain) == set(before)
    by_shape = {value.size: value for value in expected.values()}  # the converter may have turned them
    for name, gradient in gradients.items():
        wanted = by_shape[gradient.size]
        assert_close(gradient.ravel(), (wanted if gradient.shape == wanted.shape else wanted.T).ravel())
        assert np.abs(gradient - plain[name]).max() < 3e-3 * np.abs(plain[name]).max()
        np.testing.assert_array_equal(after[name], before[name] - np.float32(RATE) * gradient)


def test_small_gradients_need_the_scale(perceptron: Path) -> None:
    """Differences of 1e-7 give gradients of matrices that float16 does not have."""
    x, _ = _data()
    y = _forward(x)[1].astype(np.float32)
    target = np.where(np.abs(y) < 1, y * np.float32(1 + 2e-7), y)
    for scale, is_there in ((1, False), (65536, True)):
        model = build(perceptron, config=_config(scale=scale))
        _, gradients, _ = step(model, [x, target])
        assert any(np.any(gradient != 0) for gradient in gradients.values() if gradient.ndim == 2) == is_there


def test_steps_beyond_float16_change_nothing(perceptron: Path) -> None:
    """A dynamic scale is halved until they fit; a fixed one stays."""
    x, target = _data()
    inputs = [x, target * np.float32(1000)]
    fixed = build(perceptron, config=_config(scale=65536))
    before = arrays(fixed.get_trainable_params())
    for _ in range(3):
        fixed.run_step(inputs)
    for name, value in arrays(fixed.get_trainable_params()).items():
        np.testing.assert_array_equal(value, before[name])
    dynamic = build(perceptron, config=_config(scale=65536, dynamic=True))
    changed = []
    for _ in range(16):
        _, gradients, after = step(dynamic, inputs)
        changed.append(any(np.any(after[name] != before[name]) for name in before))
        if changed[-1]:
            break
        assert not all(np.isfinite(gradient).all() for gradient in gradients.values())
    assert changed[-1]
    assert len(changed) > 2
    assert all(np.isfinite(value).all() for value in after.values())


def test_the_scale_grows_again(perceptron: Path) -> None:
    """Doubled after each good step it comes to a step beyond float16, which is left out."""
    inputs = _data()
    model = build(perceptron, config=_config(scale=4096, dynamic=True, after=1))
    model.set_learning_rate(0)
    infinite = []
    for _ in range(8):
        _, gradients, _ = step(model, inputs)
        infinite.append(not all(np.isfinite(gradient).all() for gradient in gradients.values()))
    assert not infinite[0]
    first = infinite.index(True)
    assert not infinite[first + 1]


def test_batch_normalization_stays_float32(normalized: Path) -> None:
    """Below O3; and its running statistics always."""
    chance = np.random.default_rng(6)
    inputs = [
        chance.standard_normal((ROWS, 6, 6, 3)).astype(np.float32),
        chance.standard_normal((ROWS, 4)).astype(np.float32),
    ]
    found = {}
    for level in (OptimizationLevel.O0, OptimizationLevel.O2, OptimizationLevel.O3):
        model = build(normalized, config=_config(level))
        losses = [step(model, inputs)[0] for _ in range(5)]
        model.set_train_mode(False)
        found[level] = (losses, arrays(model.get_feature_maps()))
    plain, mixed, half = (found[level][0] for level in found)
    np.testing.assert_allclose(mixed, plain, rtol=2e-3)
    assert half == mixed != plain  # its neighbors round what it reads and gives; it is stored as they read it
    statistics = found[OptimizationLevel.O3][1]
    running = [value for name, value in statistics.items() if "mean" in name or "variance" in name]
    assert len(running) == 2
    assert all(np.any(value.astype(np.float16) != value) for value in running)


def test_virtual_batches_and_checkpoints(perceptron: Path, tmp_path: Path) -> None:
    inputs = _data()
    model = build(perceptron, config=_config())
    model.setup_virtual_batch(2, RATE)
    before = arrays(model.get_trainable_params())
    model.run_step(inputs)
    for name, value in arrays(model.get_trainable_params()).items():
        np.testing.assert_array_equal(value, before[name])
    model.run_step(inputs)
    _, gradients, _ = step(build(perceptron, config=_config()), inputs)
    for name, value in arrays(model.get_trainable_params()).items():
        assert_close(value, before[name] - np.float32(2 * RATE) * gradients[name])
    model.setup_virtual_batch(1)
    model.export_model(tmp_path / "goes_on.ms", export_inference_only=False)
    other = build(tmp_path / "goes_on.ms", config=_config())
    for _ in range(2):
        assert step(model, inputs)[0] == step(other, inputs)[0]


def test_auto_asks_the_context(perceptron: Path) -> None:
    """Without a wish for float16 it is float32, bit for bit."""
    inputs = _data()
    losses = {level: step(build(perceptron, config=_config(level)), inputs)[0] for level in OptimizationLevel}
    assert losses[OptimizationLevel.AUTO] == losses[OptimizationLevel.O0]
    assert losses[OptimizationLevel.O2] == losses[OptimizationLevel.O3] != losses[OptimizationLevel.O0]


def test_refuses_what_is_no_scale() -> None:
    config = mslite.TrainCfg()
    for wrong in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="loss_scale must be above 0"):
            config.mix_precision_cfg.loss_scale = wrong
    with pytest.raises(TypeError, match="mix_precision_cfg must be MixPrecisionCfg"):
        config.mix_precision_cfg = 128  # type: ignore[assignment]
    config.mix_precision_cfg.loss_scale = 1024
    assert repr(config) == "TrainCfg(mix_precision_cfg.loss_scale=1024.0)"
