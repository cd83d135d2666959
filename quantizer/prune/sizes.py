"""Size of a weight in the file, and its multiply-accumulates."""

from __future__ import annotations

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Node
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.settings import Method, QuantizerSettings
from mslite.quantizer.transforms.blocks import layout_of
from mslite.quantizer.weights.packing import sparse
from mslite.quantizer.weights.stored_weight import stored_weight


def stored_bytes(node: Node, settings: QuantizerSettings) -> int:
    """Returns the bytes of a node's weight in the file, in the smallest encoding for the configured quantization."""
    layout, weight = layout_of(node), node.inputs[1].array()
    if layout is None or settings.method not in (Method.WEIGHT_QUANT, Method.FULL_QUANT) or not settings.common.bit_num:
        return weight.size * 4
    whole = settings.method is Method.FULL_QUANT
    bits = min(settings.common.bit_num, 8) if whole else settings.common.bit_num
    rows = layout.blocks(weight).reshape(layout.all_results, -1)
    stored = stored_weight(rows, 0, Scheme(bits, symmetric=whole, narrow=whole and bits > 1))
    gaps = sparse(stored.data, bits, [record.zeroPoint for record in stored.records])
    return min(-(-weight.size * bits // 8), len(gaps) if gaps is not None else stored.data.nbytes)


def used_macs(node: Node) -> int:
    """Returns the multiply-accumulates with weights other than 0."""
    weight = node.inputs[1].array()
    return round(macs(node) * float((weight != 0).mean())) if weight.size else 0
