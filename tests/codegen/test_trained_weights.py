"""ExportWeightsCollaborateWithMicro: what the runtime has trained takes the place of net<i>.bin in generated C."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter import cli
from mslite.converter.errors import ConversionError
from tests.training.files import LENET, Array, batch, build, needs_models

from .test_changeable_weights import CHECK

_DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.onnx"
_OK, _REFUSED = 0, 2


def _project(model: Path, folder: Path, changeable: tuple[str, ...] = ()) -> Path:
    """The generated C, whose recorded runs agree, and the program that runs it with a file of weights."""
    settings = GenerateSettings(target_named("x86"), folder, keep_weights=True, changeable=changeable, measure=False)
    generate([Source(model)], settings)
    done = subprocess.run(["make", "-C", str(folder), "test", "build/libnet.a"], capture_output=True, text=True)
    assert "2 of 2 cases as recorded" in done.stdout, done.stdout + done.stderr
    (folder / "check.c").write_text(CHECK.replace("100000", "1000000"))
    includes = [f"-I{folder}", f"-I{folder}/src", f"-I{folder}/src/include"]
    command = ["gcc", "-fsanitize=address,undefined", *includes, folder / "check.c", folder / "build" / "libnet.a"]
    subprocess.run([*command, "-lm", "-pthread", "-o", folder / "check"], check=True)
    return folder


def _run(project: Path, weights: Path, x: Array) -> tuple[int, Array]:
    """The exit status of the program, and what it computes."""
    x.tofile(project / "x.bin")
    command = [project / "check", weights, project / "x.bin", project / "y.bin", project / "exported.bin"]
    status = subprocess.run(command, check=False).returncode
    return status, np.fromfile(project / "y.bin", np.float32) if status == _OK else np.zeros(0, np.float32)


def _evaluated(model: mslite.Model, inputs: list[Array]) -> Array:
    model.set_train_mode(False)
    (y,) = model.predict(inputs)
    return y.get_data_to_numpy().reshape(-1)


def _close(found: Array, expected: Array, tolerance: float = 1e-5) -> None:
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training file that the converter makes."""
    path = tmp_path_factory.mktemp("digits") / "digits_train.ms"
    configuration = path.with_suffix(".cfg")
    configuration.write_text("[train_param]\nloss=SparseSoftmaxCrossEntropy\noptimizer=Adam\nbatch_size=4\n")
    flags = [f"--modelFile={_DIGITS}", f"--outputFile={path}", "--trainModel=true", f"--configFile={configuration}"]
    assert cli.main(flags) == 0
    return path


def _digits(model: mslite.Model) -> list[Array]:
    draw = np.random.default_rng(1)
    return [draw.random(model.get_inputs()[0].shape, np.float32), np.array([3, 1, 4, 1], np.int32)]


def test_trained_on_the_device(digits: Path, tmp_path: Path) -> None:
    """C made before training computes what the trained model computes, with float32 and with float16 weights."""
    model = build(digits)
    inputs = _digits(model)
    model.export_model(tmp_path / "inference.ms")
    project = _project(tmp_path / "inference.ms", tmp_path / "project")
    net = project / "src" / "model0" / "net0.bin"
    model.export_weights_collaborate_with_micro(tmp_path / "same.bin")
    assert (tmp_path / "same.bin").read_bytes() == net.read_bytes()

    before = _evaluated(model, inputs)
    model.set_train_mode(True)
    for _ in range(10):
        model.run_step(inputs)
    after = _evaluated(model, inputs)
    assert np.abs(after - before).max() > 0.1
    model.export_weights_collaborate_with_micro(tmp_path / "trained.bin")
    model.export_weights_collaborate_with_micro(tmp_path / "halves.bin", enable_fp16=True)
    assert (tmp_path / "halves.bin").stat().st_size == (net.stat().st_size + 4) // 2
    status, found = _run(project, tmp_path / "trained.bin", inputs[0])
    assert status == _OK
    _close(found, after)
    assert (project / "exported.bin").read_bytes() == (tmp_path / "trained.bin").read_bytes()
    status, found = _run(project, tmp_path / "halves.bin", inputs[0])
    assert status == _OK
    _close(found, after, 1e-2)
    assert not np.array_equal(found, _run(project, tmp_path / "trained.bin", inputs[0])[1])


@needs_models
@pytest.mark.nonconforming(
    "weights of the copy that is planned are inputs, which MindSpore Lite does not take in these layouts"
)
def test_a_training_file_of_mindspore(tmp_path: Path) -> None:
    """LeNet, whose file has MindSpore's layouts."""
    model = build(LENET)
    inputs = batch(model)
    model.export_model(tmp_path / "inference.ms")
    project = _project(tmp_path / "inference.ms", tmp_path / "project")
    for seed in range(3):
        model.run_step(batch(model, seed))
    after = _evaluated(model, inputs)
    model.export_weights_collaborate_with_micro(tmp_path / "trained.bin")
    status, found = _run(project, tmp_path / "trained.bin", inputs[0])
    assert status == _OK
    _close(found, after)


def test_some_weights(digits: Path, tmp_path: Path) -> None:
    """changeable_weights_name: the others are part of the program."""
    model = build(digits)
    inputs = _digits(model)
    model.export_model(tmp_path / "inference.ms")
    name = [weight.name for weight in model.get_trainable_params() if len(weight.shape) == 2][-1]
    project = _project(tmp_path / "inference.ms", tmp_path / "project", (name,))
    weight = next(weight for weight in model.get_trainable_params() if weight.name == name)
    changed = np.random.default_rng(2).standard_normal(weight.shape).astype(np.float32)
    model.update_feature_maps([mslite.Tensor.from_numpy(changed, name)])
    model.export_weights_collaborate_with_micro(tmp_path / "changed.bin", changeable_weights_name=[name])
    assert (tmp_path / "changed.bin").read_bytes()[:-4] == changed.tobytes()
    status, found = _run(project, tmp_path / "changed.bin", inputs[0])
    assert status == _OK
    _close(found, _evaluated(model, inputs))
    # All of them, or others of the same size, are not what this program reads.
    model.export_weights_collaborate_with_micro(tmp_path / "all.bin")
    assert _run(project, tmp_path / "all.bin", inputs[0])[0] == _REFUSED
    (tmp_path / "other.bin").write_bytes((tmp_path / "changed.bin").read_bytes()[:-1] + b"?")
    assert _run(project, tmp_path / "other.bin", inputs[0])[0] == _REFUSED


def test_refused(digits: Path, tmp_path: Path) -> None:
    model = build(digits)
    path = tmp_path / "net0.bin"
    with pytest.raises(RuntimeError, match="for inference only"):
        model.export_weights_collaborate_with_micro(path, is_inference=False)
    with pytest.raises(
        RuntimeError, match=r"nobody is not a float32 weight; the float32 weights of the model are .*conv1"
    ):
        model.export_weights_collaborate_with_micro(path, changeable_weights_name=["nobody"])
    with pytest.raises(RuntimeError, match="/no/such/folder"):
        model.export_weights_collaborate_with_micro("/no/such/folder/net0.bin")
    with pytest.raises(RuntimeError, match="the file name is empty"):
        model.export_weights_collaborate_with_micro("")
    first = model.get_trainable_params()[0]
    large = np.full(first.shape, 1e6, np.float32)
    model.update_feature_maps([mslite.Tensor.from_numpy(large, first.name)])
    with pytest.raises(RuntimeError, match=r"holds 1e\+06, which is beyond float16"):
        model.export_weights_collaborate_with_micro(path, enable_fp16=True)
    assert not path.exists()
    model.export_model(tmp_path / "inference.ms")
    inference = mslite.Model()
    inference.build_from_file(tmp_path / "inference.ms", mslite.ModelType.MINDIR)
    with pytest.raises(RuntimeError, match="TrainCfg"):
        inference.export_weights_collaborate_with_micro(path)
    with pytest.raises(ConversionError, match="nobody is not a float32 weight"):
        _project(tmp_path / "inference.ms", tmp_path / "project", ("nobody",))
