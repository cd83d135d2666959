"""Packs a float model, its calibration and a few samples, so that other processes can quantize and measure it.

`pack` runs once. `evaluate` runs in any process: it quantizes a copy of the graph with given precisions and compares
its outputs with those of the float graph.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pickle
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save, to_module
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.quantized import dequantized_activation
from mslite.quantizer.calibration.bias_correction import ChannelMeans
from mslite.quantizer.calibration.observers import State
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.statistics import Calibration, Tuned
from mslite.quantizer.metrics import Outputs, cosine, parse_budget, sqnr
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.devices import activation_scheme
from mslite.quantizer.precision.schemes import Range, Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import AccuracyParam, QuantizerSettings

SAMPLES, SAMPLE_BYTES = 256, 32 << 20
"""Largest number of samples for a search, and their largest total size in bytes."""


class FixedRangeObserver:
    """An observer with fixed ranges, those of an observer that has finished."""

    def __init__(self, ranges: Mapping[Scheme, Range]) -> None:
        self._ranges = dict(ranges)

    def update(self, values: Array) -> None:
        raise RuntimeError("this calibration is finished")

    def range(self, scheme: Scheme) -> Range:
        return self._ranges[scheme]

    def state(self) -> State:
        return {}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Does nothing, because the ranges are fixed."""


@dataclass(frozen=True)
class _Packed:
    """The pickled data. Modules are stored as `.ms` files, because graphs are too deeply nested for pickle."""

    module: bytes
    ranges: dict[str, FixedRangeObserver]
    means: dict[str, dict[str, Array]]
    settings: QuantizerSettings
    samples: list[list[Array]]
    tuned: tuple[bytes, dict[str, StoredWeight]] | None
    """With method=QAT: the float model before tuning as a `.ms` file, and the tuned integer weights."""


@dataclass(frozen=True)
class UnpackedModel:
    """An unpacked model with the outputs of the float graph."""

    module: Module
    calibration: Calibration
    settings: QuantizerSettings
    samples: Sequence[Sample]
    expected: Outputs


@dataclass(frozen=True)
class Evaluation:
    """The accuracy of a quantized graph compared with the float graph. `value` is the metric of the budget."""

    value: float
    cosine: float
    sqnr: float
    error: float = 0.0
    """Standard error of `value` over the samples; 0 if unknown."""


def step_between(total: int, sample: Sample) -> int:
    """Returns n so that every n-th of `total` samples of this size stays within SAMPLES and SAMPLE_BYTES.

    n is odd, so that the selection has samples of all folds of the calibration.
    """
    most = min(SAMPLES, max(1, SAMPLE_BYTES // max(sum(array.nbytes for array in sample), 1)))
    return -(-total // most) | 1


def chosen_samples(data: Iterable[Sample], total: int = 0) -> list[list[Array]]:
    """Returns evenly spaced samples out of `total`, within SAMPLES and SAMPLE_BYTES; the first ones if `total` is 0."""
    samples: list[list[Array]] = []
    size, step = 0, 1
    for number, sample in enumerate(data):
        step = step_between(total, sample) if number == 0 else step
        if number % step:
            continue
        copied = [np.array(array) for array in sample]
        size += sum(array.nbytes for array in copied)
        samples.append(copied)
        if len(samples) == SAMPLES or size > SAMPLE_BYTES:
            break
    return samples


def evaluation_samples(data: Iterable[Sample], calibration: Calibration) -> list[list[Array]]:
    """Returns calibration samples for measuring accuracy. After tuning, those that it held back, if there are any."""
    unseen = calibration.tuned.unseen if calibration.tuned is not None else ()
    return chosen_samples(unseen, len(unseen)) if unseen else chosen_samples(data, calibration.samples)


def pack(
    module: Module, calibration: Calibration, settings: QuantizerSettings, samples: Sequence[Sequence[Array]]
) -> bytes:
    """Packs everything that `evaluate` needs. Raises ConversionError if the module cannot be saved."""
    schemes = {activation_scheme(settings, bits) for bits in (Precision.INT8.value, Precision.INT16.value)}
    ranges = {
        name: FixedRangeObserver({scheme: observer.range(scheme) for scheme in schemes})
        for name, observer in calibration.observers.items()
    }
    tuned = calibration.tuned
    taught = None if tuned is None else (_content(tuned.teacher), dict(tuned.weights))
    means = {name: mean.state() for name, mean in calibration.means.items()}
    settings = dataclasses.replace(settings, accuracy=AccuracyParam())  # a user's metric need not be picklable
    return pickle.dumps(
        _Packed(_content(module), ranges, means, settings, [list(sample) for sample in samples], taught)
    )


def _content(module: Module) -> bytes:
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        path = Path(folder) / "float.ms"
        save(module, path)
        return path.read_bytes()


def fingerprint(payload: bytes) -> str:
    """Returns the SHA-256 of a payload in hexadecimal."""
    return hashlib.sha256(payload).hexdigest()


@functools.lru_cache(maxsize=1)
def _unpacked(payload: bytes | Path) -> UnpackedModel:
    packed: _Packed = pickle.loads(payload if isinstance(payload, bytes) else payload.read_bytes())
    module = to_module(read_ms(packed.module))
    calibration = Calibration(dict(packed.ranges), samples=len(packed.samples))
    for name, state in packed.means.items():
        calibration.means[name] = ChannelMeans()
        calibration.means[name].restore(state)
    teacher = module
    if packed.tuned is not None:
        teacher = to_module(read_ms(packed.tuned[0]))
        calibration.tuned = Tuned(packed.tuned[1], module, teacher)
    runner = Runner(teacher, teacher.main.outputs, threads=1)
    expected = [outputs_of(runner, teacher, sample) for sample in packed.samples]
    return UnpackedModel(module, calibration, packed.settings, packed.samples, expected)


def problem(payload: bytes | Path) -> UnpackedModel:
    """Unpacks a payload, or a file with one. The last result is cached."""
    return _unpacked(payload)


def outputs_of(runner: Runner, module: Module, sample: Sample) -> list[Array]:
    """Runs the model on a sample and returns its outputs in the order of the graph, dequantized to float."""
    found = {id(value): dequantized_activation(value, array) for value, array in runner.run(sample)}
    return [found[id(value)] for value in module.main.outputs]


@dataclass(frozen=True)
class Task:
    """One measurement: the precisions, the budget with its metric as text, and the number of samples."""

    budget: str
    choices: Choices
    samples: int = SAMPLES


def evaluate(payload: bytes | Path, task: Task) -> Evaluation:
    """Quantizes the packed model with the precisions of `task` and measures its accuracy."""
    known = problem(payload)
    samples, expected = known.samples[: task.samples], known.expected[: task.samples]
    module = copy_module(known.module)
    quantize_graph(module, known.calibration, task.choices, known.settings)
    runner = Runner(module, module.main.outputs, threads=1)
    actual = [outputs_of(runner, module, sample) for sample in samples]
    value, error = parse_budget(task.budget).metric.estimate(expected, actual)
    return Evaluation(value, cosine(expected, actual), sqnr(expected, actual), error)
