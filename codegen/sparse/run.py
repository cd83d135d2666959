"""The whole of it: layers, trials, prices, the search."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.sparse.choices import Choice, choices_of, updates_of
from mslite.codegen.sparse.memory import MemoryOf, Needed
from mslite.codegen.sparse.search import Added, Found, search
from mslite.codegen.sparse.trials import Outcome, Samples, Trials
from mslite.codegen.targets import Target
from mslite.codegen.training.generate import TrainSource, read_module
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training import LayerUpdate, TrainSettings, is_training, trainable_layers

_JOINT = 8
"""So many lengths of the search's way are tried with all that was chosen by then."""


@dataclass(frozen=True)
class Tried:
    """`bytes`: what it needs beside the smallest choice, alone."""

    choice: Choice
    contribution: float
    bytes: int


@dataclass(frozen=True)
class Result:
    """`first`: what every trial trained; `before` and `alone`: what comes out without training and with `first` alone; `after`: with
    all that is chosen."""

    tried: list[Tried]
    first: list[Choice]
    added: list[Added]
    updates: tuple[tuple[str, LayerUpdate], ...]
    needed: Needed
    everything: Needed
    smallest: Needed
    budget: int
    before: Outcome
    alone: Outcome
    after: Outcome
    steps: int
    batch: int


def choose_updates(
    model: Path,
    settings: TrainSettings,
    samples: Samples,
    target: Target,
    budget: int,
    steps: int,
    progress: Callable[[str], None] = lambda text: None,
) -> Result:
    """Raises ConversionError for what cannot be trained, data that does not fit, and a budget below the smallest choice."""
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

    def price(chosen: list[Choice]) -> int:
        return memory.about(chosen)

    first = _first(choices, layers[-1].name, price, budget, source)
    trials = Trials(module, settings, samples, source, steps)
    progress("the last layer alone")
    before, alone = trials.outcomes(first)
    tried = []
    for number, choice in enumerate(choices, 1):
        if choice in first:
            continue
        progress(f"{number} of {len(choices)}: {choice.text}")
        contribution = trials.outcomes([*first, choice])[1].score - alone.score
        tried.append(Tried(choice, contribution, price([*first, choice]) - price(first)))
    progress("the search")
    contributions = {one.choice: one.contribution for one in tried}
    found = search(first, contributions, lambda chosen: price(list(chosen)), budget)
    needed = memory.of(found.chosen)
    while needed.arena > budget and found.added:  # the plan needs more than the search was told
        found.take_back()
        needed = memory.of(found.chosen)
    joint = _joint(found, trials, alone, progress)
    best = max(joint, key=lambda count: joint[count].score)
    if best < len(found.added):
        found.added = found.added[:best]
        needed = memory.of(found.chosen)
    order = {layer.name: number for number, layer in enumerate(layers)}
    updates = tuple(sorted(updates_of(found.chosen), key=lambda one: order[one[0]]))
    return Result(
        tried, first, found.added, updates, needed, memory.of_all(), memory.of(first), budget, before,
        alone, joint[best], steps, trials.batch,
    )  # fmt: skip


def _joint(found: Found, trials: Trials, alone: Outcome, progress: Callable[[str], None]) -> dict[int, Outcome]:
    """The outcome of what the search chose first, by how many additions: contributions that were measured one by one need not add up."""
    count = len(found.added)
    outcomes = {0: alone}
    for share in range(1, _JOINT + 1):
        additions = count * share // _JOINT
        if additions not in outcomes:
            progress(f"{additions} of {count} together")
            outcomes[additions] = trials.outcomes(Found(found.first, found.added[:additions]).chosen)[1]
    return outcomes


def _first(
    choices: list[Choice], last: str, price: Callable[[list[Choice]], int], budget: int, source: str
) -> list[Choice]:
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
