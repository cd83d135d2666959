"""examples/federated: a model that three processes of Flower train together."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main as converter_lite

from .files import Array

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FEDERATED = EXAMPLES / "federated"
SECONDS = 900
sys.path.insert(0, str(FEDERATED))

from learner import Learner  # noqa: E402

needs_flower = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("flwr") is None, reason="flwr is not installed"),
]


def _convert(file: Path, *flags: str) -> Path:
    """The digits' network, for batches of 16."""
    model = f"--modelFile={EXAMPLES / 'digits' / 'digits.onnx'}"
    assert converter_lite([model, f"--outputFile={file}", "--inputShape=image:16,1,8,8", *flags]) == 0
    return file


@pytest.fixture(scope="module")
def training_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("federated") / "digits.ms"
    return _convert(file, "--trainModel=true", f"--configFile={FEDERATED / 'train.cfg'}")


def _federate(model: Path, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(mslite.__file__).parents[1]), "TMPDIR": str(folder)}
    command = [sys.executable, FEDERATED / "federate.py", model, f"--out={folder / 'out'}", *flags]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)


def _assert_no_process_of(folder: Path) -> None:
    """None is left that was started with its files in the folder."""
    left = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"FLWR_HOME={folder}".encode() in environment.read_bytes():
                left.append((environment.parent / "cmdline").read_bytes())
        except OSError:
            continue  # ended meanwhile
    assert not left


def _accuracy(model_file: Path, images: Array, labels: Array) -> float:
    """Of a model for inference."""
    model = mslite.Model()
    model.build_from_file(model_file, mslite.ModelType.MINDIR)
    right = 0
    for i in range(0, len(images), 16):
        (scores,) = model.predict([images[i : i + 16]])
        right += int((scores.get_data_to_numpy().argmax(axis=1) == labels[i : i + 16]).sum())
    return right / len(images)


def test_learner(training_file: Path, tmp_path: Path) -> None:
    """Weights travel; what is trained first can be evaluated, and exported."""
    with np.load(EXAMPLES / "digits" / "digits_test.npz") as data:
        images = np.ascontiguousarray(data["images"].transpose(0, 2, 3, 1))[:352]
        labels = data["labels"].astype(np.int32)[:352]
    learner, other = Learner(training_file), Learner(training_file)
    random = np.random.default_rng(0)
    learner.weights = {
        name: random.standard_normal(weight.shape).astype(np.float32) * 0.1 for name, weight in learner.weights.items()
    }
    first = learner.train(images, labels, 1)
    assert learner.train(images, labels, 9) < 0.5 * first
    accuracy = learner.accuracy(images, labels)
    assert accuracy > 0.8
    other.weights = learner.weights
    assert other.accuracy(images, labels) == accuracy
    learner.export(tmp_path / "digits.ms")
    assert _accuracy(tmp_path / "digits.ms", images, labels) == accuracy


class TestFederation:
    pytestmark = needs_flower

    def test_two_rounds(self, training_file: Path, tmp_path: Path) -> None:
        """Every client trains in each round, accuracy rises on digits that no single client has, nothing keeps running."""
        from federate import CLIENTS, write_data

        rounds, noise = 2, 0.02
        flags = (f"--rounds={rounds}", "--epochs=4", "--clipping-norm=3", f"--noise-multiplier={noise}")
        run = _federate(training_file, tmp_path, *flags)
        assert run.returncode == 0, run.stdout + run.stderr
        _assert_no_process_of(tmp_path)
        reports = json.loads((tmp_path / "out" / "report.json").read_text())
        write_data(tmp_path)
        with np.load(tmp_path / "test.npz") as test:
            for name in ("averaged", "private"):
                report = reports[name]
                assert report["clients"] == [list(range(CLIENTS))] * rounds
                assert len(report["accuracy"]) == 1 + rounds
                assert report["accuracy"][-1] > report["accuracy"][0] + 0.2
                found = _accuracy(tmp_path / "out" / f"{name}.ms", test["images"], test["labels"])
                assert found == report["accuracy"][-1]
        assert reports["averaged"]["epsilon"] is None
        # Rounds of Gaussian noise are rounds / (2 noise^2)-zCDP (Bun and Steinke, 2016, propositions 1.3 and 1.6).
        rho = rounds / (2 * noise**2)
        expected = rho + 2 * math.sqrt(rho * math.log(1 / reports["private"]["delta"]))
        assert reports["private"]["epsilon"] == pytest.approx(expected, rel=0.05)
        picture = ElementTree.fromstring((tmp_path / "out" / "accuracy.svg").read_text())
        lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
        assert [len(line.get("points", "").split()) for line in lines] == [1 + rounds] * 2

    def test_model_that_does_not_learn(self, tmp_path: Path) -> None:
        """A file for inference is refused with the reason, and nothing keeps running."""
        run = _federate(_convert(tmp_path / "digits.ms"), tmp_path)
        assert run.returncode == 1
        assert "federate.py: the training failed" in run.stderr
        assert "no node is the loss" in run.stderr
        _assert_no_process_of(tmp_path)
