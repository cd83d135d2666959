"""What is promised of trained models: at most half a point of top-1, on labels that no quantiser saw, in integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.models.trained import voices
from tests.models.trained.dataset import CALIBRATION_SAMPLES, DataMissing, is_held_out

from . import ours
from .measure import Result, measure
from .tasks import TRAINED, TRAINED_TASKS, Task


def task_of(name: str) -> Task:
    if name == "ds_cnn" and not (voices.cache_folder() / "voices").is_dir():
        pytest.skip("the recordings are not there; python -m tests.accuracy ds_cnn downloads them")
    if not (TRAINED / f"{name}.onnx").is_file():
        pytest.skip(f"{name}.onnx is not trained yet")
    try:
        return TRAINED_TASKS[name]()
    except DataMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=list(TRAINED_TASKS))
def result(request: pytest.FixtureRequest) -> Result:
    return measure(task_of(request.param), "mslite")


def test_top1_stays(result: Result) -> None:
    assert not result.error
    assert result.right_float > 75, "the float model has learnt its task; guessing is right once in 5 to 16 times"
    assert result.loss <= 0.5


def test_nearly_all_products_are_integers(result: Result) -> None:
    assert result.integers >= 95


def test_outputs_keep_their_direction(result: Result) -> None:
    assert result.cosine >= 0.99
    assert result.sqnr >= 20


@pytest.mark.parametrize("name", list(TRAINED_TASKS))
def test_calibration_sees_nothing_held_out(name: str) -> None:
    task = task_of(name)
    seen = {sample[0].tobytes() for sample in task.calibration}
    unseen = {sample[0].tobytes() for sample in task.held_out}
    assert len(task.calibration) == CALIBRATION_SAMPLES
    assert len(task.held_out) == len(task.labels) >= 900
    assert not seen & unseen


def test_the_parts_are_told_by_name_not_by_chance() -> None:
    held_out = [is_held_out(str(number)) for number in range(10_000)]
    assert np.mean(held_out) == pytest.approx(0.2, abs=0.02)


def test_a_failing_tool_is_reported_not_raised(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"no model")
    task = Task("broken", "onnx", model, [[np.zeros((1, 2), np.float32)]], [[np.zeros((1, 2), np.float32)]])
    assert "Error" in measure(task, "mslite").error


def test_the_budget_is_the_same_for_all() -> None:
    found = ours.settings(ours.BUDGET).accuracy.budget
    assert found is not None
    assert found.text == ours.BUDGET
