"""Generated projects that train: the same losses, step by step, as the same steps in NumPy; weights that go out and in again."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mslite
from mslite.codegen.cli import main
from mslite.codegen.targets import target_named
from mslite.codegen.training import TrainSource, generate_training
from mslite.codegen.training.trained import trained_model
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import save
from mslite.converter.training import Loss, Optimizer, TrainSettings

from .training_reference import Array, Layer, Trainer, autoencoder, lenet, sparse_cross_entropy, squared_error

BATCH, STEPS = 16, 20
RATES = {Optimizer.SGD: 0.2, Optimizer.MOMENTUM: 0.05, Optimizer.NESTEROV: 0.05, Optimizer.ADAM: 0.003}
SANITIZED = "CFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


def _digits() -> tuple[Array, Array]:
    """Whole batches of images of handwritten digits [n, 8, 8, 1] in 0 ... 1, and what they show."""
    images, labels = load_digits(return_X_y=True)
    count = len(images) // BATCH * BATCH
    return images[:count].reshape(-1, 8, 8, 1) / 16, labels[:count]


class Project:
    """A generated project, and runs of its training program."""

    def __init__(self, model: Path, settings: TrainSettings, folder: Path, target: str = "x86", *options: str) -> None:
        chosen = target_named(target)
        for program in (chosen.compiler, *chosen.emulator[:1]):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed")
        self.folder, self.emulator = folder, list(chosen.emulator)
        generate_training(TrainSource(model, settings), chosen, folder, measured=False)
        self.make("all", "test", *options)

    def make(self, *arguments: str) -> None:
        done = subprocess.run(
            ["make", "-s", "-C", str(self.folder), *arguments], capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        assert "as recorded" in done.stdout + done.stderr

    def train(
        self, x: Array, labels: Array, steps: int, weights: str = "src/net0.bin", out: str = "out.bin"
    ) -> list[float]:
        """The losses of `steps` steps."""
        x.astype(np.float32).tofile(self.folder / "x.bin")
        labels.astype(np.int32 if labels.ndim == 1 else np.float32).tofile(self.folder / "label.bin")
        command = [*self.emulator, "build/train", weights, str(steps), out, "x.bin", "label.bin"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return [float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()]

    def infer(self, weights: str, x: Array, file: Path) -> Array:
        """What the runtime computes with exported weights."""
        save(trained_model(self.folder, self.folder / weights), file)
        model = mslite.Model()
        model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, mslite.Context())
        inputs = model.get_inputs()
        inputs[0].set_data_from_numpy(x.astype(np.float32))
        return np.array(model.predict(inputs)[0].get_data_to_numpy(), np.float64)


def _expected(
    layers: list[Layer], settings: TrainSettings, x: Array, labels: Array, steps: int
) -> tuple[Trainer, list[float]]:
    loss = sparse_cross_entropy if settings.loss is Loss.SPARSE_SOFTMAX else squared_error
    trainer = Trainer(layers, loss, settings.optimizer.value, settings.learning_rate, decay=settings.weight_decay)
    batches = [slice(first, first + BATCH) for first in range(0, len(x), BATCH)]
    chosen = [batches[step % len(batches)] for step in range(steps)]
    return trainer, [trainer.step(x[batch].astype(np.float32).astype(np.float64), labels[batch]) for batch in chosen]


def _same_weights(project: Project, file: str, layers: list[Layer]) -> None:
    """The exported parameters are those of the reference, layer by layer."""
    known = json.loads((project.folder / "training" / "parameters.json").read_text())
    data = (project.folder / file).read_bytes()
    assert len(data) == known["size"]
    ours = [
        np.frombuffer(data, np.float32, int(np.prod(one["shape"])), one["offset"]).reshape(one["shape"])
        for one in known["variables"]
        if one["is_parameter"]
    ]
    wanted = [weight for layer in layers for weight in layer.weights]
    assert sorted(one.size for one in ours) == sorted(one.size for one in wanted)
    for weight in wanted:
        likely = [one for one in ours if one.size == weight.size]
        distances = [np.abs(np.sort(one, axis=None) - np.sort(weight, axis=None)).max() for one in likely]
        assert min(distances) < 1e-4 * np.abs(weight).max()


@pytest.mark.parametrize("optimizer", [Optimizer.SGD, pytest.param(Optimizer.ADAM, marks=pytest.mark.slow)])
def test_lenet(optimizer: Optimizer, tmp_path: Path) -> None:
    layers = lenet(tmp_path / "lenet.onnx", BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, optimizer, RATES[optimizer])
    compiler = "clang" if optimizer is Optimizer.ADAM and shutil.which("clang") else "gcc"
    project = Project(tmp_path / "lenet.onnx", settings, tmp_path / "project", "x86", f"CC={compiler}", SANITIZED)
    x, labels = _digits()
    losses = project.train(x, labels, STEPS)
    trainer, expected = _expected(layers, settings, x, labels, STEPS)
    assert np.abs(np.array(losses) - expected).max() < 1e-5 * max(expected)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    _same_weights(project, "out.bin", layers)
    ours = project.infer("out.bin", x[:BATCH], tmp_path / "trained.ms")
    logits = trainer.results(x[:BATCH])
    wanted = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.abs(ours - wanted).max() < 1e-5


def test_training_goes_on_where_it_was(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.ADAM, 0.003)
    project = Project(tmp_path / "lenet.onnx", settings, tmp_path / "project")
    x, labels = _digits()
    at_once = project.train(x, labels, 8, out="at_once.bin")
    first = project.train(x, labels, 5, out="first.bin")
    then = project.train(np.roll(x, -5 * BATCH, axis=0), np.roll(labels, -5 * BATCH), 3, "first.bin", "then.bin")
    assert [*first, *then] == at_once
    assert (project.folder / "then.bin").read_bytes() == (project.folder / "at_once.bin").read_bytes()
    assert (project.folder / "then.bin").read_bytes() != (project.folder / "src" / "net0.bin").read_bytes()


def test_digits_are_learned(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.ADAM, 0.003)
    project = Project(tmp_path / "lenet.onnx", settings, tmp_path / "project")
    x, labels = _digits()
    held = 10 * BATCH
    losses = project.train(x[held:], labels[held:], 2000)
    assert np.mean(losses[-20:]) < 0.3 < np.mean(losses[:20])
    right = 0
    for first in range(0, held, BATCH):
        ours = project.infer("out.bin", x[first : first + BATCH], tmp_path / "trained.ms")
        right += int((ours.argmax(axis=1) == labels[first : first + BATCH]).sum())
    assert right > 0.9 * held


@pytest.mark.parametrize(
    ("optimizer", "decay"),
    [
        pytest.param(Optimizer.NESTEROV, 0.0, marks=pytest.mark.slow),
        (Optimizer.ADAM, 0.01),
        pytest.param(Optimizer.MOMENTUM, 0.01, marks=pytest.mark.slow),
        pytest.param(Optimizer.ADAMW, 0.01, marks=pytest.mark.slow),
        pytest.param(Optimizer.RMSPROP, 0.0, marks=pytest.mark.slow),
    ],
)
def test_autoencoder(optimizer: Optimizer, decay: float, tmp_path: Path) -> None:
    layers = autoencoder(tmp_path / "autoencoder.onnx", BATCH)
    settings = TrainSettings(
        Loss.SQUARED,
        optimizer,
        0.1 if optimizer in (Optimizer.NESTEROV, Optimizer.MOMENTUM) else 0.003,
        weight_decay=decay,
    )
    project = Project(tmp_path / "autoencoder.onnx", settings, tmp_path / "project", "x86", SANITIZED)
    x, _ = _digits()
    flat = x.reshape(len(x), -1)
    losses = project.train(flat, flat, STEPS)
    _, expected = _expected(layers, settings, flat, flat, STEPS)
    assert np.abs(np.array(losses) - expected).max() < 1e-5 * max(expected)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


@pytest.mark.parametrize(
    "target", ["arm64", pytest.param("arm32", marks=pytest.mark.slow), pytest.param("x86-avx2", marks=pytest.mark.slow)]
)
def test_targets(target: str, tmp_path: Path) -> None:
    layers = lenet(tmp_path / "lenet.onnx", BATCH)
    settings = TrainSettings(Loss.SPARSE_SOFTMAX, Optimizer.MOMENTUM, 0.05)
    project = Project(tmp_path / "lenet.onnx", settings, tmp_path / "project", target)
    x, labels = _digits()
    losses = project.train(x, labels, 8)
    _, expected = _expected(layers, settings, x, labels, 8)
    assert np.abs(np.array(losses) - expected).max() < 1e-5 * max(expected)


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "lenet.onnx"
    lenet(model, 1)
    out = [f"--output={tmp_path / 'project'}"]
    assert main([str(model), "--learningRate=0.1", *out]) == 2
    assert "--learningRate needs --train" in capsys.readouterr().err
    for flag in ("--optimizer=Adadelta", "--learningRate=-1", "--learningRate=nan", "--batchSize=1.5", "--momentum=2"):
        assert main([str(model), "--train", flag, *out]) == 2
        assert "INPUT ILLEGAL" in capsys.readouterr().err
    assert main([str(model), "--train", "--memory=min", *out]) == 3
    assert "training with --memory=min is unsupported" in capsys.readouterr().err
    assert main([str(model), "--train", "--padToMaxOutputSize", *out]) == 3
    assert "training with --padToMaxOutputSize is unsupported" in capsys.readouterr().err
    assert main([str(model), "--train", "--frozen=nothing", *out]) == 1
    assert "frozen names 'nothing', which is no constant and no layer of the model" in capsys.readouterr().err
    assert not (tmp_path / "project").exists()


def test_weights_of_another_model(tmp_path: Path) -> None:
    autoencoder(tmp_path / "autoencoder.onnx", BATCH)
    settings = TrainSettings(Loss.SQUARED)
    project = Project(tmp_path / "autoencoder.onnx", settings, tmp_path / "project")
    for name, data in (
        ("short.bin", b"\0" * 10),
        ("long.bin", (project.folder / "src" / "net0.bin").read_bytes() + b"\0"),
    ):
        (project.folder / name).write_bytes(data)
        command = ["build/train", name, "1", "out.bin", "x.bin", "label.bin"]
        done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode != 0
        assert "does not contain the weights of this model" in done.stderr
        with pytest.raises(ConversionError, match="bytes; the weights of"):
            trained_model(project.folder, project.folder / name)
    for steps, *rest in (
        ("1",),
        ("-1", "x.bin", "label.bin"),
        ("1x", "x.bin", "label.bin"),
        ("", "x.bin", "label.bin"),
    ):
        command = ["build/train", "src/net0.bin", steps, "out.bin", *rest]
        done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert "usage: build/train WEIGHTS_IN STEPS WEIGHTS_OUT" in done.stderr
    assert not (project.folder / "out.bin").exists()
