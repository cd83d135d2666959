"""Training by the Python API: modes, gradients, virtual batches, files, and what is refused."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mslite

from .files import LENET, ONE_LAYER, Array, arrays, assert_close, batch, build, needs_models, step

pytestmark = needs_models

_GO_ON = """
import sys
from tests.training.files import build
from pathlib import Path

model = build(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    model.export_model(sys.argv[2], export_inference_only=False)
"""


def _weights(model: mslite.Model) -> dict[str, Array]:
    return arrays(model.get_trainable_params())


def _assert_same(found: dict[str, Array], expected: dict[str, Array]) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def test_modes() -> None:
    """A model evaluates until it is told to train; evaluation leaves the weights and sees what steps make of them."""
    model = build(ONE_LAYER, train=False)
    inputs = batch(model)
    assert not model.get_train_mode()
    with pytest.raises(RuntimeError, match="set_train_mode"):
        model.run_step(inputs)
    before = _weights(model)
    model.predict(inputs)
    _assert_same(_weights(model), before)
    model.set_train_mode(True)
    assert model.get_train_mode()
    losses = [step(model, inputs)[0] for _ in range(10)]
    assert losses[-1] < 0.5 * losses[0]
    model.set_train_mode(False)
    (logits,) = (tensor.get_data_to_numpy().astype(np.float64) for tensor in model.predict(inputs))
    # What evaluation gives is what the loss of the next step is computed of.
    logits -= logits.max(axis=1, keepdims=True)
    expected = (np.log(np.exp(logits).sum(axis=1)) - (inputs[1] * logits).sum(axis=1)).mean()
    model.set_train_mode(True)
    assert abs(step(model, inputs)[0] - expected) <= 1e-5 * max(1, expected)


def test_steps_by_momentum() -> None:
    """Against NumPy in float64: the gradient of the bias is the sum of the input's over everything but channels."""
    model = build(ONE_LAYER)
    weights = {name: values.astype(np.float64) for name, values in _weights(model).items()}
    sums = {name: np.zeros_like(values) for name, values in weights.items()}
    for seed in range(3):
        inputs = batch(model, seed)
        x, labels = (values.astype(np.float64) for values in inputs)
        padded = np.pad(x + weights["bias"], [(0, 0), (1, 1), (1, 1), (0, 0)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(1, 2))  # n, h, w, channel, kernel
        logits = np.einsum("nhwcij,oijc->nohw", windows, weights["layer.weight"]).reshape(len(x), -1)
        logits -= logits.max(axis=1, keepdims=True)
        logarithms = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        error = ((np.exp(logarithms) - labels) / len(x)).reshape(len(x), -1, 4, 4)
        scattered = np.zeros_like(padded)
        for i in range(5):
            for j in range(5):
                part = np.einsum("nohw,oc->nhwc", error, weights["layer.weight"][:, i, j, :])
                scattered[:, i : i + 4, j : j + 4] += part
        expected = {
            "bias": scattered[:, 1:-1, 1:-1].sum(axis=(0, 1, 2)),
            "layer.weight": np.einsum("nhwcij,nohw->oijc", windows, error),
        }
        loss, gradients, updated = step(model, inputs)
        assert abs(loss + (labels * logarithms).sum(axis=1).mean()) <= 1e-6 * abs(loss)
        for name, gradient in expected.items():
            assert_close(gradients[name], gradient)
            sums[name] = 0.9 * sums[name] + gradient
            weights[name] -= 0.1 * sums[name]
            assert_close(updated[name], weights[name])


def test_threads_give_the_same_bits() -> None:
    results = []
    for threads in (1, 2, 3):
        context = mslite.Context()
        context.cpu.thread_num = threads
        model = mslite.Model()
        model.build_from_file(LENET, mslite.ModelType.MINDIR, context, train_cfg=mslite.TrainCfg())
        model.set_train_mode(True)
        for seed in range(3):
            step(model, batch(model, seed))
        results.append(_weights(model))
    for result in results[1:]:
        _assert_same(result, results[0])


@pytest.mark.parametrize("path", [ONE_LAYER, LENET], ids=["one layer", "LeNet"])
def test_checkpoints_go_on(path: Path, tmp_path: Path) -> None:
    """Steps after a checkpoint are the same, bit for bit, in the model that wrote it and in one that reads it."""
    model = build(path)
    for seed in range(3):
        step(model, batch(model, seed))
    model.set_learning_rate(0.01)
    model.export_model(tmp_path / "checkpoint", export_inference_only=False)
    other = build(tmp_path / "checkpoint.ms")
    assert other.get_learning_rate() == model.get_learning_rate() == np.float32(0.01)
    for seed in range(3, 6):
        assert step(other, batch(other, seed))[0] == step(model, batch(model, seed))[0]
        _assert_same(_weights(other), _weights(model))


@pytest.mark.parametrize("path", [ONE_LAYER, LENET], ids=["one layer", "LeNet"])
def test_inference_export(path: Path, tmp_path: Path) -> None:
    model = build(path)
    inputs = batch(model)
    for _ in range(3):
        step(model, inputs)
    model.set_train_mode(False)
    (expected,) = model.predict(inputs)
    model.export_model(tmp_path / "inference.ms")
    other = mslite.Model()
    other.build_from_file(tmp_path / "inference.ms", mslite.ModelType.MINDIR)
    assert [tensor.name for tensor in other.get_inputs()] == ["inputs0"]
    (found,) = other.predict(inputs[:1])
    assert_close(found.get_data_to_numpy(), expected.get_data_to_numpy())
    assert (tmp_path / "inference.ms").stat().st_size < path.stat().st_size


@pytest.mark.parametrize("path", [ONE_LAYER, LENET], ids=["one layer", "LeNet"])
def test_quantized_exports(path: Path, tmp_path: Path) -> None:
    """Weights in 8 bits: smaller files, nearly the same outputs; a training file of them trains on."""
    model = build(path)
    inputs = batch(model)
    for _ in range(3):
        step(model, inputs)
    model.set_train_mode(False)
    (expected,) = (tensor.get_data_to_numpy() for tensor in model.predict(inputs))
    for name, inference_only in (("inference", True), ("training", False)):
        model.export_model(tmp_path / f"{name}.ms", export_inference_only=inference_only)
        model.export_model(tmp_path / f"{name}_qt.ms", mslite.QuantizationType.WEIGHT_QUANT, inference_only)
        saved = (tmp_path / f"{name}.ms").stat().st_size - (tmp_path / f"{name}_qt.ms").stat().st_size
        assert saved > 0.1 * path.stat().st_size
        other = mslite.Model()
        other.build_from_file(tmp_path / f"{name}_qt.ms", mslite.ModelType.MINDIR)
        (found,) = other.predict(inputs[: len(other.get_inputs())])
        assert_close(found.get_data_to_numpy(), expected, 0.01)
    other = build(tmp_path / "training_qt.ms", train=False)
    (found,) = other.predict(inputs)
    assert_close(found.get_data_to_numpy(), expected, 0.01)
    other.set_train_mode(True)
    step(other, inputs)
    other.export_model(tmp_path / "again.ms", export_inference_only=False)
    again = build(tmp_path / "again.ms")
    assert step(again, inputs)[0] == step(other, inputs)[0]
    _assert_same(_weights(again), _weights(other))


def test_export_of_an_inner_tensor(tmp_path: Path) -> None:
    model = build(LENET, train=False)
    name = "Default/network-WithLossCell/_backbone-LeNet5/flatten-Flatten/Reshape-op89"
    model.export_model(tmp_path / "features.ms", output_tensor_name=[name])
    other = mslite.Model()
    other.build_from_file(tmp_path / "features.ms", mslite.ModelType.MINDIR)
    assert [(tensor.name, tensor.shape) for tensor in other.get_outputs()] == [(name, [2, 400])]
    with pytest.raises(RuntimeError, match="no such tensor"):
        model.export_model(tmp_path / "none.ms", output_tensor_name=["no such tensor"])
    assert not (tmp_path / "none.ms").exists()


def test_virtual_batch() -> None:
    """Two steps of one update: the sum of the gradients, at the given learning rate."""
    model, other = build(ONE_LAYER), build(ONE_LAYER)
    model.setup_virtual_batch(2, learning_rate=0.05)
    before = _weights(model)
    sums: dict[str, Array] = {}
    for seed in range(2):
        inputs = batch(model, seed)
        model.run_step(inputs)
        # The weights are those of the start until the last of the steps.
        other.update_feature_maps([mslite.Tensor.from_numpy(values, name) for name, values in before.items()])
        _, gradients, _ = step(other, inputs)
        sums = {name: sums.get(name, 0) + values for name, values in gradients.items()}
        if seed == 0:
            _assert_same(_weights(model), before)
    for name, weight in _weights(model).items():
        assert_close(weight, before[name] - 0.05 * sums[name])
    assert model.get_learning_rate() == np.float32(0.05)
    model.setup_virtual_batch(4)
    assert model.get_learning_rate() == np.float32(0.1) / 4
    model.setup_virtual_batch(1)
    assert model.get_learning_rate() == np.float32(0.1)
    model.run_step(batch(model))
    assert any((weight != before[name]).any() for name, weight in _weights(model).items())


def test_accumulated_gradients() -> None:
    """With `accumulate_gradients` steps only add; the caller updates, with gradients of its own making if it likes."""
    config = mslite.TrainCfg()
    config.accumulate_gradients = True
    model, other = build(ONE_LAYER, config=config), build(ONE_LAYER)
    before = _weights(model)
    assert model.get_gradients() == []
    inputs = batch(model)
    model.run_step(inputs)
    model.run_step(inputs)
    _assert_same(_weights(model), before)
    sums = model.get_gradients()
    _, gradients, after = step(other, inputs)
    for total, single in zip(sums, gradients.values(), strict=True):
        np.testing.assert_array_equal(total.get_data_to_numpy(), 2 * single)
    halves = [mslite.Tensor.from_numpy(total.get_data_to_numpy() / 2, total.name) for total in sums]
    model.apply_gradients(halves)
    _assert_same(_weights(model), after)
    assert model.get_gradients() == []
    with pytest.raises(RuntimeError, match=r"gradient .* is missing"):
        model.apply_gradients(halves[:1])
    with pytest.raises(RuntimeError, match="'x' is not a gradient of the model"):
        model.apply_gradients([mslite.Tensor.from_numpy(np.zeros(3, np.float32), "x"), *halves])


@pytest.mark.parametrize("path", [ONE_LAYER, LENET], ids=["one layer", "LeNet"])
def test_gradients_are_given_up_where_asked(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same losses and weights without them; what adds gradients has them still."""
    config = mslite.TrainCfg()
    assert config.keep_gradients is True
    config.keep_gradients = False
    gives_up, keeps = build(path, config=config), build(path)
    for seed in range(3):
        inputs = batch(keeps, seed)
        (loss,) = gives_up.run_step(inputs)
        expected, gradients, after = step(keeps, inputs)
        assert float(loss.get_data_to_numpy().item()) == expected
        assert gradients
        _assert_same(_weights(gives_up), after)
    assert gives_up.get_gradients() == []
    said = capfd.readouterr().err
    assert "is trained with TrainCfg::keep_gradients_ = false" in said
    assert "leave keep_gradients_ true" in said
    last = keeps.get_gradients()
    for model in (gives_up, keeps):
        model.apply_gradients(last)
        model.setup_virtual_batch(2)
        for seed in range(4):
            model.run_step(batch(model, seed))
    _assert_same(_weights(gives_up), _weights(keeps))
    config.accumulate_gradients = True
    adds = build(path, config=config)
    adds.run_step(batch(adds))
    (first, *_) = adds.get_gradients()
    np.testing.assert_array_equal(first.get_data_to_numpy(), next(iter(step(build(path), batch(adds))[1].values())))


def test_numbers_of_the_optimizer() -> None:
    model = build(ONE_LAYER)
    assert {name: float(values.item()) for name, values in arrays(model.get_optimizer_params()).items()} == {
        "learning_rate": pytest.approx(0.1),
        "momentum": pytest.approx(0.9),
    }
    model.set_optimizer_params([mslite.Tensor.from_numpy(np.array(0, np.float32), "learning_rate")])
    assert model.get_learning_rate() == 0
    before = _weights(model)
    step(model, batch(model))
    _assert_same(_weights(model), before)


def test_resize_keeps_what_was_learned() -> None:
    """LeNet's file has its batch in constants, so it says which node cannot follow; the model goes on as it was."""
    model = build(LENET)
    step(model, batch(model))
    before = _weights(model)
    with pytest.raises(RuntimeError, match="MatMul-op90"):
        model.resize(model.get_inputs(), [[4, 32, 32, 1], [4, 10]])
    _assert_same(_weights(model), before)
    step(model, batch(model))


_REFUSED: dict[str, tuple[Callable[[mslite.Model], object], type[Exception], str]] = {
    "a rate that is none": (lambda m: m.set_learning_rate(float("nan")), ValueError, "finite"),
    "a negative rate": (lambda m: m.set_learning_rate(-1.0), RuntimeError, "must be finite and not negative"),
    "an unknown weight": (
        lambda m: m.update_feature_maps([mslite.Tensor.from_numpy(np.zeros(1, np.float32), "w")]),
        RuntimeError,
        "'w'",
    ),
    "a weight of another size": (
        lambda m: m.update_feature_maps([mslite.Tensor.from_numpy(np.zeros(1, np.float32), "bias")]),
        RuntimeError,
        "'bias' has 4 bytes",
    ),
    "labels of another size": (
        lambda m: m.run_step([batch(m)[0], np.zeros((4, 7), np.float32)]),
        RuntimeError,
        "SoftmaxCrossEntropyWithLogits",
    ),
    "a folder that is not there": (lambda m: m.export_model("/no/such/folder/m.ms"), RuntimeError, "/no/such/folder"),
    "a batch beyond all": (
        lambda m: m.setup_virtual_batch(2**40),
        ValueError,
        "virtual_batch_multiplier must be at most 2147483647, not 1099511627776",
    ),
    "a rate beyond float32": (lambda m: m.set_learning_rate(10**400), ValueError, "learning_rate must be finite"),
    "a momentum beyond 1": (lambda m: m.setup_virtual_batch(2, 0.1, 1.5), RuntimeError, "momentum .* at most 1"),
    "a scale that is none": (
        lambda m: setattr(mslite.TrainCfg().mix_precision_cfg, "loss_scale", True),
        TypeError,
        "loss_scale must be float",
    ),
    "a misspelled setting": (
        lambda m: setattr(mslite.TrainCfg(), "accumulate_gradient", True),
        AttributeError,
        "TrainCfg has no setting 'accumulate_gradient'; did you mean 'accumulate_gradients'",
    ),
    "a name with a zero in it": (lambda m: m.export_model("a\0b"), ValueError, "null"),
    "a choice that is none": (
        lambda m: setattr(mslite.TrainCfg(), "keep_gradients", 0),
        TypeError,
        "keep_gradients must be bool",
    ),
    "a mode that is none": (lambda m: m.set_train_mode(1), TypeError, "bool"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", _REFUSED)
def test_refused(case: str) -> None:
    """The message says why, and the model learns on."""
    call, error, message = _REFUSED[case]
    model = build(ONE_LAYER)
    with pytest.raises(error, match=message):
        call(model)
    step(model, batch(model))


def test_models_that_do_not_train(tmp_path: Path) -> None:
    """A file for inference has nothing to train; a training file that is built for inference does not train."""
    build(ONE_LAYER, train=False).export_model(tmp_path / "inference.ms")
    with pytest.raises(RuntimeError, match="no node is the loss"):
        build(tmp_path / "inference.ms")
    model = mslite.Model()
    model.build_from_file(tmp_path / "inference.ms", mslite.ModelType.MINDIR)
    with pytest.raises(RuntimeError, match="TrainCfg"):
        model.set_train_mode(True)
    for other, reason in ((model, "built for inference"), (mslite.Model(), "not built")):
        for question in (
            other.get_gradients,
            other.get_trainable_params,
            other.get_feature_maps,
            other.get_optimizer_params,
            other.get_learning_rate,
            lambda other=other: other.run_step([]),
        ):
            with pytest.raises(RuntimeError, match=reason):
                question()
    config = mslite.TrainCfg()
    config.loss_name = ["no such node"]
    with pytest.raises(RuntimeError, match="no such node"):
        build(ONE_LAYER, config=config)


def test_losses_that_are_not_finite(capfd: pytest.CaptureFixture[str]) -> None:
    """A loss that is NaN is given as it is: a program can see it, and go back to its last checkpoint. The log says
    so once."""
    model = build(ONE_LAYER)
    inputs = batch(model)
    inputs[0][0, 0, 0, 0] = np.inf
    for _ in range(3):
        loss, _, _ = step(model, inputs)
        assert not np.isfinite(loss)
    assert capfd.readouterr().err.count("the loss of this step is not finite") == 1
    with pytest.raises(RuntimeError, match=r"'layer\.weight' is not finite"):
        model.export_model("weights.ms", mslite.QuantizationType.WEIGHT_QUANT)


def test_full_disk(tmp_path: Path) -> None:
    """A checkpoint that cannot be written whole leaves the one before, and nothing beside it."""
    model = build(LENET)
    path = tmp_path / "checkpoint.ms"
    model.export_model(path, export_inference_only=False)
    before = path.read_bytes()
    step(model, batch(model))
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(RuntimeError, match="checkpoint"):
            model.export_model(path, export_inference_only=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["checkpoint.ms"]
    build(path)


def test_killed_while_saving(tmp_path: Path) -> None:
    """Whenever the process dies, the checkpoint is one that is whole."""
    path = tmp_path / "checkpoint.ms"
    for seed in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", _GO_ON, str(LENET), str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            while not path.exists():
                assert process.poll() is None
            time.sleep(0.003 * seed)
            process.kill()
        step(build(path), batch(build(path)))
        # What was being written is taken over by who writes next.
        assert set(os.listdir(tmp_path)) <= {"checkpoint.ms", "checkpoint.ms.part"}
    build(path).export_model(path, export_inference_only=False)
    assert os.listdir(tmp_path) == ["checkpoint.ms"]


def test_names_in_use(tmp_path: Path) -> None:
    """Where something else has the name of what is written beside, another one is used; nothing of others is touched."""
    model = build(ONE_LAYER)
    part = tmp_path / "checkpoint.ms.part"
    other = tmp_path / "other"
    other.write_text("theirs")
    for make in (lambda: part.symlink_to(other), lambda: os.link(other, part), part.mkdir, lambda: os.mkfifo(part)):
        make()
        model.export_model(tmp_path / "checkpoint.ms", export_inference_only=False)
        build(tmp_path / "checkpoint.ms")
        assert set(os.listdir(tmp_path)) == {"checkpoint.ms", "checkpoint.ms.part", "other"}
        assert other.read_text() == "theirs"
        if part.is_dir() and not part.is_symlink():
            part.rmdir()
        else:
            part.unlink()


@pytest.mark.parametrize("in_use", [False, True])
def test_exports_are_as_private_as_the_user_wants(in_use: bool, tmp_path: Path) -> None:
    """What was learned from private data is not made readable to others against the umask."""
    if in_use:
        (tmp_path / "m.ms.part").mkdir()
    before = os.umask(0o077)
    try:
        build(ONE_LAYER).export_model(tmp_path / "m.ms")
    finally:
        os.umask(before)
    assert (tmp_path / "m.ms").stat().st_mode & 0o777 == 0o600


def test_what_nobody_trained_is_the_file(tmp_path: Path) -> None:
    """A training model that is exported before the first step is the file that was read, byte for byte."""
    for path in (ONE_LAYER, LENET):
        build(path).export_model(tmp_path / "same.ms", export_inference_only=False)
        assert (tmp_path / "same.ms").read_bytes() == path.read_bytes()
