"""WEIGHT_QUANT with calibration data: GPTQ and AWQ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Module, Node
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.transforms.blocks import Floats, layout_of
from mslite.quantizer.transforms.channels import Reader
from mslite.quantizer.transforms.smooth import sites
from mslite.quantizer.weights.awq import by_site, range_shrink_factors, scale_site
from mslite.quantizer.weights.gptq import gptq
from mslite.quantizer.weights.gram import Gram, grams
from mslite.quantizer.weights.per_block import can_have_groups, grid_of, group_length, matrix_of, stored_on
from mslite.quantizer.weights.weight_uses import WeightUse, weight_uses

Reals = npt.NDArray[np.float64]


def weights_from_data(
    module: Module, settings: QuantizerSettings, data: CalibrationData, progress: Progress = silent
) -> dict[str, StoredWeight]:
    """Returns name of the constant -> weight, quantized with [weight_quant_param] quant_strategy on the data.

    These are the weights of the main graph that belong to a single convolution or matmul. Other weights are not in the
    result and are rounded to nearest. AWQ scales weights of the float module in place, without changing its function.
    Raises ConversionError if the model does not run on a sample.
    """
    uses = {
        id(use.node): use
        for use in weight_uses(module.main, settings)
        if can_have_groups(use) and layout_of(use.node) is not None and len(use.value.users) == 1
    }
    scheme = Scheme(settings.common.bit_num)
    if settings.weight.quant_strategy == "AWQ":
        return _awq(module, uses, scheme, settings.methods.group_size, data, progress)
    result: dict[str, StoredWeight] = {}
    for node, gram in grams(module, [use.node for use in uses.values()], data):
        value = node.inputs[1]
        matrix = matrix_of(value.array())
        grid, integers = gptq(matrix, gram.moments, scheme, group_length(matrix.shape[1], settings.methods.group_size))
        result[value.name] = stored_on(grid, integers, value.array())
        progress(len(result), len(uses), "rounding")
    return result


def _awq(
    module: Module, uses: dict[int, WeightUse], scheme: Scheme, wanted: int, data: CalibrationData, progress: Progress
) -> dict[str, StoredWeight]:
    found = [site for site in sites(module.main) if all(id(reader.node) in uses for reader in site.readers)]
    last = {id(site.readers[-1].node): site for site in found}
    among = by_site(found)
    inside = {id(node) for node in among}
    nodes = among + [use.node for key, use in uses.items() if key not in inside]
    waiting: dict[int, Gram] = {}
    shrinks: dict[int, Reals] = {}
    for done, (node, gram) in enumerate(grams(module, nodes, data)):
        if id(node) not in inside:
            shrinks[id(node)] = _shrinkage(node, gram.moments, scheme, wanted)
            continue
        waiting[id(node)] = gram
        if id(node) in last:
            site = last[id(node)]
            factors = scale_site(site, waiting, scheme, wanted)
            for reader in site.readers:
                moments = _divided(waiting.pop(id(reader.node)), reader, factors)
                shrinks[id(reader.node)] = _shrinkage(reader.node, moments, scheme, wanted)
        progress(done + 1, len(nodes), "scaling")
    return {node.inputs[1].name: _rounded(node, shrinks[id(node)], scheme, wanted) for node in nodes}


def _divided(gram: Gram, reader: Reader, factors: Reals) -> Floats:
    """Returns H of a reader's input after scaling."""
    layout = layout_of(reader.node)
    assert layout is not None
    by_group = np.tile(factors, reader.repeats).reshape(layout.groups, 1, layout.channels)
    spread = np.broadcast_to(by_group, (layout.groups, layout.taps, layout.channels)).reshape(layout.groups, -1)
    return np.asarray(gram.moments / (spread[:, :, None] * spread[:, None, :]), np.float32)


def _shrinkage(node: Node, moments: Floats, scheme: Scheme, wanted: int) -> Reals:
    matrix = matrix_of(node.inputs[1].array())
    return range_shrink_factors(matrix, moments, scheme, group_length(matrix.shape[1], wanted))


def _rounded(node: Node, shrink: Reals, scheme: Scheme, wanted: int) -> StoredWeight:
    data = node.inputs[1].array()
    matrix = matrix_of(data)
    grid = grid_of(matrix, group_length(matrix.shape[1], wanted), scheme, shrink)
    return stored_on(grid, grid.nearest(matrix), data)
