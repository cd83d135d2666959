"""Prunes the float model, and measures the loss of accuracy.

MAGNITUDE sets the smallest weights to zero. Quantized, they are smaller in the file (SPARSE encoding of `.ms` files).
STRUCTURED removes whole channels, so the model becomes smaller and faster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Array, Graph, Module, Node
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.metrics import cosine, sqnr
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.prune.magnitude import magnitudes
from mslite.quantizer.prune.sizes import stored_bytes, used_macs
from mslite.quantizer.prune.structured import channels
from mslite.quantizer.results import PruneRecord, PruneReport
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.transforms.blocks import layout_of


def prune(
    module: Module, settings: QuantizerSettings, samples: Sequence[Sample], progress: Progress = silent
) -> PruneReport:
    """Prunes the main graph of the fused float module in place, and measures the accuracy on `samples`."""
    param = settings.prune
    plans = list(magnitudes(module.main, settings) if param.method == "MAGNITUDE" else channels(module.main, settings))
    original = copy_module(module)
    wanted = outputs(original, samples)
    layers = []
    for done, plan in enumerate(plans):
        alone = (math.nan, math.nan)
        if param.report is not None:
            copy = copy_module(original)
            plan.change(copy.main)
            got = outputs(copy, samples)
            alone = (cosine(wanted, got), sqnr(wanted, got))
            progress(done + 1, len(plans), "pruning")
        layers.append((plan, alone))
    for plan in plans:
        plan.change(module.main)
    got = outputs(module, samples)
    products = {node.name: node for node in module.main.nodes if layout_of(node) is not None}
    records = [
        replace(_measured(plan.record, products, settings), cosine=alone[0], sqnr=alone[1]) for plan, alone in layers
    ]
    total = replace(_total(original.main, module.main, settings), cosine=cosine(wanted, got), sqnr=sqnr(wanted, got))
    return PruneReport(param.method, tuple(records), total, len(samples))


def outputs(module: Module, samples: Sequence[Sample]) -> list[list[Array]]:
    """Returns the outputs of the main graph for each sample. Raises ConversionError if it does not run."""
    try:
        runner = Runner(module, module.main.outputs)
        return [[array.copy() for _, array in runner.run(sample)] for sample in samples]
    except RuntimeError as error:
        raise ConversionError(
            f"the model does not run on the samples that measure the accuracy after pruning: {error}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        ) from None


def _measured(record: PruneRecord, products: Mapping[str, Node], settings: QuantizerSettings) -> PruneRecord:
    """Completes the record of a layer with zeros. The record of a layer with removed channels is already complete."""
    if record.channels:
        return record
    node = products[record.name]
    return replace(record, bytes_after=stored_bytes(node, settings), macs_after=used_macs(node))


def _total(before: Graph, after: Graph, settings: QuantizerSettings) -> PruneRecord:
    """Returns the record of all convolutions and matmuls together."""
    old, new = ([node for node in graph.nodes if layout_of(node) is not None] for graph in (before, after))
    elements, left = (sum(node.inputs[1].array().size for node in nodes) for nodes in (old, new))
    zeros = sum(int((node.inputs[1].array() == 0).sum()) for node in new)
    size, size_left = (sum(stored_bytes(node, settings) for node in nodes) for nodes in (old, new))
    work, work_left = sum(macs(node) for node in old), sum(used_macs(node) for node in new)
    return PruneRecord(
        "(model)", "", elements, elements - left + zeros, 0, 0, size, size_left, work, work_left, math.nan, math.nan
    )
