"""Trains a student in the runtime, one sample per step, with the float model's outputs as labels."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.context import Context
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save
from mslite.converter.training import Loss, Optimizer, TrainSettings, store_in_place, training_graph
from mslite.model import Model
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.progress import Progress
from mslite.quantizer.tuning.student import Floats, Student
from mslite.training import TrainCfg
from mslite.types import ModelType

_MIN_SHARE = 0.1
"""Lower limit of the power by which the loss of a sample is divided, as a share of the average power of the output.
Otherwise samples with outputs near zero would dominate the loss."""
_SEED = 1
_RISE = 0.1
"""Share of the steps for the warm-up of the learning rate. Adam's first steps are too large, because it has few
gradients."""


@dataclass(frozen=True)
class TrainedValues:
    """The result of training a student."""

    values: dict[str, Floats]
    """Name of the trainable parameter -> its trained value."""
    losses: tuple[float, ...]
    """Loss of every step: |output - float output|^2 / |float output|^2, averaged over the outputs."""
    stopped: tuple[str, ...]
    """Nodes without a gradient. Layers before them are not trained."""


def train_student(
    student: Student,
    samples: Sequence[Sample],
    expected: Sequence[Sequence[Array]],
    steps: int,
    rate: float,
    progress: Progress,
) -> TrainedValues:
    """Trains the student. The result is deterministic.

    `expected` are all outputs of the float model for each sample, `rate` is the largest learning rate.

    Raises:
        ConversionError: if nothing can be trained.
        ArithmeticError: if the loss or a weight becomes NaN or infinite.
    """
    model, stopped = _built(student, rate)
    model.set_train_mode(True)
    wanted = [[outputs[place].ravel() for place in student.outputs] for outputs in expected]
    factors = _factors(wanted)
    order = np.random.default_rng(_SEED)
    losses: list[float] = []
    turn: list[int] = []
    for step in range(steps):
        turn = turn or order.permutation(len(samples)).tolist()
        number = turn.pop()
        model.set_learning_rate(rate * _share(step, steps))
        labels = [
            array.astype(np.float32) * np.float32(factor)
            for array, factor in zip(wanted[number], factors[number], strict=True)
        ]
        given = [*samples[number], *(np.asarray([factor], np.float32) for factor in factors[number])]
        inputs = [np.ascontiguousarray(array) for array in (*given, np.concatenate(labels).astype(np.float32))]
        loss = float(model.run_step(inputs)[0].get_data_to_numpy().ravel()[0])
        if not math.isfinite(loss):
            raise ArithmeticError(f"the loss of step {step + 1} is {loss}")
        losses.append(loss)
        progress(step + 1, steps, "tuning")
    values = {tensor.name: np.array(tensor.get_data_to_numpy(), np.float32) for tensor in model.get_trainable_params()}
    if not all(bool(np.isfinite(array).all()) for array in values.values()):
        raise ArithmeticError("weights became NaN or infinite")
    return TrainedValues(values, tuple(losses), stopped)


def _share(step: int, steps: int) -> float:
    """Returns the factor of the learning rate in a step: linear warm-up, then cosine decay to 0."""
    rise = max(1.0, _RISE * steps)
    return min(1.0, (step + 1) / rise) * 0.5 * (1 + math.cos(math.pi * step / steps))


def _built(student: Student, rate: float) -> tuple[Model, tuple[str, ...]]:
    """Builds the student for training. Returns the model and the nodes without a gradient. Raises ConversionError."""
    stopped: dict[str, None] = {}
    if not student.outputs:
        raise ConversionError("the model has no float output with a known shape", code=ReturnCode.NOT_SUPPORTED)
    while True:
        trained = student.behind(stopped)
        if not trained:
            raise ConversionError("nothing can be trained", code=ReturnCode.NOT_SUPPORTED)
        settings = TrainSettings(Loss.SQUARED, Optimizer.ADAM, learning_rate=rate, only=trained, straight_through=True)
        try:
            graph = training_graph(copy_module(student.module), settings, "tuning", optimizers_only=True)
            break
        except ConversionError as error:
            fresh = {blocker.node.removesuffix("/activation"): None for blocker in error.blockers} | {}
            if not fresh.keys() - stopped.keys():
                raise
            stopped |= fresh
    module = store_in_place(graph)
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        path = Path(folder) / "student.ms"
        save(module, path)
        model = Model()
        model.build_from_file(str(path), ModelType.MINDIR_LITE, Context(), train_cfg=TrainCfg())
    return model, tuple(stopped)


def _factors(wanted: Sequence[Sequence[Array]]) -> list[list[float]]:
    """Returns a factor for each sample and output, so that the mean squared error of the scaled outputs is the loss."""
    sizes = [array.size for array in wanted[0]]
    powers = np.array([[float(np.square(array.astype(np.float64)).sum()) for array in outputs] for outputs in wanted])
    mean = powers.mean(axis=0)
    counted = np.maximum(powers, np.where(mean > 0, _MIN_SHARE * mean, 1.0))
    return [[float(factor) for factor in row] for row in np.sqrt(sum(sizes) / (len(sizes) * counted))]
