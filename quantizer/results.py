"""What a quantization did: per layer, and as a whole; what was pruned before, and how far the result agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.precision.choices import Choices, Precision

GOOD = 0.99
"""A cosine below it is a warning."""


@dataclass(frozen=True)
class LayerRecord:
    """What was done to one node; scales and zero points are of its first input and output."""

    name: str
    operator: str
    precision: Precision
    macs: int
    output: QuantParam | None = None
    weight_scales: tuple[float, ...] = ()
    weight_error: float = 0.0
    """|w' - w| / |w| in the 2-norm."""
    bias_shift: float = 0.0


@dataclass(frozen=True)
class Agreement:
    """The outputs of the quantized model beside those of the float model; of several outputs the worst."""

    cosine: float
    """The mean over the samples."""
    sqnr: float
    """Signal to quantization noise over all samples, in decibels."""
    samples: int
    are_unseen: bool
    """The samples are not those of the calibration."""
    worst: tuple[tuple[str, float], ...] = ()
    """Where the cosine is not good: the layers at which most noise enters, and by how many decibels it grows there."""
    remedies: tuple[str, ...] = ()
    """What was not tried."""

    @property
    def is_good(self) -> bool:
        return self.cosine >= GOOD


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


@dataclass(frozen=True)
class Tuning:
    """What method=QAT did; cosine and SQNR are those of the quantized model's outputs."""

    losses: tuple[float, ...]
    """Of every step: the power of the difference from the float model's outputs over the power of these."""
    before: tuple[float, float]
    after: tuple[float, float]
    samples: int
    """How many it was judged on."""
    is_kept: bool
    stopped: tuple[str, ...] = ()
    """Nodes without a gradient."""

    def notes(self) -> list[str]:
        """What the summary says."""
        count = max(1, min(len(self.losses) // 10, 50))
        first, last = (sum(part) / count for part in (self.losses[:count], self.losses[-count:]))
        found = [
            f"QAT: {len(self.losses)} steps, loss {first:.3g} to {last:.3g}; on {self.samples} calibration samples cosine"
            f" {self.before[0]:.5f} to {self.after[0]:.5f}, SQNR {self.before[1]:.1f} to {self.after[1]:.1f} dB"
        ]
        if not self.is_kept:
            found.append("QAT: that is no better; the model stays as it was")
        if self.stopped:
            found.append(f"QAT: no gradient goes through {', '.join(self.stopped)}; what comes before stays as it was")
        return found


@dataclass(frozen=True)
class QuantizeReport:
    """What the quantization did."""

    layers: tuple[LayerRecord, ...] = ()
    notes: tuple[str, ...] = ()
    samples: int = 0
    choices: Choices = field(default_factory=dict)
    agreement: Agreement | None = None
    """FULL_QUANT: how far the result agrees with the float model."""
    tuning: Tuning | None = None
    """What method=QAT did before."""
    pruning: PruneReport | None = None
    """What [mslite_prune_param] removed before."""
    pages: list[Callable[[Sequence[Path], Sequence[Path]], None]] = field(default_factory=list)
    """For each page that was written: writes it again, of these files of the source and of the result, when they are there."""

    @property
    def integer_share(self) -> float:
        """The share of multiply-accumulates that compute on integers."""
        return integer_share(self.layers)


def integer_share(layers: Sequence[LayerRecord]) -> float:
    """The share of multiply-accumulates in integers; 1 where there are none."""
    total = sum(layer.macs for layer in layers)
    inside = sum(layer.macs for layer in layers if layer.precision is not Precision.FLOAT)
    return inside / total if total else 1.0
