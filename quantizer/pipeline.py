"""Runs the quantization of a fused float graph from pruning to the report."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes.naming import make_names_unique
from mslite.converter.verify.inputs import random_inputs
from mslite.quantizer.accuracy.auto_range import choose_ranges
from mslite.quantizer.accuracy.output_accuracy import agreement
from mslite.quantizer.calibration.calibrate import calibrate
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import Source, calibration_data
from mslite.quantizer.precision.choices import (
    Precision,
    configured_precision,
    default_choices,
    effective_precision,
    eligible_nodes,
)
from mslite.quantizer.precision.operators import rule_of
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.report.debug import save_debug_info
from mslite.quantizer.report.debug_rounds import MAX_ROUNDS
from mslite.quantizer.results import PruneReport, QuantizeReport
from mslite.quantizer.rewrite.dequantize import dequantize
from mslite.quantizer.rewrite.graph import Boundary, quantize_graph
from mslite.quantizer.settings import ActivationMethod, Method, QuantizerSettings, TargetDevice
from mslite.quantizer.stages import Stages, stages_of
from mslite.quantizer.transforms.prepare import prepare

_TUNING_SAMPLES = 16


def quantize(
    module: Module,
    settings: QuantizerSettings,
    source: Source | None = None,
    *,
    boundary: Boundary | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    stages: Stages | None = None,
) -> QuantizeReport:
    """Prunes and quantizes the fused float `module` in place, according to `settings`.

    A module that is already quantized stays unchanged, unless `export_precision_mode=FLOAT32` dequantizes it.

    Raises:
        ConversionError: if calibration data is missing or unreadable, or the model does not run.
        UsageError: if the settings are wrong.
    """
    if settings.transform.export_precision_mode == "FLOAT32" and is_quantized_module(module):
        return QuantizeReport(notes=tuple(dequantize(module)))
    if settings.method is None and not settings.prune.method:
        return QuantizeReport()
    if checkpoint is not None and settings.common.workspace is not None:
        checkpoint = settings.common.workspace / checkpoint.name
    if is_quantized_module(module):
        return QuantizeReport(notes=("the model is already quantized and stays unchanged",))
    pruning = _prune(module, settings, source, progress or silent) if settings.prune.method else None
    report = _quantize(module, settings, source, boundary, progress, checkpoint, stages)
    if pruning is None:
        return report
    return replace(report, pruning=pruning, notes=(*pruning.notes(), *report.notes))


def _prune(module: Module, settings: QuantizerSettings, source: Source | None, progress: Progress) -> PruneReport:
    """Prunes the float module in place and writes the pruning report, if the settings name a file for it."""
    from mslite.quantizer.prune.prune import prune
    from mslite.quantizer.prune.report import save_prune_report

    report = prune(module, settings, _debug_samples(module, settings, source), progress)
    if settings.prune.report is not None:
        save_prune_report(report, settings.prune.report)
    return report


def _quantize(
    module: Module,
    settings: QuantizerSettings,
    source: Source | None,
    boundary: Boundary | None,
    progress: Progress | None,
    checkpoint: Path | None,
    stages: Stages | None,
) -> QuantizeReport:
    if settings.method is None:
        return QuantizeReport()
    original = copy_module(module) if settings.common.debug_info_save_path is not None else None
    if settings.method is Method.WEIGHT_QUANT:
        from mslite.quantizer.weights.weight_only import quantize_weights

        report = quantize_weights(
            module,
            settings,
            lambda: _tuning_samples(module, settings, source),
            lambda: calibration_data(source, module.main.inputs, settings.data),
            progress or silent,
        )
    elif settings.method is Method.DYNAMIC_QUANT:
        from mslite.quantizer.rewrite.dynamic import quantize_dynamically

        report = quantize_dynamically(module, settings)
    else:
        report = _quantize_fully(module, settings, source, boundary, progress, checkpoint, stages)
    make_names_unique(module)
    if settings.common.debug_info_save_path is not None and original is not None:
        samples = _debug_samples(original, settings, source)
        save_debug_info(settings.common.debug_info_save_path, original, module, report.layers, samples)
    return report


def _tuning_samples(module: Module, settings: QuantizerSettings, source: Source | None) -> list[Sample]:
    """Returns the samples for `auto_tune`: calibration samples if `use_cv_data` is set, else one random sample."""
    if settings.mixed.use_cv_data:
        return list(itertools.islice(calibration_data(source, module.main.inputs, settings.data), _TUNING_SAMPLES))
    return [random_inputs(module.main.inputs)]


def _debug_samples(original: Module, settings: QuantizerSettings, source: Source | None) -> list[Sample]:
    """Returns the samples for comparing models: the first calibration samples, or one random sample without any."""
    if source is None and not settings.data.calibrate_path:
        return [random_inputs(original.main.inputs)]
    return list(itertools.islice(calibration_data(source, original.main.inputs, settings.data), MAX_ROUNDS))


_ROUNDING = frozenset(
    {"FAKE_QUANT", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "FakeQuantWithMinMaxArgs"}
)
"""Source operators of models from quantization-aware training (QAT), which round float values."""


def is_quantized_module(module: Module) -> bool:
    """Whether the source model stores quantized tensors or contains fake-quantization nodes."""
    return any(
        any(node.op.name in _ROUNDING or node.source.partition(" ")[0] in _ROUNDING for node in graph.nodes)
        or any(is_quantized(value) or value.encoding is not None for value in graph.values())
        for graph in module.graphs
    )


def _quantize_fully(
    module: Module,
    settings: QuantizerSettings,
    source: Source | None,
    boundary: Boundary | None,
    progress: Progress | None,
    checkpoint: Path | None,
    stages: Stages | None,
) -> QuantizeReport:
    if settings.full.target_device is TargetDevice.ASCEND:
        raise ConversionError(
            "target_device=ASCEND in [full_quant_param]: Ascend is unsupported",
            code=ReturnCode.NOT_SUPPORTED,
        )
    if boundary is not None:
        settings = replace(settings, integer_outputs=boundary.integer_outputs)
    if stages is None:
        stages = stages_of(settings, progress or silent, None if checkpoint is None else checkpoint.parent)
    data = calibration_data(source, module.main.inputs, settings.data)
    notes: list[str] = []
    prepare(module)
    for transform in stages.float_transforms:
        notes += transform(module, data, settings)
    calibration = calibrate(module, data, settings, checkpoint=checkpoint, progress=progress)
    if settings.range_method is ActivationMethod.AUTO:
        notes += choose_ranges(module, calibration, data, settings, progress or silent)
    choose = stages.choose
    choices = default_choices(module, settings) if choose is None else choose(module, calibration, data, settings)
    tuning = None
    if stages.tune is not None:
        tuned = stages.tune(module, calibration, data, settings, choices)
        calibration, choices, tuning = tuned.calibration, tuned.choices, tuned.tuning
        notes += tuned.notes
    if not any(precision is not Precision.FLOAT for precision in choices.values()):
        notes.append("no node of this model can be quantized; it stays in float")
    weights: dict[str, StoredWeight] = {}
    for rounder in stages.round_weights:
        weights.update(rounder(module, calibration, data, settings, choices))
    notes += _unsupported_notes(module) + _int16_unsupported_notes(module, settings)
    before = copy_module(module if calibration.tuned is None else calibration.tuned.teacher)
    layers = quantize_graph(module, calibration, choices, settings, weights=weights, boundary=boundary)
    found = agreement(before, module, calibration, data, choices, settings) if choices else None
    report = QuantizeReport(tuple(layers), tuple(notes), calibration.samples, dict(choices), found, tuning)
    for finish in stages.finish:
        notes += finish(before, module, calibration, data, settings, report)
    return replace(report, notes=tuple(notes))


def _unsupported_notes(module: Module) -> list[str]:
    """Returns a note for each operator with multiply-accumulates that has no integer implementation."""
    counts = {id(node): macs(node) for graph in module.graphs for node in graph.nodes}
    total = sum(counts.values())
    shares: dict[str, int] = {}
    for graph in module.graphs:
        for node in graph.nodes:
            if counts[id(node)] and (graph is not module.main or rule_of(node) is None):
                what = node.op.name if graph is module.main else f"{node.op.name} in a branch or loop"
                shares[what] = shares.get(what, 0) + counts[id(node)]
    return [
        f"{what}: float, because it has no integer implementation ({_share_of(share, total)})"
        for what, share in shares.items()
    ]


def _int16_unsupported_notes(module: Module, settings: QuantizerSettings) -> list[str]:
    """Returns a note for each node that has an int8 implementation, but none for the activations of `bit_num`."""
    precision = configured_precision(settings)
    total = sum(macs(node) for graph in module.graphs for node in graph.nodes)
    return [
        f"{node.name} ({node.op.name}): float, because it has no implementation with activations of more than 8 bits"
        f" ({_share_of(macs(node), total)}); bit_num=8 quantizes it"
        for node in eligible_nodes(module, settings)
        if effective_precision(node, precision) is not precision
    ]


def _share_of(part: int, total: int) -> str:
    return f"{100 * part / max(total, 1):.1f} % of the multiply-accumulates"
