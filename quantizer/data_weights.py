"""WEIGHT_QUANT whose integers are found on calibration data: GPTQ and AWQ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Module, Node
from mslite.quantizer.awq import by_site, clipped, scale_site
from mslite.quantizer.blocks import layout_of
from mslite.quantizer.gptq import gptq
from mslite.quantizer.gram import Gram, grams
from mslite.quantizer.groups import can_have_groups, group_length, matrix_of, stored_on
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.schemes import Scheme
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.smooth import Site, sites
from mslite.quantizer.sources import CalibrationData
from mslite.quantizer.weight_only import WeightUse, weight_uses
from mslite.quantizer.weights import StoredWeight

Reals = npt.NDArray[np.float64]


def weights_from_data(
    module: Module, settings: QuantizerSettings, data: CalibrationData, progress: Progress = silent
) -> dict[str, StoredWeight]:
    """By the name of the constant: the weights that [weight_quant_param] quant_strategy finds on the data.

    The weights of the main graph that are a product's alone; others are rounded to the nearest. AWQ scales the float
    module in place, exactly. Raises ConversionError when the model does not run on a sample."""
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
    diagonals: dict[int, Reals] = {}
    for done, (node, gram) in enumerate(grams(module, nodes, data)):
        diagonals[id(node)] = np.einsum("gkk->gk", gram.moments).astype(np.float64)
        if id(node) in inside:
            waiting[id(node)] = gram
        if id(node) in last:
            site = last[id(node)]
            _divide(diagonals, site, scale_site(site, waiting, scheme, wanted))
            waiting.clear()
        progress(done + 1, len(nodes), "scaling")
    return {node.inputs[1].name: _rounded(node, diagonals[id(node)], scheme, wanted) for node in nodes}


def _divide(diagonals: dict[int, Reals], site: Site, factors: Reals) -> None:
    """The mean x^2 of what the readers see after the scaling."""
    for reader in site.readers:
        layout = layout_of(reader.node)
        assert layout is not None
        by_group = np.tile(factors, reader.repeats).reshape(layout.groups, 1, layout.channels)
        split = diagonals[id(reader.node)].reshape(layout.groups, layout.taps, layout.channels)
        diagonals[id(reader.node)] = (split / by_group**2).reshape(layout.groups, -1)


def _rounded(node: Node, diagonal: Reals, scheme: Scheme, wanted: int) -> StoredWeight:
    data = node.inputs[1].array()
    matrix = matrix_of(data)
    grid = clipped(matrix, diagonal, scheme, group_length(matrix.shape[1], wanted))
    return stored_on(grid, grid.nearest(matrix), data)
