"""The whole of it: layers, trials, prices, the search."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.sparse.choices import SHARES, Choice, choices_of, name_of, updates_of
from mslite.codegen.sparse.memory import MemoryOf, Needed
from mslite.codegen.sparse.search import Added, Found, Price, from_the_end, search
from mslite.codegen.sparse.trials import Outcome, Samples, Trials
from mslite.codegen.targets import Target
from mslite.codegen.training.generate import TrainSource, read_module
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training import LayerUpdate, TrainSettings, is_training, trainable_layers

_JOINT = 8
"""So many lengths of the search's way are tried with all that was chosen by then."""
_LONGER = 4
"""Whole sets are compared after so many times the steps of a trial."""


@dataclass(frozen=True)
class Tried:
    """`bytes`: what it needs beside the smallest choice, alone."""

    choice: Choice
    contribution: float
    bytes: int


@dataclass(frozen=True)
class Candidate:
    """A set that took part in the final comparison, and what came out after `Result.longer` steps. Without `found`: nothing is trained."""

    text: str
    outcome: Outcome
    arena: int | None = None
    found: Found | None = None


@dataclass(frozen=True)
class Result:
    """`first`: what every trial trained. `candidates`: nothing, the last layer alone, and what the searches found, all after equally
    many steps; `chosen`: the best of them."""

    tried: list[Tried]
    first: list[Choice]
    added: list[Added]
    updates: tuple[tuple[str, LayerUpdate], ...]
    needed: Needed
    everything: Needed
    smallest: Needed
    budget: int
    candidates: list[Candidate]
    chosen: Candidate
    steps: int
    longer: int
    batch: int

    @property
    def quantity(self) -> str:
        """What outcomes are told in."""
        return self.chosen.outcome.quantity


def choose_updates(
    model: Path,
    settings: TrainSettings,
    samples: Samples,
    target: Target,
    budget: int,
    steps: int,
    progress: Callable[[str], None] = lambda text: None,
) -> Result:
    """Raises ConversionError for what cannot be trained, data that does not fit, a budget below the smallest choice, and where no training
    makes the model better."""
    source = str(model)
    with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
        module = read_module(TrainSource(model, settings), Path(work))
    if is_training(module):
        raise ConversionError(
            f"{source}: it has gradients already; give the inference model that it was made of",
            code=ReturnCode.NOT_SUPPORTED,
        )
    layers = trainable_layers(copy_module(module), settings, source)
    choices = choices_of(layers)
    memory = MemoryOf(module, settings, target, source)

    def price(chosen: Collection[Choice]) -> int:
        return memory.about(list(chosen))

    first = _first(choices, layers[-1].name, price, budget, source)
    trials = Trials(module, settings, samples, source, steps)
    progress("the last layer alone")
    alone = trials.outcomes(first)[1]
    tried = []
    for number, choice in enumerate(choices, 1):
        if choice in first:
            continue
        progress(f"{number} of {len(choices)}: {choice.text}")
        contribution = trials.outcomes([*first, choice])[1].score - alone.score
        tried.append(Tried(choice, contribution, price([*first, choice]) - price(first)))
    progress("the search")
    contributions = {one.choice: one.contribution for one in tried}
    ways = [search(first, contributions, price, budget)]
    ways += [from_the_end(first, contributions, price, budget, share) for share in SHARES]
    for way in ways:
        while memory.of(way.chosen).arena > budget and way.added:  # the plan needs more than the search was told
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


def _shorten(found: Found, trials: Trials, alone: Outcome, progress: Callable[[str], None]) -> None:
    """Leaves what the search chose first, as far as it is of use together: contributions that were measured one by one need not
    add up."""
    count = len(found.added)
    scores = {0: alone.score}
    for share in range(1, _JOINT + 1):
        additions = count * share // _JOINT
        if additions not in scores:
            progress(f"{additions} of {count} together")
            scores[additions] = trials.outcomes(Found(found.first, found.added[:additions]).chosen)[1].score
    found.added = found.added[: max(scores, key=lambda additions: scores[additions])]


def _compared(
    first: Sequence[Choice], ways: Sequence[Found], trials: Trials, memory: MemoryOf, progress: Callable[[str], None]
) -> list[Candidate]:
    """Nothing, the last layer alone and each other set, after a longer trial; the smallest first, which is taken where they are equal."""
    sets = [("the last layer alone", Found(first)), ("by contribution", ways[0])]
    sets += [(f"the last layers, {name_of(share)}", way) for share, way in zip(SHARES, ways[1:], strict=True)]
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
    """That no set is better than the model as it is."""
    before, *others = candidates
    best = max(others, key=lambda one: one.outcome.rank)
    return (
        f"{source}: no training within the budget makes the model better on the samples that were held back: {before.outcome.quantity} "
        f"{before.outcome.text} as it is, {best.outcome.text} at most after {steps} steps ({best.text}). Nothing is written. Other samples, "
        f"a smaller learning_rate in [train_param] or more --trialSteps may help"
    )


def _first(choices: list[Choice], last: str, price: Price, budget: int, source: str) -> list[Choice]:
    """What every trial trains: the last layer, or, where that does not fit, its bias or the fewest of its channels."""
    own = [choice for choice in choices if choice.layer == last]
    bias = [choice for choice in own if not choice.share]
    sets = [[*bias, *own[-1:]], bias, own[len(bias) : len(bias) + 1]]
    sizes = [(price(chosen), chosen) for chosen in sets if chosen]
    for size, chosen in sizes:
        if size <= budget:
            return list(dict.fromkeys(chosen))
    least, smallest = min(sizes, key=lambda one: one[0])
    raise ConversionError(
        f"{source}: --budget={budget} is too small: even the smallest choice ({', '.join(one.text for one in smallest)}) needs {least} "
        f"bytes. Inference is part of them: a smaller input or model needs less, and so does batch_size=1 in [train_param]",
        code=ReturnCode.NOT_SUPPORTED,
    )
