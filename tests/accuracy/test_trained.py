"""What is promised of trained models: at most half a point of top-1, on labels that no quantizer saw, in integers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.models.trained import voices
from tests.models.trained.dataset import CALIBRATION_SAMPLES, DataMissing, is_held_out

from . import ours
from .apart import measure_apart
from .keys import key_of
from .measure import Result, measure
from .results import Results
from .spread import measure_on_cluster
from .table import chance, discordant
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
    assert result.right_float > 75, "the float model has learned its task; guessing is right once in 5 to 16 times"
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


@pytest.mark.parametrize(("tool", "method"), [(ours.MSLITE, ""), (ours.STRICT, ""), (ours.TUNED, "QAT")])
def test_the_budget_is_the_one_of_its_column(tool: str, method: str) -> None:
    found = ours.settings(tool)
    assert found.accuracy.budget is not None
    assert found.accuracy.budget.text == ours.BUDGETS[tool]
    assert found.full.method == method


def small_task(value: float = 1.0) -> Task:
    sample = [np.full((1, 4), value, np.float32)]
    return Task("cnn", "onnx", TRAINED / "cnn.onnx", [sample], [sample], [0])


def test_a_key_changes_with_what_is_measured() -> None:
    keys = {key_of(small_task(), "mslite"), key_of(small_task(2.0), "mslite"), key_of(small_task(), "onnxruntime")}
    assert len(keys) == 3
    assert key_of(small_task(), "mslite") in keys


def test_results_of_something_else_are_measured_again(tmp_path: Path) -> None:
    results, result = Results(tmp_path), Result("a/b", "mslite", cosine=0.5, wrong=[3])
    assert results.get("a/b", "mslite", "key") is None
    results.put(result, "key")
    assert results.get("a/b", "mslite", "key") == result
    assert results.get("a/b", "mslite", "other") is None
    assert results.get("a/b", "TFLite", "key") is None


def test_chance_is_that_of_a_fair_coin() -> None:
    assert chance(0, 0) == 1
    assert chance(3, 3) == 1
    assert chance(5, 0) == pytest.approx(2 / 32)
    assert chance(1, 4) == chance(4, 1) == pytest.approx(2 * (1 + 5) / 32)


def test_only_samples_that_one_side_gets_right_are_counted() -> None:
    assert discordant(Result("a", "mslite", wrong=[1, 2, 5]), [2, 3, 7]) == (2, 2)


def crash(task: Task, tool: str) -> Result:
    os._exit(3)


def test_a_crashing_tool_ends_its_own_measurement_only() -> None:
    result = measure_apart(small_task(), "TFLite", crash)
    assert (result.task, result.error) == ("cnn", "its process crashed")


def test_a_cluster_measures_the_same(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
    model = tmp_path / "model.onnx"
    model.write_bytes(b"no model")
    broken = Task("broken", "onnx", model, [[np.zeros((1, 2), np.float32)]], [[np.zeros((1, 2), np.float32)]])
    task = task_of("cnn")
    task = replace(task, calibration=task.calibration[:4], held_out=task.held_out[:8], labels=task.labels[:8])
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        found = {
            measured.name: result
            for (measured, _), result in measure_on_cluster(
                [(task, "mslite"), (broken, "mslite")], cluster.scheduler_address
            )
        }
    assert "Error" in found["broken"].error
    assert replace(found["cnn"], seconds=0) == replace(measure(task, "mslite"), seconds=0)
