"""The accuracy budget: raises the precision of the layers with the largest loss until the budget holds.

1. All layers are quantized as configured. If the budget holds, the search ends.
2. Each layer is quantized alone. This ranks the layers by their loss.
3. As few of the worst layers as possible get int16 activations. If int16 for all of them is not enough, as few as
   possible stay in float.
4. Raised layers are lowered again by one step if the budget still holds, those with the smallest loss first.

The result does not depend on the number of processes, nor on whether the search was interrupted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Module, Node
from mslite.quantizer.accuracy.evaluation import Evaluation, Task
from mslite.quantizer.accuracy.journal import Journal
from mslite.quantizer.accuracy.sensitivity import errors_alone, evaluate_all, searched_layers
from mslite.quantizer.accuracy.workers import Workers
from mslite.quantizer.metrics import Budget
from mslite.quantizer.precision.choices import Choices, Precision, effective_precision, without_unprofitable_groups
from mslite.quantizer.precision.followers import with_followers
from mslite.quantizer.progress import Progress, silent

LOWERING_TRIALS = 24
"""Largest number of trials in step 4."""


@dataclass(frozen=True)
class RaisedLayer:
    """The precision of a raised layer, and the accuracy of the model if only this layer is quantized."""

    name: str
    precision: Precision
    alone: Evaluation


@dataclass(frozen=True)
class SearchResult:
    """The result of a search. `holds` is False if the budget cannot be kept even with all layers in float."""

    choices: Choices
    before: Evaluation
    after: Evaluation
    holds: bool
    alone: Mapping[str, Evaluation] = field(default_factory=dict)
    decisions: tuple[RaisedLayer, ...] = ()
    """The raised layers, those with the largest loss first."""
    runs: int = 0
    """Number of quantized models that were measured."""


def with_raised(module: Module, start: Choices, raised: Mapping[str, Precision]) -> Choices:
    """Returns the choices `start` with the layers in `raised`, and with the nodes that follow their precision.

    Groups of int8 nodes without a matmul return to float, because the casts around them cost more than they save.
    """
    asked = {**start, **raised}
    nodes = module.main.nodes
    possible = {node.name: effective_precision(node, asked[node.name]) for node in nodes if node.name in asked}
    choices = with_followers(module, possible)
    kept = without_unprofitable_groups(
        [node for node in nodes if choices.get(node.name, Precision.FLOAT) is not Precision.FLOAT]
    )
    return {node.name: choices[node.name] for node in kept}


class Search:
    """The search for one model. `payload` is the model, packed by `evaluation.pack`."""

    def __init__(
        self,
        module: Module,
        payload: bytes,
        choices: Choices,
        budget: Budget,
        workers: Workers,
        journal: Journal,
        progress: Progress = silent,
    ) -> None:
        self._module = module
        self._payload = payload
        self._start = dict(choices)
        self._budget = budget
        self._workers = workers
        self._journal = journal
        self._progress = progress
        self._layers = searched_layers(module, choices)
        self._runs = 0

    def run(self) -> SearchResult:
        """Runs the search. Raises ConversionError if the model does not run."""
        before = self._judge(self._start)
        if self._holds(before):
            return SearchResult(self._start, before, before, True, runs=self._runs)
        alone = errors_alone(
            self._workers, self._payload, self._budget.text, self._layers, self._start, self._journal, self._progress
        )
        self._runs += len(alone)
        ranked = sorted(self._layers, key=lambda node: self._rank(alone[node.name]), reverse=True)
        raised, after = self._raise(ranked)
        if self._holds(after):
            raised, after = self._lower(ranked, raised, after)
        decisions = tuple(
            RaisedLayer(node.name, effective_precision(node, raised[node.name]), alone[node.name])
            for node in ranked
            if node.name in raised
        )
        holds = self._holds(after)
        return SearchResult(self._with(raised), before, after, holds, alone, decisions, self._runs)

    def _holds(self, judgment: Evaluation) -> bool:
        return self._budget.holds(judgment.value, judgment.error)

    def _rank(self, judgment: Evaluation) -> tuple[float, float]:
        return self._budget.metric.loss(judgment.value), -judgment.sqnr

    def _raise(self, ranked: Sequence[Node]) -> tuple[dict[str, Precision], Evaluation]:
        """Step 3: returns the layers to raise with their precisions, and the accuracy of the model with them."""
        raised: dict[str, Precision] = {}
        after = self._judge(self._start)
        for precision in (Precision.INT16, Precision.FLOAT):
            if all(self._start[node.name] is precision for node in ranked):
                continue
            all_raised = {node.name: precision for node in ranked}
            everything = self._judge(self._with(raised | all_raised))
            if not self._holds(everything):
                if precision is Precision.FLOAT or self._is_better(everything, after):
                    raised, after = raised | all_raised, everything
                continue
            count, after = self._fewest(ranked, raised, precision, everything)
            return raised | {node.name: precision for node in ranked[:count]}, after
        return raised, after

    def _is_better(self, one: Evaluation, other: Evaluation) -> bool:
        return self._budget.metric.loss(one.value) < self._budget.metric.loss(other.value)

    def _fewest(
        self, ranked: Sequence[Node], raised: Mapping[str, Precision], precision: Precision, everything: Evaluation
    ) -> tuple[int, Evaluation]:
        """Returns how many of the worst layers must be raised, and the accuracy with them.

        The binary search assumes that raising more layers never reduces the accuracy.
        """
        low, high, found = 1, len(ranked), everything
        while low < high:
            middle = (low + high) // 2
            self._progress(len(ranked) - (high - low), len(ranked), "layers raised")
            judgment = self._judge(self._with({**raised, **{node.name: precision for node in ranked[:middle]}}))
            if self._holds(judgment):
                high, found = middle, judgment
            else:
                low = middle + 1
        return high, found

    def _lower(
        self, ranked: Sequence[Node], raised: dict[str, Precision], after: Evaluation
    ) -> tuple[dict[str, Precision], Evaluation]:
        """Step 4: lowers raised layers by one step, until the budget holds for no other."""
        trials, changed = 0, True
        while changed:
            changed = False
            for name in [node.name for node in reversed(ranked) if node.name in raised]:
                lower = self._below(raised[name], self._start[name])
                trials += 1
                if lower is None or trials > LOWERING_TRIALS:
                    break
                self._progress(trials, LOWERING_TRIALS, "layers lowered")
                trial = {**raised, name: lower}
                if lower is self._start[name]:
                    del trial[name]
                judgment = self._judge(self._with(trial))
                if self._holds(judgment):
                    raised, after, changed = trial, judgment, True
        return raised, after

    @staticmethod
    def _below(precision: Precision, least: Precision) -> Precision | None:
        """Returns the next lower precision; None if `precision` is already the configured one, `least`."""
        if precision is least:
            return None
        return Precision.INT16 if precision is Precision.FLOAT and least is Precision.INT8 else least

    def _with(self, raised: Mapping[str, Precision]) -> Choices:
        return with_raised(self._module, self._start, raised)

    def _judge(self, choices: Choices) -> Evaluation:
        text = ",".join(f"{name}={choice.value}" for name, choice in sorted(choices.items()))
        key = "choices " + hashlib.sha256(text.encode()).hexdigest()
        self._runs += 1
        return evaluate_all(self._workers, self._payload, {key: Task(self._budget.text, choices)}, self._journal)[key]


def explain(outcome: SearchResult, budget: Budget, total: int, share: Callable[[Choices], float]) -> list[str]:
    """Returns the notes about a search for the user. `share` returns the share of multiply-accumulates in integers."""
    unit = budget.metric.unit

    def number(judgment: Evaluation) -> str:
        error = f" ± {judgment.error:.2g}" if judgment.error else ""
        return f"{judgment.value:.5g}{error}{unit}"

    if outcome.holds and not outcome.decisions:
        return [f"accuracy budget {budget}: {number(outcome.after)}, all {total} layers as configured"]
    lines = [
        f"accuracy budget {budget}: {number(outcome.before)} with all {total} layers as configured,"
        f" {number(outcome.after)} with {len(outcome.decisions)} of them in higher precision"
        f" ({100 * share(outcome.choices):.1f} % of the multiply-accumulates in integers;"
        f" {outcome.runs} models measured)"
    ]
    lines += [
        f"{decision.name}: {'float' if decision.precision is Precision.FLOAT else 'int16 activations'}"
        f" (only this layer quantized: {budget.metric.name} {number(decision.alone)}, {decision.alone.sqnr:.1f} dB)"
        for decision in outcome.decisions
    ]
    if not outcome.holds:
        lines.append(f"the accuracy budget {budget} cannot be kept, even with layers in higher precision")
    return lines
