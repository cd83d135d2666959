"""Quantisation from beginning to end, as one pass over the fused float graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.quantised import is_quantised
from mslite.converter.passes.naming import make_names_unique
from mslite.quantizer.calibrate import Calibration, Progress, calibrate
from mslite.quantizer.choices import Choices, Precision, default_choices
from mslite.quantizer.debug import save_debug_info
from mslite.quantizer.report import QuantiseReport
from mslite.quantizer.rewrite import Boundary, quantise_graph
from mslite.quantizer.settings import Method, QuantizerSettings, TargetDevice
from mslite.quantizer.sources import CalibrationData, Source, calibration_data
from mslite.quantizer.weights import StoredWeight

FloatTransform = Callable[[Module, CalibrationData, QuantizerSettings], list[str]]
"""Changes the float graph without changing its function; returns notes."""
Chooser = Callable[[Module, Calibration, CalibrationData, QuantizerSettings], Choices]
"""Decides the precision of each node."""
Rounder = Callable[[Module, Calibration, CalibrationData, QuantizerSettings, Choices], Mapping[str, StoredWeight]]
"""Decides the integers of weights, by the name of the constant."""


@dataclass(frozen=True)
class Stages:
    """What runs besides the fixed steps of a FULL_QUANT, in this order."""

    float_transforms: Sequence[FloatTransform] = ()
    choose: Chooser | None = None
    round_weights: Sequence[Rounder] = ()


def stages_of(settings: QuantizerSettings) -> Stages:
    """The stages that the configuration asks for."""
    return Stages()


def quantise(
    module: Module,
    settings: QuantizerSettings,
    source: Source | None = None,
    *,
    boundary: Boundary | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    stages: Stages | None = None,
) -> QuantiseReport:
    """Quantises the fused float `module` in place, as the settings say.

    A module that is quantised already passes through untouched. Raises ConversionError and UsageError.
    """
    if settings.method is None:
        return QuantiseReport()
    if is_quantised_module(module):
        return QuantiseReport(notes=("the source is quantised already; it is left as it is",))
    if settings.method is Method.WEIGHT_QUANT:
        from mslite.quantizer.weight_only import quantise_weights

        report = quantise_weights(module, settings)
    elif settings.method is Method.DYNAMIC_QUANT:
        from mslite.quantizer.dynamic import quantise_dynamically

        report = quantise_dynamically(module, settings)
    else:
        report = _quantise_fully(module, settings, source, boundary, progress, checkpoint, stages)
    make_names_unique(module)
    if settings.common.debug_info_save_path is not None:
        save_debug_info(settings.common.debug_info_save_path, module, report.layers)
    return report


_ROUNDING = frozenset({"FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"})
"""Operators of models that were trained with rounding (QAT) and store real numbers."""


def is_quantised_module(module: Module) -> bool:
    """True when the source stores integers for real numbers, or was trained with rounding."""
    return any(
        any(node.op.name in _ROUNDING for node in graph.nodes)
        or any(is_quantised(value) or value.encoding is not None for value in graph.values())
        for graph in module.graphs
    )


def _quantise_fully(
    module: Module,
    settings: QuantizerSettings,
    source: Source | None,
    boundary: Boundary | None,
    progress: Progress | None,
    checkpoint: Path | None,
    stages: Stages | None,
) -> QuantiseReport:
    if settings.full.target_device is TargetDevice.ASCEND:
        raise ConversionError(
            "target_device=ASCEND in [full_quant_param]: Ascend is not a target of this converter",
            code=ReturnCode.NOT_SUPPORTED,
        )
    stages = stages_of(settings) if stages is None else stages
    data = calibration_data(source, module.main.inputs, settings.data)
    notes: list[str] = []
    for transform in stages.float_transforms:
        notes += transform(module, data, settings)
    calibration = calibrate(module, data, settings, checkpoint=checkpoint, progress=progress)
    choose = stages.choose
    choices = default_choices(module, settings) if choose is None else choose(module, calibration, data, settings)
    if not any(precision is not Precision.FLOAT for precision in choices.values()):
        notes.append("no node of this model can be quantised; it stays in float")
    weights: dict[str, StoredWeight] = {}
    for rounder in stages.round_weights:
        weights.update(rounder(module, calibration, data, settings, choices))
    layers = quantise_graph(module, calibration, choices, settings, weights=weights, boundary=boundary)
    return QuantiseReport(tuple(layers), tuple(notes), calibration.samples, dict(choices))
