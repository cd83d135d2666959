"""WEIGHT_QUANT: stores weights as integers of few bits. The runtime dequantizes them when it loads the model.

Integers are asymmetric, -2^(bits - 1) ... 2^(bits - 1) - 1, with one scale per channel. With bias correction the file
also has a factor and an offset per channel, which restore the variance and the mean of the float weights.
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
from mslite.quantizer.weights.gptq_awq import weights_from_data
from mslite.quantizer.weights.mixed_bits import quantize_mixed
from mslite.quantizer.weights.per_block import turned
from mslite.quantizer.weights.round_to_nearest import rounded
from mslite.quantizer.weights.weight_uses import replace_weight, weight_uses


def quantize_weights(
    module: Module,
    settings: QuantizerSettings,
    samples: Callable[[], list[Sample]] | None = None,
    data: Callable[[], CalibrationData] | None = None,
    progress: Progress = silent,
) -> QuantizeReport:
    """Quantizes the weights of all graphs in place.

    `samples` returns inputs for auto_tune, `data` the calibration data for GPTQ and AWQ. Raises UsageError if they are
    needed and missing.
    """
    if settings.common.bit_num == 0:
        return quantize_mixed(module, settings, samples)
    scheme = Scheme(settings.common.bit_num)
    strategy = settings.weight.quant_strategy
    with_data = strategy in ("GPTQ", "AWQ")
    # Per-block scales need channels in the first dimension. It also makes the SPARSE encoding of pruned weights
    # smaller.
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
    notes = (f"{strategy}: {len(found)} of {len(layers)} weights quantized with calibration data",) if with_data else ()
    return QuantizeReport(tuple(layers), notes)
