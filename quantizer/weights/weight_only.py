"""WEIGHT_QUANT: weights are stored as integers of few bits; the runtime makes them real when it loads the model.

Ranges are asymmetric, -2^(bits - 1) ... 2^(bits - 1) - 1, one per channel. With bias correction the file also says by
which factor and offset the float values of a channel get back the variance and the mean that they had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Module
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.results import QuantizeReport
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.calibrated import weights_from_data
from mslite.quantizer.weights.groups import turned
from mslite.quantizer.weights.mixed_bits import quantize_mixed
from mslite.quantizer.weights.nearest import rounded
from mslite.quantizer.weights.uses import replace_weight, weight_uses


def quantize_weights(
    module: Module,
    settings: QuantizerSettings,
    samples: Callable[[], list[Sample]] | None = None,
    data: Callable[[], CalibrationData] | None = None,
    progress: Progress = silent,
) -> QuantizeReport:
    """Rewrites all graphs of the fused float module in place. `samples`: inputs that auto_tune runs the model on;
    `data`: what GPTQ and AWQ look at. Raises UsageError where they are asked for without data."""
    if settings.common.bit_num == 0:
        return quantize_mixed(module, settings, samples)
    scheme = Scheme(settings.common.bit_num)
    strategy = settings.weight.quant_strategy
    with_data = strategy in ("GPTQ", "AWQ")
    # The gaps between zeros are short where a channel's elements lie together.
    if with_data or settings.methods.group_size or settings.prune.method == "MAGNITUDE":
        for graph in module.graphs:
            for use in list(weight_uses(graph, settings)):
                turned(use)
    found: Mapping[str, StoredWeight] = {}
    if with_data:
        if data is None:
            raise UsageError(f"quant_strategy={strategy} in [weight_quant_param] needs calibration data")
        found = weights_from_data(module, settings, data(), progress)
    layers = []
    for graph in module.graphs:
        for use in list(weight_uses(graph, settings)):
            weight = found.get(use.value.name) if graph is module.main else None
            layers.append(replace_weight(use, weight or rounded(use, scheme, settings), settings))
    notes = (f"{strategy}: {len(found)} of {len(layers)} weights found on calibration data",) if with_data else ()
    return QuantizeReport(tuple(layers), notes)
