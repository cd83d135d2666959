"""What needs libmindspore-lite-train.so, and what does without: programs with a copy of the other library, beside which there is none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.training.files import LENET, loss_model, needs_models

BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests" / "runtime" / "run_model"
LIBRARY = "libmindspore-lite.so.0"
TRAINING = BUILD / "lite_runtime" / "libmindspore-lite-train.so.0"

pytestmark = pytest.mark.skipif(
    not PROGRAM.is_file() or not TRAINING.is_file(), reason="there is no run_model, or no training library"
)


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder with a copy of the library for inference."""
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / LIBRARY).write_bytes((BUILD / "lite_runtime" / LIBRARY).read_bytes())
    return folder


def run(model: Path, inputs: list[Path], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`model` run with the libraries of `folder`."""
    command = [PROGRAM, model, model.with_suffix(""), "2", *inputs]
    own = {**os.environ, "LD_LIBRARY_PATH": str(folder), "LD_PRELOAD": str(folder / LIBRARY), **environment}
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def loss(tmp_path: Path) -> tuple[Path, list[Path]]:
    """A model of a loss, and its inputs."""
    (tmp_path / "loss.ms").write_bytes(loss_model())
    files = []
    for number, name in enumerate(("prediction", "target")):
        files.append(tmp_path / f"{name}.npy")
        np.save(files[-1], np.full((2, 3), 3 * number, np.float32))
    return tmp_path / "loss.ms", files


def test_an_operator_of_training_asks_for_the_library(alone: Path, loss: tuple[Path, list[Path]]) -> None:
    done = run(*loss, alone)
    assert done.returncode != 0
    assert "huber" in done.stderr
    assert "SmoothL1Loss" in done.stderr
    assert f"needs {TRAINING.name}: link it to the program, or put it beside libmindspore-lite.so" in done.stderr


def test_the_library_is_found_beside_the_other(alone: Path, loss: tuple[Path, list[Path]]) -> None:
    (alone / TRAINING.name).write_bytes(TRAINING.read_bytes())
    done = run(*loss, alone)
    assert done.returncode == 0, done.stderr
    model, _ = loss
    np.testing.assert_array_equal(np.load(f"{model.with_suffix('')}_0.npy"), np.full((2, 3), 2.5, np.float32))


@needs_models
def test_inference_of_a_training_file_does_without(alone: Path, tmp_path: Path) -> None:
    image = tmp_path / "image.npy"
    np.save(image, np.zeros((2, 32, 32, 1), np.float32))
    (tmp_path / "lenet.ms").write_bytes(LENET.read_bytes())
    done = run(tmp_path / "lenet.ms", [image], alone)
    assert done.returncode == 0, done.stderr


@needs_models
def test_inference_of_a_training_file_does_not_load_it(tmp_path: Path) -> None:
    """Though it lies beside the other."""
    image = tmp_path / "image.npy"
    np.save(image, np.zeros((2, 32, 32, 1), np.float32))
    (tmp_path / "lenet.ms").write_bytes(LENET.read_bytes())
    done = run(tmp_path / "lenet.ms", [image], BUILD / "lite_runtime", LD_DEBUG="files")
    assert done.returncode == 0, done.stderr
    assert LIBRARY in done.stderr
    assert TRAINING.name not in done.stderr
