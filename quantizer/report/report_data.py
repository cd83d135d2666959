"""Measures the values of the report: errors of each layer, ranges, and cost and accuracy of several configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.accuracy.evaluation import Evaluation, outputs_of
from mslite.quantizer.accuracy.sensitivity import LayerError, errors_accumulated
from mslite.quantizer.calibration.histogram import Histogram
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.metrics import cosine, sqnr, top1
from mslite.quantizer.precision.choices import Choices, Precision, all_at, default_choices
from mslite.quantizer.progress import Progress
from mslite.quantizer.report.costs import Costs, layer_costs, open_batch, total, untimed, with_batch_one
from mslite.quantizer.report.page import Configuration, HistogramBars, Page, Row
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import QuantizerSettings

_BINS = 72
NAMES = {Precision.FLOAT: "float", Precision.INT8: "int8", Precision.INT16: "int16"}


def gather(
    before: Module,
    after: Module,
    calibration: Calibration,
    settings: QuantizerSettings,
    report: QuantizeReport,
    compared: tuple[Sequence[Sequence[Array]], bool],
    alone: Mapping[str, Evaluation],
    notes: Sequence[str],
    progress: Progress,
    model: str,
) -> Page:
    """Measures the values of the page. `compared` are the samples, and whether the calibration did not use them.

    Raises ConversionError if a model does not run.
    """
    samples, are_unseen = compared
    configured = default_choices(before, settings)
    progress(0, 3, "report")
    costs = layer_costs(before, calibration, configured, settings)
    progress(1, 3, "report")
    names = [layer.name for layer in report.layers if layer.name in configured or layer.macs]
    errors = {error.name: error for error in errors_accumulated(before, after, names, samples)}
    progress(2, 3, "report")
    rows = _rows(before, report, errors, alone, costs)
    choices = _choices(before, after, calibration, settings, configured, report, samples, costs)
    progress(3, 3, "report")
    return Page(
        model=model,
        method=settings.range_method.value,
        calibration_samples=calibration.samples,
        samples=len(samples),
        are_unseen=are_unseen,
        rows=rows,
        choices=choices,
        notes=notes,
        tuning=report.tuning,
        batch_note="with a batch of 1" if open_batch(before) else "",
        untimed=_untimed(before, costs),
        layers=len(costs),
    )


def _untimed(module: Module, costs: Costs) -> list[str]:
    """Returns a text for each layer without a time, with the reason."""
    nodes = {node.name: node for node in with_batch_one(module).main.nodes}
    found = []
    for name in untimed(costs):
        sizes = [value.shape for value in (*nodes[name].inputs, *nodes[name].outputs)]
        is_open = any(shape is None or any(size < 0 for size in shape) for shape in sizes)
        found.append(f"{name} ({'dynamic shape' if is_open else 'cannot run alone on floats'})")
    return found


def _rows(
    module: Module,
    report: QuantizeReport,
    errors: Mapping[str, LayerError],
    alone: Mapping[str, Evaluation],
    costs: Costs,
) -> list[Row]:
    counts = sum(macs(node) for node in module.main.nodes) or 1
    rows = []
    for layer in report.layers:
        error = errors.get(layer.name)
        if error is None:
            continue
        rows.append(
            Row(
                name=layer.name,
                operator=layer.operator,
                precision=NAMES[layer.precision],
                share=layer.macs / counts,
                accumulated=ratio(error.sqnr),
                alone=ratio(alone[layer.name].sqnr) if layer.name in alone else None,
                clipped=error.clipped / max(error.count, 1),
                weight_error=layer.weight_error,
                picture=picture(error.histogram, error.low, error.high),
                costs={NAMES[precision]: cost for precision, cost in costs.get(layer.name, {}).items()},
            )
        )
    return rows


def ratio(decibels: float) -> float:
    """Converts an SQNR in dB to the ratio of the amplitudes of noise and signal."""
    return float(10 ** (-decibels / 20))


def picture(histogram: Histogram, low: float, high: float) -> HistogramBars | None:
    """Returns the bars of a histogram with logarithmic heights; None if all values are equal."""
    least, most = min(histogram.low, low), max(histogram.high, high)
    if not math.isfinite(least) or not least < most:
        return None
    sums = [0.0] * _BINS
    for center, count in zip(histogram.centers(), histogram.counts, strict=True):
        if count:
            place = int((center - least) / (most - least) * _BINS)
            sums[min(_BINS - 1, max(0, place))] += float(count)
    top = math.log1p(max(sums)) or 1.0
    return HistogramBars(least, most, tuple(math.log1p(count) / top for count in sums), low, high)


def _choices(
    module: Module,
    result: Module,
    calibration: Calibration,
    settings: QuantizerSettings,
    configured: Choices,
    report: QuantizeReport,
    samples: Sequence[Sequence[Array]],
    costs: Costs,
) -> list[Configuration]:
    """Measures the float model, every layer in int8, every layer in int16, and the result."""
    runner = Runner(module, module.main.outputs, threads=1)
    expected = [outputs_of(runner, module, sample) for sample in samples]
    weights = {node.name: macs(node) for node in module.main.nodes}
    ways: dict[str, Choices] = {
        "float": {},
        "int8": all_at(module, configured, Precision.INT8),
        "int16 activations": all_at(module, configured, Precision.INT16),
        "this result": report.choices,
    }
    found = []
    for name, choices in ways.items():
        rewritten = result  # quantizing again would lose learned rounding of weights
        if choices is not report.choices:
            rewritten = copy_module(module if calibration.tuned is None or not choices else calibration.tuned.model)
            quantize_graph(rewritten, calibration, choices, settings)
        judged = Runner(rewritten, rewritten.main.outputs, threads=1)
        actual = [outputs_of(judged, rewritten, sample) for sample in samples]
        inside = sum(weights.get(layer, 0) for layer, choice in choices.items() if choice is not Precision.FLOAT)
        share = inside / (sum(weights.values()) or 1)
        values = cosine(expected, actual), sqnr(expected, actual), top1(expected, actual)
        found.append(Configuration(name, total(costs, choices), share, *values))
    return found
