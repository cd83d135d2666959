"""Calibration: runs the float model on samples and observes every activation that may be quantized.

Memory does not depend on the number of samples: one sample, the observed values of one run (`runner.BUDGET_BYTES`),
and for each value an observer of fixed size (64 KiB with a histogram, else a few floats) and one mean per channel.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module, Node
from mslite.quantizer.calibration.bias_correction import ChannelMeans, has_channel_means
from mslite.quantizer.calibration.checkpoint import identity_of, read_checkpoint, write_checkpoint
from mslite.quantizer.calibration.delayed_interrupts import delayed_interrupts
from mslite.quantizer.calibration.observers import Observer, make_observer
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import eligible_nodes, watched_values
from mslite.quantizer.progress import Progress
from mslite.quantizer.settings import QuantizerSettings

CHECKPOINT_SECONDS = 30.0


def calibrate(
    module: Module,
    data: CalibrationData,
    settings: QuantizerSettings,
    *,
    observers: Mapping[str, Observer] | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
    nodes: Sequence[Node] | None = None,
) -> Calibration:
    """Runs the fused float module on all samples and returns the statistics of its activations.

    `nodes` are the nodes whose activations are observed; by default all that can be quantized. `observers` (by value
    name) replace those of the configured method. With `checkpoint`, the state is written to that file every
    CHECKPOINT_SECONDS and on Ctrl-C. A later call with the same model and settings continues from there, and removes
    the file at the end.

    Raises ConversionError if there is no sample or the model cannot run on one.
    """
    watched = watched_values(eligible_nodes(module, settings) if nodes is None else nodes)
    result = Calibration()
    method = settings.range_method
    for value in watched:
        chosen = (observers or {}).get(value.name)
        result.observers[value.name] = chosen if chosen is not None else make_observer(method, settings.full)
    reading: dict[str, list[Node]] = {}
    for node in eligible_nodes(module, settings) if nodes is None else nodes:
        if has_channel_means(node):
            result.means[node.name] = ChannelMeans()
            reading.setdefault(node.inputs[0].name, []).append(node)
    identity = identity_of(module, settings) if checkpoint is not None else ""
    if checkpoint is not None:
        read_checkpoint(checkpoint, result, identity)
        _make_folder(checkpoint.parent)
    runner = Runner(module, watched)
    written = time.monotonic()
    try:
        with delayed_interrupts() as check:
            for sample in itertools.islice(iter(data), result.samples, None):
                _take_in(sample, runner, result, reading)
                if progress is not None:
                    progress(result.samples, data.size)
                if checkpoint is not None and time.monotonic() - written > CHECKPOINT_SECONDS:
                    write_checkpoint(checkpoint, result, identity)
                    written = time.monotonic()
                check()
    except KeyboardInterrupt:
        if checkpoint is None or not result.samples:
            raise
        write_checkpoint(checkpoint, result, identity)
        raise KeyboardInterrupt(
            f"run the same command to continue the calibration at sample {result.samples}: {checkpoint}"
        ) from None
    if not result.samples:
        raise ConversionError("there is no calibration sample", code=ReturnCode.INPUT_PARAMETER_INVALID)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return result


def _take_in(sample: Sample, runner: Runner, result: Calibration, reading: Mapping[str, Sequence[Node]]) -> None:
    """Runs the model on one sample and updates the observers. Raises ConversionError."""
    try:
        for value, array in runner.run(sample):
            result.observers[value.name].update(array)
            for node in reading.get(value.name, ()):
                result.means[node.name].update(node, array)
    except RuntimeError as error:
        raise ConversionError(
            f"the model does not run on calibration sample {result.samples}: {error}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        ) from None
    result.samples += 1


def _make_folder(folder: Path) -> None:
    """Creates the folder of the checkpoint before the calibration, so that an error appears at once. Raises
    ConversionError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConversionError(
            f"workspace: the folder '{folder}' cannot be created: {error.strerror}", code=ReturnCode.FILE_ERROR
        ) from None
