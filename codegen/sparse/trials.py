"""Short trainings on the user's data, evaluated on samples that were held back."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import mslite
from mslite.codegen.sparse.candidates import UpdateCandidate, updates_of
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Module, Value, numpy_type
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save
from mslite.converter.numpy_file import NumpyFileError, read_numpy
from mslite.converter.training import Loss, TrainSettings, store_in_place, training_graph

_HELD = 4
"""One of this number of samples is held back."""
_MAX_HELD = 128
"""Largest number of held-back samples that are used."""


@dataclass(frozen=True)
class Samples:
    """Arrays by input name; the first dimension is the number of samples, `count`."""

    arrays: Mapping[str, Array]
    count: int


def read_samples(path: Path) -> Samples:
    """Reads an .npz file. Raises ConversionError."""
    try:
        arrays = read_numpy(path)
        if not isinstance(arrays, dict):
            raise NumpyFileError("it is not an .npz file of arrays")
    except (OSError, NumpyFileError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConversionError(f"{path}: the samples cannot be read: {reason}", code=ReturnCode.FILE_ERROR) from None
    counts = {len(array) if array.ndim else 0 for array in arrays.values()}
    if len(counts) != 1 or 0 in counts:
        raise ConversionError(
            f"{path}: all arrays must have the same number of samples in their first dimension; they have "
            f"{sorted(counts) or 'no arrays'}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    return Samples(arrays, counts.pop())


@dataclass(frozen=True)
class Outcome:
    """Result on the held-back samples: mean loss and, for classification, accuracy (0 to 1) and the mean probability of
    the right class."""

    loss: float
    accuracy: float | None
    probability: float = 0.0

    @property
    def score(self) -> float:
        """Value for comparing trials; larger is better. For classification it is the probability of the right class: a
        network that predicts all classes equally has a small loss, too, and accuracy is too coarse with few samples."""
        return -self.loss if self.accuracy is None else self.probability

    @property
    def rank(self) -> tuple[float, float]:
        """Value for comparing whole sets; larger is better. Accuracy comes first, as the report shows it, then the
        loss. Trainings that diverged are last."""
        return (self.accuracy or 0.0, -self.loss) if math.isfinite(self.loss) else (-math.inf, -math.inf)

    @property
    def quantity(self) -> str:
        return "loss" if self.accuracy is None else "accuracy"

    @property
    def text(self) -> str:
        return f"{self.loss:.3f}" if self.accuracy is None else f"{100 * self.accuracy:.1f} %"


class Trials:
    """Trains copies of the model. All begin with the model's weights and use the same batches."""

    def __init__(self, module: Module, settings: TrainSettings, samples: Samples, source: str, steps: int) -> None:
        self.module, self.settings, self.source, self.steps = module, settings, source, steps
        self.batch = batch = settings.batch or 1
        held = samples.count // _HELD
        if held < batch:
            raise ConversionError(
                f"the data has {samples.count} samples; batches of {batch} need at least {_HELD * batch}, because one in {_HELD} "
                "is held back",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        self.samples = samples
        order = np.random.default_rng(0).permutation(samples.count)
        self.held, self.own = order[: min(held, max(batch, _MAX_HELD))], order[held:]

    def outcomes(self, chosen: Collection[UpdateCandidate], lengths: int = 1) -> tuple[Outcome, Outcome]:
        """Returns the results before and after training the candidates for `lengths` times the steps of a trial."""
        settings = replace(self.settings, sparse=updates_of(chosen))
        training = training_graph(copy_module(self.module), settings, self.source, optimizers_only=True)
        inputs = list(training.module.main.inputs)
        arrays = {value.name: self._array(value) for value in inputs}
        with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
            path = Path(work) / "trial.ms"
            save(store_in_place(training), path)
            model = mslite.Model()
            model.build_from_file(str(path), mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
        model.set_train_mode(True)
        names = [value.name for value in inputs]
        before = self._evaluate(model, names, arrays)
        rate = settings.learning_rate
        model.set_learning_rate(rate)
        chance = np.random.default_rng(1)
        for _ in range(self.steps * lengths):
            rows = chance.choice(self.own, self.batch, replace=False)
            model.run_step([arrays[name][rows] for name in names])
        return before, self._evaluate(model, names, arrays)

    def _evaluate(self, model: mslite.Model, names: list[str], arrays: Mapping[str, Array]) -> Outcome:
        """Returns the result on the held-back samples. The loss is that of steps with learning rate 0, which change no
        parameters."""
        model.set_learning_rate(0.0)
        firsts = range(0, len(self.held) - self.batch + 1, self.batch)
        batches = [self.held[first : first + self.batch] for first in firsts]
        losses = [
            float(model.run_step([arrays[name][rows] for name in names])[0].get_data_to_numpy()[0]) for rows in batches
        ]
        right = None
        if self.settings.loss is Loss.SPARSE_SOFTMAX:
            model.set_train_mode(False)
            right = float(np.mean([self._right(model, names, arrays, rows) for rows in batches]))
            model.set_train_mode(True)
        # exp(-loss) is the geometric mean of the probabilities of a batch.
        return Outcome(float(np.mean(losses)), right, float(np.exp(-np.asarray(losses, np.float64)).mean()))

    def _right(self, model: mslite.Model, names: list[str], arrays: Mapping[str, Array], rows: Array) -> float:
        """Returns the accuracy on these samples, 0 to 1."""
        inputs = model.get_inputs()
        for tensor in inputs:
            tensor.set_data_from_numpy(arrays[tensor.name][rows])
        likeliest = model.predict(inputs)[0].get_data_to_numpy().argmax(axis=-1)
        return float((likeliest.reshape(-1) == arrays[names[-1]][rows].reshape(-1)).mean())

    def _array(self, value: Value) -> Array:
        """Returns the samples of an input. Raises ConversionError if they are missing or have another shape."""
        if value.name not in self.samples.arrays:
            raise ConversionError(
                f"the data has no array '{value.name}'; it has {', '.join(map(repr, self.samples.arrays))}. Labels must be named 'label'",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        array = self.samples.arrays[value.name]
        shape = tuple(value.shape or ())[1:]
        if array.shape[1:] != shape:
            raise ConversionError(
                f"the samples of '{value.name}' have the shape {list(array.shape[1:])}, not {list(shape)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        return np.ascontiguousarray(array, numpy_type(value.dtype))
