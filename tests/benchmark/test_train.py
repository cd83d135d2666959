"""`benchmark_train`: what it prints, compares, exports and refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from tests.training.files import ONE_LAYER, batch, build, needs_models, step

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark" / "benchmark_train"
pytestmark = needs_models


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A copy under a name that trains, and inputs of two batches beside it."""
    path = tmp_path / "net_train.ms"
    shutil.copy(ONE_LAYER, path)
    model = build(path)
    for number, pair in enumerate(zip(batch(model, 0), batch(model, 1), strict=True), start=1):
        np.concatenate(pair).tofile(tmp_path / f"in{number}.bin")
    return path


def test_trains_and_compares(file: Path) -> None:
    """After one epoch of two steps, evaluation of the first batch is what the Python API gives."""
    model = build(file)
    first = batch(model, 0)
    step(model, first)
    step(model, batch(model, 1))
    model.set_train_mode(False)
    (expected,) = model.predict(first)
    expected.get_data_to_numpy().tofile(file.parent / "out1.bin")
    flags = [f"--modelFile={file}", f"--inDataFile={file.parent}/in", f"--expectedDataFile={file.parent}/out"]
    done = run(*flags, "--accuracyThreshold=0.0001")
    assert done.returncode == 0, done.stderr
    for line in (
        rf"Build mindspore model from model file{file}",
        r"PrepareTime = [0-9.e-]+ ms",
        r"Running train loops\.\.\.",
        r"Loss [^:]+: [0-9.e-]+ in the first step, [0-9.e-]+ in the last",
        r"Model = net_train\.ms, NumThreads = 1, MinRunTime = [0-9.]+ ms, MaxRuntime = [0-9.]+ ms, AvgRunTime = [0-9.]+ ms",
        r"================ Comparing Forward Output data ================",
        r"Out tensor size is: 640",
        r"Mean bias of all nodes/tensors: 0% threshold is:0\.0001",
        r"Arena allocation: [1-9][0-9]*",
        r"Run NetTrain net_train\.ms Success\.",
        r"VmHWM: [1-9][0-9]* kB",
    ):
        assert re.search(f"^{line}$", done.stdout, re.MULTILINE), line
    # Another step, and the outputs are others.
    done = run(*flags, "--warmUpLoopCount=1")
    assert done.returncode == 1
    assert "Mean bias of all nodes/tensors is too big" in done.stderr
    assert f"Run NetTrain {file} Failed : -1" in done.stderr


def test_gives_gradients_up(file: Path) -> None:
    """The same weights with either setting, to the last bit of the files."""
    for keep in ("true", "false"):
        done = run(
            f"--modelFile={file}", f"--inDataFile={file.parent}/in", f"--keepGradients={keep}",
            f"--exportFile={file.parent}/{keep}_train",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (file.parent / "true_train.ms").read_bytes() == (file.parent / "false_train.ms").read_bytes()


def test_a_threshold_that_is_no_number(file: Path) -> None:
    """It would pass every comparison."""
    for threshold in ("nan", "inf"):
        done = run(f"--modelFile={file}", f"--accuracyThreshold={threshold}")
        assert done.returncode == 2
        assert f"--accuracyThreshold={threshold}: expected a finite number" in done.stderr


def test_exports(file: Path) -> None:
    """The four files are there, are run again, and hold what was trained."""
    done = run(
        f"--modelFile={file}",
        f"--inDataFile={file.parent}/in",
        "--epochs=2",
        f"--exportFile={file.parent}/next_train",
        f"--inferenceFile={file.parent}/net",
    )
    assert done.returncode == 0, done.stderr
    assert "ExportInference() execution time is " in done.stdout
    assert done.stdout.count("PrepareTime") == 5
    model = build(file)
    for seed in (0, 1, 0, 1):
        step(model, batch(model, seed))
    exported = build(file.parent / "next_train.ms")
    for found, expected in zip(exported.get_trainable_params(), model.get_trainable_params(), strict=True):
        np.testing.assert_array_equal(found.get_data_to_numpy(), expected.get_data_to_numpy())
    for name in ("net", "net_qt", "next_train_qt"):
        other = mslite.Model()
        other.build_from_file(file.parent / f"{name}.ms", mslite.ModelType.MINDIR)


def test_profile_sums_and_virtual_batch(file: Path) -> None:
    done = run(f"--modelFile={file}", "--epochs=3", "--timeProfiling")
    assert done.returncode == 0
    assert re.search(r"^ApplyMomentum\s.*\s6\s", done.stdout, re.MULTILINE)
    done = run(f"--modelFile={file}", "--epochs=3", "--layerCheckSum")
    assert len(re.findall(r"^ApplyMomentum .* sum ", done.stdout, re.MULTILINE)) == 4  # weights and moments
    done = run(f"--modelFile={file}", "--epochs=3", "--virtualBatch", f"--exportFile={file.parent}/next_train")
    assert done.returncode == 0, done.stderr


def test_evaluates_other_names(file: Path) -> None:
    """A name without "train" is not trained, and that is said; evaluation alone is the original's."""
    other = file.parent / "net.ms"
    shutil.copy(file, other)
    done = run(f"--modelFile={other}")
    assert done.returncode == 1
    assert "is not trained: its file name does not contain" in done.stderr
    assert "Success" not in done.stdout
    done = run("--modelFile", str(other), "--epochs", "0")
    assert done.returncode == 0
    assert f"start reading model file {other}" in done.stdout
    assert "Running train loops" not in done.stdout
    done = run(f"--modelFile={other}", f"--exportFile={file.parent}/x")
    assert done.returncode == 1
    assert 'does not contain "train"' in done.stderr


def test_refused(file: Path) -> None:
    wrong = {
        (): "modelPath is required",
        ("--epochs=-1", f"--modelFile={file}"): "--epochs must not be negative",
        (f"--modelFile={file}", "--epoch=3"): "did you mean --epochs?",
    }
    for arguments, message in wrong.items():
        done = run(*arguments)
        assert done.returncode == 2
        assert message in done.stderr
    (file.parent / "short1.bin").write_bytes(bytes(100))
    failing = {
        f"--inDataFile={file.parent}/none": "none1.bin",
        f"--inDataFile={file.parent}/short": "not a multiple of the 2880",
        f"--expectedDataFile={file.parent}/short": "Output buffer and output file differ by size",
        "--lossName=other": "no node is the loss",
        "--exportFile=/no/such/folder/x": "/no/such/folder/x",
    }
    for flag, message in failing.items():
        done = run(f"--modelFile={file}", flag)
        assert done.returncode == 1
        assert message in done.stderr


def test_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "benchmark_train --modelFile=lenet_train.ms --epochs=100" in done.stdout
