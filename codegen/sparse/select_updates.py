"""Selects the layers to train: lists candidates, measures contributions and memory, searches, compares the sets
found."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.sparse.candidates import SHARES, UpdateCandidate, name_of, update_candidates, updates_of
from mslite.codegen.sparse.memory import MemoryEstimator, TrainingBytes
from mslite.codegen.sparse.search import Added, Price, UpdateSearchResult, last_layers, search
from mslite.codegen.sparse.trials import Outcome, Samples, Trials
from mslite.codegen.targets import Target
from mslite.codegen.training.generate import TrainSource, read_module
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training import LayerUpdate, TrainSettings, is_training, trainable_layers

_JOINT = 8
"""Number of prefixes of the search result that are trained as a whole, to find the best one."""
_LONGER = 4
"""Factor on the trial steps for the final comparison of whole sets."""


@dataclass(frozen=True)
class MeasuredCandidate:
    """A measured candidate. `bytes`: memory that it needs in addition to the last layer."""

    choice: UpdateCandidate
    contribution: float
    bytes: int


@dataclass(frozen=True)
class Candidate:
    """A set of layers in the final comparison. `outcome`: loss and accuracy after `Result.longer` training steps;
    `arena`:
    bytes; `found`: None if nothing is trained."""

    text: str
    outcome: Outcome
    arena: int | None = None
    found: UpdateSearchResult | None = None


@dataclass(frozen=True)
class Result:
    """Result of `select_updates`.

    `first`: candidates that every trial trained; `added`: those that the search added, in order; `updates`: the entries
    of [sparse_update]; `needed`, `everything`, `smallest`: memory of the selection, of training all layers, of `first`.
    `candidates`: the compared sets: nothing, the last layer only, and the results of the searches; `chosen`: the best
    of them. `steps` and `longer`: training steps of a trial and of the comparison.
    """

    tried: list[MeasuredCandidate]
    first: list[UpdateCandidate]
    added: list[Added]
    updates: tuple[tuple[str, LayerUpdate], ...]
    needed: TrainingBytes
    everything: TrainingBytes
    smallest: TrainingBytes
    budget: int
    candidates: list[Candidate]
    chosen: Candidate
    steps: int
    longer: int
    batch: int

    @property
    def quantity(self) -> str:
        """Name of the compared quantity: "loss" or "accuracy"."""
        return self.chosen.outcome.quantity


def select_updates(
    model: Path,
    settings: TrainSettings,
    samples: Samples,
    target: Target,
    budget: int,
    steps: int,
    progress: Callable[[str], None] = lambda text: None,
) -> Result:
    """Selects the layers and channels of a model to train within `budget` bytes, with trials of `steps` training steps.

    Raises ConversionError if the model cannot be trained, the samples do not match it, the budget is too small, or
    training does not improve the model.
    """
    source = str(model)
    with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
        module = read_module(TrainSource(model, settings), Path(work))
    if is_training(module):
        raise ConversionError(
            f"{source}: this is a training graph; use the inference model that it was made from",
            code=ReturnCode.NOT_SUPPORTED,
        )
    layers = trainable_layers(copy_module(module), settings, source)
    choices = update_candidates(layers)
    memory = MemoryEstimator(module, settings, target, source)

    def price(chosen: Collection[UpdateCandidate]) -> int:
        return memory.about(list(chosen))

    first = _first(choices, layers[-1].name, price, budget, source)
    trials = Trials(module, settings, samples, source, steps)
    progress("last layer only")
    alone = trials.outcomes(first)[1]
    tried = []
    for number, choice in enumerate(choices, 1):
        if choice in first:
            continue
        progress(f"{number} of {len(choices)}: {choice.text}")
        contribution = trials.outcomes([*first, choice])[1].score - alone.score
        tried.append(MeasuredCandidate(choice, contribution, price([*first, choice]) - price(first)))
    progress("search")
    contributions = {one.choice: one.contribution for one in tried}
    ways = [search(first, contributions, price, budget)]
    ways += [last_layers(first, contributions, price, budget, share) for share in SHARES]
    for way in ways:
        while memory.of(way.chosen).arena > budget and way.added:  # the search uses estimates
            way.take_back()
    _shorten(ways[0], trials, alone, progress)
    candidates = _compared(first, ways, trials, memory, progress)
    chosen = max(candidates, key=lambda one: one.outcome.rank)
    if chosen.found is None:
        raise ConversionError(_useless(source, candidates, steps * _LONGER), code=ReturnCode.NOT_SUPPORTED)
    order = {layer.name: number for number, layer in enumerate(layers)}
    updates = tuple(sorted(updates_of(chosen.found.chosen), key=lambda one: order[one[0]]))
    return Result(
        tried, first, chosen.found.added, updates, memory.of(chosen.found.chosen), memory.of_all(), memory.of(first), budget,
        candidates, chosen, steps, steps * _LONGER, trials.batch,
    )  # fmt: skip


def _shorten(found: UpdateSearchResult, trials: Trials, alone: Outcome, progress: Callable[[str], None]) -> None:
    """Shortens the search result to its best prefix. Contributions were measured one by one, and their sum may not hold
    for the whole set."""
    count = len(found.added)
    scores = {0: alone.score}
    for share in range(1, _JOINT + 1):
        additions = count * share // _JOINT
        if additions not in scores:
            progress(f"{additions} of {count} candidates together")
            scores[additions] = trials.outcomes(UpdateSearchResult(found.first, found.added[:additions]).chosen)[
                1
            ].score
    found.added = found.added[: max(scores, key=lambda additions: scores[additions])]


def _compared(
    first: Sequence[UpdateCandidate],
    ways: Sequence[UpdateSearchResult],
    trials: Trials,
    memory: MemoryEstimator,
    progress: Callable[[str], None],
) -> list[Candidate]:
    """Compares no training, the last layer only, and each other set, after longer trials. If sets are equally good, the
    first one is selected, so the smaller ones come first."""
    sets = [("last layer only", UpdateSearchResult(first)), ("by contribution", ways[0])]
    sets += [(f"last layers, {name_of(share)}", way) for share, way in zip(SHARES, ways[1:], strict=True)]
    candidates: list[Candidate] = []
    seen: set[tuple[tuple[str, LayerUpdate], ...]] = set()
    for number, (text, found) in enumerate(sets, 1):
        updates = tuple(sorted(updates_of(found.chosen)))
        if updates in seen:
            continue
        seen.add(updates)
        progress(f"{number} of {len(sets)} sets, longer")
        before, after = trials.outcomes(found.chosen, _LONGER)
        if not candidates:
            candidates.append(Candidate("nothing", before))
        candidates.append(Candidate(text, after, memory.of(found.chosen).arena, found))
    return candidates


def _useless(source: str, candidates: Sequence[Candidate], steps: int) -> str:
    """Returns the message for a model that no set improves."""
    before, *others = candidates
    best = max(others, key=lambda one: one.outcome.rank)
    return (
        f"{source}: training within the budget does not improve the model: {before.outcome.quantity} on held-back samples is "
        f"{before.outcome.text} before training, and {best.outcome.text} at best after {steps} steps ({best.text}). Nothing is written. "
        f"Try other samples, a smaller learning_rate in [train_param], or more --trialSteps"
    )


def _first(choices: list[UpdateCandidate], last: str, price: Price, budget: int, source: str) -> list[UpdateCandidate]:
    """Returns the candidates that every trial trains: the last layer or, if it does not fit, its bias or its fewest
    channels.

    Raises ConversionError if none fits the budget."""
    own = [choice for choice in choices if choice.layer == last]
    bias = [choice for choice in own if not choice.share]
    sets = [[*bias, *own[-1:]], bias, own[len(bias) : len(bias) + 1]]
    sizes = [(price(chosen), chosen) for chosen in sets if chosen]
    for size, chosen in sizes:
        if size <= budget:
            return list(dict.fromkeys(chosen))
    least, smallest = min(sizes, key=lambda one: one[0])
    raise ConversionError(
        f"{source}: --budget={budget} is too small: training {', '.join(one.text for one in smallest)} needs {least} bytes, "
        f"with inference. Use a smaller input or model, or batch_size=1 in [train_param]",
        code=ReturnCode.NOT_SUPPORTED,
    )
