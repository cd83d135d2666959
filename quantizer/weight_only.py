"""WEIGHT_QUANT: weights are stored as integers of few bits; the runtime makes them real when it loads the model.

Ranges are asymmetric, -2^(bits - 1) ... 2^(bits - 1) - 1, one per channel. With bias correction the file also says by
which factor and offset the real numbers of a channel get back the variance and the mean that they had.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from mslite.converter.errors import UsageError
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.quantised import channel_axis
from mslite.converter.work import macs
from mslite.quantizer.choices import Precision
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.report import LayerRecord, QuantiseReport, relative_error
from mslite.quantizer.runner import Sample
from mslite.quantizer.schemes import Scheme
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.sources import CalibrationData
from mslite.quantizer.storage import entropy_constant, packed_constant
from mslite.quantizer.weights import StoredWeight, constant_of, stored_weight

_WEIGHTS = {
    "Conv2DFusion": (1,),
    "Conv2dTransposeFusion": (1,),
    "MatMulFusion": (0, 1),
    "FullConnection": (1,),
    "LSTM": (1, 2),
    "GRU": (1, 2),
    "LSTMSequence": (1, 2),
    "GRUSequence": (1, 2),
    "RNNSequence": (1, 2),
    "Gather": (0,),
}
"""Operators and which of their operands are weights."""
_CONVOLUTIONS = frozenset({"Conv2DFusion", "Conv2dTransposeFusion"})
_MOST_VARIANCE = 10.0


@dataclasses.dataclass(frozen=True)
class WeightUse:
    """A float constant that is a weight, and the nodes that read it as such."""

    value: Value
    node: Node
    index: int
    axis: int
    is_shared: bool
    """Nodes read it along different axes: it has one record."""


def weight_uses(graph: Graph, settings: QuantizerSettings) -> Iterator[WeightUse]:
    """Every weight of a graph that [common_quant_param] lets be quantised, once. A constant that also serves as
    something else than a weight is left alone."""
    common = settings.common
    skipped = frozenset(common.skip_quant_node)
    seen: set[int] = set()
    for node in graph.nodes:
        for index in _WEIGHTS.get(node.op.name, ()):
            if index >= len(node.inputs) or id(node.inputs[index]) in seen:
                continue
            value = node.inputs[index]
            seen.add(id(value))
            data = value.data
            if data is None or value.dtype is not DataType.FLOAT32 or value.quant or data.ndim < 2:
                continue
            uses = [(user, place) for user in value.users for place, v in enumerate(user.inputs) if v is value]
            if any(place not in _WEIGHTS.get(user.op.name, ()) or user.name in skipped for user, place in uses):
                continue
            if data.size <= common.min_quant_weight_size and common.min_quant_weight_size:
                continue
            if node.op.name in _CONVOLUTIONS and data.shape[0] <= common.min_quant_weight_channel:
                continue
            axes = {channel_axis(user.op, place, user.inputs) for user, place in uses}
            yield WeightUse(value, node, index, min(axes), len(axes) > 1)


def quantise_weights(
    module: Module,
    settings: QuantizerSettings,
    samples: Callable[[], list[Sample]] | None = None,
    data: Callable[[], CalibrationData] | None = None,
    progress: Progress = silent,
) -> QuantiseReport:
    """Rewrites all graphs of the fused float module in place. `samples`: inputs that auto_tune runs the model on;
    `data`: what GPTQ and AWQ look at. Raises UsageError where they are asked for without data."""
    if settings.common.bit_num == 0:
        from mslite.quantizer.mixed_bits import quantise_mixed

        return quantise_mixed(module, settings, samples)
    scheme = Scheme(settings.common.bit_num)
    strategy = settings.weight.quant_strategy
    with_data = strategy in ("GPTQ", "AWQ")
    # The gaps between zeros are short where a channel's elements lie together.
    if with_data or settings.methods.group_size or settings.prune.method == "MAGNITUDE":
        from mslite.quantizer.groups import turned

        for graph in module.graphs:
            for use in list(weight_uses(graph, settings)):
                turned(use)
    found: Mapping[str, StoredWeight] = {}
    if with_data:
        if data is None:
            raise UsageError(f"quant_strategy={strategy} in [weight_quant_param] needs calibration data")
        from mslite.quantizer.data_weights import weights_from_data

        found = weights_from_data(module, settings, data(), progress)
    layers = []
    for graph in module.graphs:
        for use in list(weight_uses(graph, settings)):
            weight = found.get(use.value.name) if graph is module.main else None
            layers.append(replace_weight(use, weight or rounded(use, scheme, settings), settings))
    notes = (f"{strategy}: {len(found)} of {len(layers)} weights found on calibration data",) if with_data else ()
    return QuantiseReport(tuple(layers), notes)


def rounded(use: WeightUse, scheme: Scheme, settings: QuantizerSettings) -> StoredWeight:
    """The weight by plain rounding, with its corrections."""
    data = use.value.array()
    exact_zeros = settings.methods.keep_integers or settings.prune.method == "MAGNITUDE"
    correct = settings.weight.bias_correction and not exact_zeros
    if settings.methods.group_size:
        from mslite.quantizer.groups import can_have_groups, grouped

        if can_have_groups(use):
            weight = grouped(use, scheme, settings.methods.group_size)
            return _corrected(weight, data) if correct and len(weight.records) > 1 else weight
    whole = settings.weight.dequant_strategy == "ON_THE_FLY" and scheme.bits < 8  # one list of values for all
    per_channel = settings.weight.per_channel and not whole and not use.is_shared and data.shape[use.axis] > 1
    if per_channel and correct and settings.methods.small_channels == "TENSOR":
        # MindSpore Lite's rule: the records of a channel must not take more room than its elements save.
        per_channel = data.size // data.shape[use.axis] > 256 // (32 - scheme.bits)
    weight = stored_weight(data, use.axis, scheme, per_channel)
    return _corrected(weight, data) if per_channel and correct else weight


def _corrected(weight: StoredWeight, data: Array) -> StoredWeight:
    """Records with the factor and the offset that give each channel its variance and mean back."""
    count = len(weight.records)  # channels, or runs of their elements
    real = np.moveaxis(weight.real().astype(np.float64), weight.axis, 0).reshape(count, -1)
    wanted = np.moveaxis(data.astype(np.float64), weight.axis, 0).reshape(real.shape)
    spread, wanted_spread = real.std(axis=1), wanted.std(axis=1)
    factors = np.divide(wanted_spread, spread, out=np.ones_like(spread), where=spread > 0)
    factors[(factors <= 0) | (factors > _MOST_VARIANCE)] = 1.0
    offsets = wanted.mean(axis=1) - real.mean(axis=1) * factors
    records = tuple(
        dataclasses.replace(record, varCorr=float(np.float32(factor)), meanCorr=float(np.float32(offset)))
        for record, factor, offset in zip(weight.records, factors, offsets, strict=True)
    )
    return dataclasses.replace(weight, records=records)


def replace_weight(use: WeightUse, weight: StoredWeight, settings: QuantizerSettings) -> LayerRecord:
    """Puts a stored weight in the place of the float constant, for all who read it."""
    value = use.value
    on_the_fly = None
    if settings.weight.dequant_strategy == "ON_THE_FLY" and len(weight.records) == 1 and weight.records[0].numBits < 8:
        record = weight.records[0]
        on_the_fly = entropy_constant(
            weight.data, record.scale, value, value.name, zero_point=record.zeroPoint, entry_points=True
        )
    if on_the_fly is not None:
        constant = on_the_fly
    elif settings.common.enable_encode:
        huffman = settings.weight.compression == "huffman"
        constant = packed_constant(weight, value, value.name, use_huffman=huffman)
    else:
        constant = constant_of(weight, value, value.name)
    read_instead(value, constant, stays=settings.methods.keep_integers and _can_stay(use, constant))
    error = relative_error(weight.real(), value.array())
    scales = tuple(record.scale for record in weight.records)
    return LayerRecord(use.node.name, use.node.op.name, Precision.FLOAT, macs(use.node), None, scales, error)


def _can_stay(use: WeightUse, constant: Value) -> bool:
    """True for matrices that the runtime's products read as integers, made real as they go."""
    is_matrix = use.node.op.name in ("MatMulFusion", "FullConnection") and use.index == 1 and use.value.rank == 2
    return is_matrix and constant.dtype is DataType.INT8 and len(use.value.users) == 1


def read_instead(value: Value, constant: Value, *, stays: bool = False) -> None:
    """Lets every node that reads `value` read the quantised `constant`; `stays`: as integers while the model runs."""
    for node in list(dict.fromkeys(value.users)):
        node.replace_input(value, constant)
        node.quant_type = QuantType.QUANT_NONE if stays else QuantType.QUANT_WEIGHT
