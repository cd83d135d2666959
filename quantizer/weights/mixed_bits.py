"""WEIGHT_QUANT with bit_num=0 (mixed bits): the largest scale within a relative error, then entropy coding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Array, Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.metrics import relative_error
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.results import LayerRecord, QuantizeReport
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.encoding import entropy_constant
from mslite.quantizer.weights.round_to_nearest import rounded
from mslite.quantizer.weights.weight_uses import WeightUse, replace_constant, replace_weight, weight_uses

_LIMIT = np.iinfo(np.int16).max
_STEPS = 40
_TOLERANCE = 1e-3
_COSINE = 0.995
_TUNED = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3)
"""Relative errors that auto_tune tries, ascending."""


def coarsest_scale(data: Array, wanted: float, iterations: int = _STEPS) -> tuple[Array, float] | None:
    """Returns int16 integers and the scale for which |w' - w| / |w| is `wanted`, found by bisection.

    Returns None if int16 is not precise enough, or all weights are zero.
    """
    real = data.astype(np.float64)
    largest, norm = float(np.abs(real).max(initial=0.0)), float(np.linalg.norm(real))
    if not largest or not np.isfinite(norm):
        return None
    fine, coarse = largest / _LIMIT, 2 * largest

    def error(scale: float) -> float:
        return float(np.linalg.norm(np.rint(real / scale) * scale - real)) / norm

    if error(fine) > wanted:
        return None
    for _ in range(iterations):
        middle = (fine * coarse) ** 0.5
        if error(middle) > wanted:
            coarse = middle
        else:
            fine = middle
        if coarse / fine < 1 + _TOLERANCE:
            break
    return np.rint(real / fine).astype(np.int16), fine


def quantize_mixed(
    module: Module, settings: QuantizerSettings, samples: Callable[[], list[Sample]] | None = None
) -> QuantizeReport:
    """Quantizes the weights of all graphs in place. `samples` returns the samples on which auto_tune compares
    outputs."""
    share = settings.mixed.init_scale
    notes = []
    if settings.mixed.auto_tune:
        given = samples() if samples is not None else []
        if not given:
            raise ConversionError("auto_tune needs samples", code=ReturnCode.INPUT_PARAMETER_INVALID)
        share = _tuned(module, settings, given)
        notes.append(f"mixed bits: auto_tune selected a relative error of {share}")
    return QuantizeReport(tuple(_quantize(module, settings, share)), tuple(notes))


def _quantize(module: Module, settings: QuantizerSettings, share: float) -> list[LayerRecord]:
    return [_replace(use, settings, share) for graph in module.graphs for use in list(weight_uses(graph, settings))]


def _replace(use: WeightUse, settings: QuantizerSettings, share: float) -> LayerRecord:
    data = use.value.array()
    found = coarsest_scale(data, share, settings.mixed.max_iterations)
    constant = entropy_constant(*found, use.value, use.value.name) if found is not None else None
    if constant is None or found is None or len(constant.raw or b"") >= data.size:
        return replace_weight(use, rounded(use, Scheme(8), settings), settings)
    replace_constant(use.value, constant)
    error = relative_error(found[0].astype(np.float64) * found[1], data)
    return LayerRecord(use.node.name, use.node.op.name, Precision.FLOAT, macs(use.node), None, (found[1],), error)


def _tuned(module: Module, settings: QuantizerSettings, samples: list[Sample]) -> float:
    """Returns the largest relative error for which every output has a cosine similarity of at least _COSINE."""
    wanted = [[array for _, array in Runner(module, module.main.outputs).run(sample)] for sample in samples]
    chosen = settings.mixed.init_scale
    for share in _TUNED:
        copy = copy_module(module)
        _quantize(copy, settings, share)
        runner = Runner(copy, copy.main.outputs)
        got = [[array for _, array in runner.run(sample)] for sample in samples]
        if not all(_alike(a, b) for x, y in zip(wanted, got, strict=True) for a, b in zip(x, y, strict=True)):
            break
        chosen = share
    return chosen


def _alike(a: Array, b: Array) -> bool:
    if a.dtype.kind != "f":
        return True
    x, y = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
    norm = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) >= _COSINE * norm
