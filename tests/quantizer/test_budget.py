"""The accuracy budget: it holds where it says so, the harmful layers are found, and neither the number of processes nor
an interruption changes what is chosen."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.accuracy import budget as budget_module
from mslite.quantizer.accuracy import sensitivity
from mslite.quantizer.accuracy.budget import Search, SearchResult, explain
from mslite.quantizer.accuracy.evaluation import (
    SAMPLE_BYTES,
    SAMPLES,
    Task,
    chosen_samples,
    evaluate,
    fingerprint,
    outputs_of,
    pack,
)
from mslite.quantizer.accuracy.journal import Journal
from mslite.quantizer.accuracy.sensitivity import errors_accumulated, errors_alone, searched_layers
from mslite.quantizer.accuracy.workers import Workers, workers
from mslite.quantizer.calibration.calibrate import calibrate
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import calibration_data
from mslite.quantizer.metrics import cosine, parse_budget, sqnr
from mslite.quantizer.precision.choices import Choices, Precision, default_choices
from mslite.quantizer.precision.followers import with_followers
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import quantizer_settings
from tests.quantizer.networks import image_network, samples

SETTINGS = quantizer_settings({"common_quant_param": {"quant_type": "FULL_QUANT"}})


class Case:
    """A small network with a layer that int8 serves badly, calibrated."""

    def __init__(self, spoiled: float = 1.0) -> None:
        self.module = image_network()
        weights = next(node for node in self.module.main.nodes if node.name == "depthwise").inputs[1]
        assert weights.data is not None
        changed = np.array(weights.data)
        changed[0] *= spoiled  # one loud channel: the others share its range
        weights.data = changed
        data = calibration_data(samples(self.module, 6), self.module.main.inputs, SETTINGS.data)
        self.calibration = calibrate(self.module, data, SETTINGS)
        self.samples = chosen_samples(data)
        self.payload = pack(self.module, self.calibration, SETTINGS, self.samples)
        self.choices = default_choices(self.module, SETTINGS)

    def search(self, text: str, executor: Workers, journal: Journal | None = None) -> SearchResult:
        journal = journal or Journal(None, "search", fingerprint(self.payload))
        return Search(self.module, self.payload, self.choices, parse_budget(text), executor, journal).run()

    def measured(self, choices: Choices) -> tuple[float, float]:
        """Cosine and SQNR of the outputs, without the code under test."""
        results = self.outputs(choices)
        return cosine(*results), sqnr(*results)

    def holds(self, text: str, choices: Choices) -> bool:
        budget = parse_budget(text)
        return budget.holds(*budget.metric.estimate(*self.outputs(choices)))

    def outputs(self, choices: Choices) -> list[list[list[Any]]]:
        """Those of the float model and of the quantized one."""
        module = copy_module(self.module)
        quantize_graph(module, self.calibration, choices, SETTINGS)
        results = []
        for graph in (self.module, module):
            runner = Runner(graph, graph.main.outputs)
            results.append([outputs_of(runner, graph, sample) for sample in self.samples])
        return results


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


def alone(processes: int = 1) -> Any:
    return workers(processes=processes)


def test_a_budget_that_holds_changes_nothing(case: Case) -> None:
    with alone() as executor:
        outcome = case.search("sqnr:1", executor)
    assert outcome.holds
    assert dict(outcome.choices) == case.choices
    assert outcome.runs == 1
    assert "all" in explain(outcome, parse_budget("sqnr:1"), 5, lambda choices: 1.0)[0]


def test_a_tight_budget_raises_layers_until_it_holds(case: Case) -> None:
    limit = case.measured(case.choices)[1] + 2
    with alone() as executor:
        outcome = case.search(f"sqnr:{limit}", executor)
    assert outcome.holds
    assert outcome.decisions
    assert case.measured(outcome.choices)[1] >= limit
    assert case.holds(f"sqnr:{limit}", outcome.choices), "beyond chance"
    assert outcome.after.sqnr == pytest.approx(case.measured(outcome.choices)[1])
    assert any(choice is Precision.INT8 for choice in outcome.choices.values()), "not every layer needs more"


def test_no_raised_layer_could_have_stayed(case: Case) -> None:
    limit = case.measured(case.choices)[1] + 6
    with alone() as executor:
        outcome = case.search(f"sqnr:{limit}", executor)
    raised = [decision.name for decision in outcome.decisions]
    for name in raised:
        lower = {**outcome.choices, name: Precision.INT8}
        assert not case.holds(f"sqnr:{limit}", lower), name


def test_judged_samples_are_spread_over_the_calibration() -> None:
    data = [[np.full(4, number, np.float32)] for number in range(1000)]
    numbers = [int(sample[0][0]) for sample in chosen_samples(data, 1000)]
    assert numbers == list(range(0, 1000, 5)), "every fourth would be too many, and an odd step meets all four folds"
    large = [[np.zeros((SAMPLE_BYTES // 40) & ~3, np.uint8)] for _ in range(90)]
    assert len(chosen_samples(large, 90)) == 30, "40 would fit, and every third of 90 is taken"
    assert len(chosen_samples(data, 100)) == SAMPLES, "data that has grown is not read without end"


def test_the_spoiled_layer_is_the_first_to_be_raised() -> None:
    spoiled = Case(spoiled=200.0)
    with alone() as executor:
        outcome = spoiled.search(f"sqnr:{spoiled.measured(spoiled.choices)[1] + 3}", executor)
    assert outcome.decisions[0].name in ("depthwise", "concat", "add")
    assert any(line.startswith(outcome.decisions[0].name) for line in explain(
        outcome, parse_budget("sqnr:1"), 5, lambda choices: 1.0))  # fmt: skip


def test_a_budget_beyond_float_is_said_to_be_impossible(case: Case) -> None:
    with alone() as executor:
        outcome = case.search("cosine:1.5", executor)
    assert not outcome.holds
    assert "cannot be kept" in explain(outcome, parse_budget("cosine:1.5"), 5, lambda choices: 0.0)[-1]


def test_processes_do_not_change_the_choice(case: Case) -> None:
    text = f"sqnr:{case.measured(case.choices)[1] + 6}"
    with alone() as executor:
        one = case.search(text, executor)
    with alone(2) as executor:
        two = case.search(text, executor)
    assert two == one


def test_a_cluster_finds_the_same(case: Case) -> None:
    distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
    text = f"sqnr:{case.measured(case.choices)[1] + 6}"
    with alone() as executor:
        one = case.search(text, executor)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        workers(cluster.scheduler_address) as executor,
    ):
        assert executor.executor is not None
        found = case.search(text, executor)
    assert found == one


def test_an_interrupted_search_goes_on(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"sqnr:{case.measured(case.choices)[1] + 6}"
    with alone() as executor:
        whole = case.search(text, executor)
    done = 0

    def counted(payload: bytes | Path, task: Task) -> Any:
        nonlocal done
        done += 1
        if done == 4:
            raise KeyboardInterrupt
        return evaluate(payload, task)

    monkeypatch.setattr(sensitivity, "evaluate", counted)
    with (
        Journal(tmp_path, "search", fingerprint(case.payload)) as journal,
        alone() as executor,
        pytest.raises(KeyboardInterrupt),
    ):
        case.search(text, executor, journal)
    with Journal(tmp_path, "search", fingerprint(case.payload)) as again, alone() as executor:
        resumed = case.search(text, executor, again)
    assert resumed == whole
    once = done
    with alone() as executor, Journal(tmp_path, "search", fingerprint(case.payload)) as third:
        assert case.search(text, executor, third) == whole
    assert done == once, "a finished search runs nothing again"


def test_alone_leaves_the_rest_in_float(case: Case) -> None:
    layers = searched_layers(case.module, case.choices)
    with alone() as executor:
        journal = Journal(None, "search", "")
        found = errors_alone(executor, case.payload, "sqnr:0", layers, case.choices, journal)
    assert set(found) == {node.name for node in layers}
    assert "flatten" not in found, "what only moves values has no damage of its own"
    for name, judgment in found.items():
        assert judgment.sqnr == pytest.approx(case.measured({name: Precision.INT8})[1])


def test_accumulated_errors_are_those_of_the_layers_results(case: Case) -> None:
    module = copy_module(case.module)
    quantize_graph(module, case.calibration, case.choices, SETTINGS)
    errors = errors_accumulated(case.module, module, ["conv", "dense"], case.samples)
    assert [error.name for error in errors] == ["conv", "dense"]
    assert all(30 < error.sqnr < 60 and 0.999 < error.cosine < 1 for error in errors)
    assert errors[0].clipped == 0
    assert errors[0].count == sum(8 * 8 * 16 for _ in case.samples)
    assert errors[0].low < errors[0].high
    assert errors[0].histogram.total == errors[0].count


def test_an_unknown_scheduler_is_named() -> None:
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    from mslite.converter.errors import ConversionError

    with pytest.raises(ConversionError, match=r"tcp://127\.0\.0\.1:1"), workers("tcp://127.0.0.1:1"):
        pass


def test_the_trials_of_lowering_are_bounded(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_module, "LOWERING_TRIALS", 0)
    limit = case.measured(case.choices)[1] + 6
    with alone() as executor:
        outcome = case.search(f"sqnr:{limit}", executor)
    assert outcome.holds


def test_what_moves_values_follows_them() -> None:
    module = image_network()
    start = default_choices(module, SETTINGS)

    def followed(**raised: Precision) -> tuple[Precision, Precision]:
        found = with_followers(module, {**start, **raised})
        return found.get("concat", Precision.FLOAT), found.get("flatten", Precision.FLOAT)

    eight, sixteen, real = Precision.INT8, Precision.INT16, Precision.FLOAT
    assert followed() == (eight, eight)
    assert followed(conv=sixteen, depthwise=sixteen, add=sixteen, dense=sixteen) == (sixteen, sixteen)
    assert followed(add=sixteen) == (eight, eight), "what comes in int8 and what is read in int8 stays"
    assert followed(add=real, dense=real) == (eight, real)
    assert followed(add=sixteen, dense=real) == (eight, sixteen)
    assert followed(conv=real, depthwise=real, add=real) == (real, eight)


def test_the_last_probabilities_are_real_where_the_outputs_are() -> None:
    module = image_network()
    assert "softmax" not in default_choices(module, SETTINGS)
    assert default_choices(module, SETTINGS).keys() >= {"conv", "depthwise", "add", "dense"}
    integers = dataclasses.replace(SETTINGS, integer_outputs=True)
    assert default_choices(module, integers)["softmax"] is Precision.INT8
