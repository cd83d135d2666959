"""What pruning tells of each layer, and how sizes and work are counted."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Node
from mslite.converter.work import macs
from mslite.quantizer.blocks import layout_of
from mslite.quantizer.packing import sparse
from mslite.quantizer.schemes import Scheme
from mslite.quantizer.settings import Method, QuantizerSettings
from mslite.quantizer.weights import stored_weight


@dataclass(frozen=True)
class PruneRecord:
    """What was removed from one weight, or from the channels that begin at one product."""

    name: str
    operator: str
    elements: int
    removed: int
    """Weights that are zero now or are gone."""
    channels: int
    removed_channels: int
    bytes_before: int
    bytes_after: int
    """As the configured method stores the weight: float32, or integers in their smallest form."""
    macs_before: int
    macs_after: int
    """Multiply-accumulates that are left; of zeros a runtime that skips them would leave out."""
    cosine: float
    """Of the model's outputs when this layer alone is pruned; of several outputs the worst. Measured for a report only,
    else not a number."""
    sqnr: float
    """The same in decibels."""

    @property
    def sparsity(self) -> float:
        return self.removed / self.elements if self.elements else 0.0


@dataclass(frozen=True)
class PruneReport:
    """All layers, each as if it alone were pruned, and the whole model, whose damage is that of all of them."""

    method: str
    layers: tuple[PruneRecord, ...]
    total: PruneRecord
    samples: int

    def notes(self) -> list[str]:
        """What the summary says."""
        if not self.layers:
            return ["pruning: nothing of this model can be pruned"]
        return [
            f"pruning: {self.total.sparsity:.1%} of the weights of {len(self.layers)} layers removed; outputs on"
            f" {self.samples} samples: cosine {self.total.cosine:.5f}, SQNR {self.total.sqnr:.1f} dB"
        ]


def stored_bytes(node: Node, settings: QuantizerSettings) -> int:
    """What the weight of a product takes in the file."""
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
    """Multiply-accumulates with weights other than 0."""
    weight = node.inputs[1].array()
    return round(macs(node) * float((weight != 0).mean())) if weight.size else 0
