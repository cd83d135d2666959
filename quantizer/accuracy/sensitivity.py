"""Measures the loss of accuracy by layer: of each layer quantized alone, and accumulated in the quantized model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mslite.converter.mindir.graph import Array, Module, Node, Value
from mslite.converter.mindir.quantized import dequantized_activation, is_quantized
from mslite.quantizer.accuracy.evaluation import Evaluation, Task, evaluate
from mslite.quantizer.accuracy.journal import Journal
from mslite.quantizer.accuracy.workers import Workers
from mslite.quantizer.calibration.histogram import Histogram
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.metrics import cosine_of, decibels, powers_of
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.followers import follows
from mslite.quantizer.progress import Progress, silent

ALONE_SAMPLES = 8
"""Number of samples for layers quantized alone. A few are enough to rank the layers."""


def searched_layers(module: Module, choices: Choices) -> list[Node]:
    """Returns the quantized nodes that compute values. Nodes that only move or select values follow their precision."""
    return [
        node
        for node in module.main.nodes
        if choices.get(node.name, Precision.FLOAT) is not Precision.FLOAT and not follows(node)
    ]


def evaluate_all(
    workers: Workers,
    payload: bytes,
    tasks: Mapping[str, Task],
    journal: Journal,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Evaluation]:
    """Runs the tasks that are not in the journal yet, and returns the results of all. `tasks` maps journal keys to
    tasks."""
    found = {key: _evaluation_from_json(journal.get(_line(key, task))) for key, task in tasks.items()}
    results = {key: judgment for key, judgment in found.items() if judgment is not None}
    open_tasks = [(key, task) for key, task in tasks.items() if key not in results]
    advance(len(results), len(tasks))
    for (key, task), judgment in workers.map(_judge, payload, open_tasks):
        results[key] = judgment
        journal.put(_line(key, task), dataclasses.asdict(judgment))
        advance(len(results), len(tasks))
    return results


def _line(key: str, task: Task) -> str:
    return f"{task.budget}|{task.samples}|{key}"


def _judge(payload: Any, named: tuple[str, Task]) -> Evaluation:
    return evaluate(payload, named[1])


def _evaluation_from_json(kept: Any) -> Evaluation | None:
    """Converts a result of the journal; None if it is missing or malformed."""
    try:
        return Evaluation(**{name: float(number) for name, number in kept.items()})
    except (AttributeError, TypeError, ValueError):
        return None


def errors_alone(
    workers: Workers,
    payload: bytes,
    budget: str,
    layers: Sequence[Node],
    choices: Choices,
    journal: Journal,
    progress: Progress = silent,
) -> dict[str, Evaluation]:
    """Returns layer name -> accuracy of the model's outputs if only this layer is quantized."""
    tasks = {
        f"alone {choices[node.name].name} {node.name}": Task(budget, {node.name: choices[node.name]}, ALONE_SAMPLES)
        for node in layers
    }
    found = evaluate_all(workers, payload, tasks, journal, lambda done, total: progress(done, total, "layers alone"))
    return {next(iter(tasks[key].choices)): judgment for key, judgment in found.items()}


@dataclass
class LayerError:
    """The error of a layer's output in the quantized model compared with the float model, over some samples."""

    name: str
    signal: float = 0.0
    noise: float = 0.0
    cosines: list[float] = field(default_factory=list)
    histogram: Histogram = field(default_factory=Histogram)
    """Histogram of the float values."""
    low: float = 0.0
    high: float = 0.0
    """The range of the quantized values."""
    clipped: int = 0
    """Number of float values outside this range."""
    count: int = 0

    @property
    def sqnr(self) -> float:
        return decibels(self.signal, self.noise)

    @property
    def cosine(self) -> float:
        return float(np.mean(self.cosines)) if self.cosines else 1.0


def errors_accumulated(
    module: Module, quantized: Module, layers: Sequence[str], samples: Sequence[Sample], threads: int = 1
) -> list[LayerError]:
    """Compares the first output of each layer in both modules. Memory holds the outputs of one sample at a time."""
    wanted = set(layers)
    pairs = _pairs(module, quantized, wanted)
    errors = {
        name: LayerError(name, low=_limits(value)[0], high=_limits(value)[1]) for name, (_, value) in pairs.items()
    }
    reference = Runner(module, [value for value, _ in pairs.values()], threads)
    rewritten = Runner(quantized, _unique([value for _, value in pairs.values()]), threads)
    for sample in samples:
        expected = {id(value): array for value, array in reference.run(sample)}
        actual = {id(value): dequantized_activation(value, array) for value, array in rewritten.run(sample)}
        for name, (before, after) in pairs.items():
            _add(errors[name], expected[id(before)], actual[id(after)])
    return [errors[name] for name in layers if name in errors]


def _pairs(module: Module, quantized: Module, wanted: set[str]) -> dict[str, tuple[Value, Value]]:
    """Returns layer name → the layer's first output in both modules."""
    after = {node.name: node.outputs[0] for node in quantized.main.nodes}
    return {
        node.name: (node.outputs[0], after[node.name])
        for node in module.main.nodes
        if node.name in wanted and node.name in after
    }


def _unique(values: Sequence[Value]) -> list[Value]:
    return list({id(value): value for value in values}.values())


def _limits(value: Value) -> tuple[float, float]:
    """Returns the smallest and the largest float that a quantized value can represent; (0, 0) for a float value."""
    if not is_quantized(value):
        return 0.0, 0.0
    bits, record = value.quant[0].numBits, value.quant[0]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return record.scale * (low - record.zeroPoint), record.scale * (high - record.zeroPoint)


def _add(error: LayerError, expected: Array, actual: Array) -> None:
    signal, noise = powers_of(expected, actual)
    error.signal += signal
    error.noise += noise
    error.cosines.append(cosine_of(expected, actual))
    error.histogram.add(expected)
    error.count += expected.size
    if error.low < error.high:
        reals, step = expected.astype(np.float64), (error.high - error.low) / 510
        error.clipped += int(np.count_nonzero((reals < error.low - step) | (reals > error.high + step)))
