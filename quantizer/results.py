"""Results of a quantization: per layer, of the pruning, of the tuning, and the accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.precision.choices import Choices, Precision

GOOD = 0.99
"""A lower cosine similarity is reported as a warning."""


@dataclass(frozen=True)
class LayerRecord:
    """The quantization of one node: precision, parameters of its first output and of its weight, errors."""

    name: str
    operator: str
    precision: Precision
    macs: int
    output: QuantParam | None = None
    weight_scales: tuple[float, ...] = ()
    weight_error: float = 0.0
    """|quantized weight - weight| / |weight| in the 2-norm."""
    bias_shift: float = 0.0


@dataclass(frozen=True)
class OutputAccuracy:
    """Accuracy of the quantized model compared with the float model. With several outputs, that of the worst."""

    cosine: float
    """Cosine similarity, averaged over the samples."""
    sqnr: float
    """Signal-to-quantization-noise ratio over all samples, in dB."""
    samples: int
    are_unseen: bool
    """Whether the samples were not used for calibration."""
    worst: tuple[tuple[str, float], ...] = ()
    """If the cosine is below GOOD: the layers that add the most noise, and by how many dB their SQNR drops."""
    remedies: tuple[str, ...] = ()
    """Settings that may improve the accuracy and are not in use."""

    @property
    def is_good(self) -> bool:
        return self.cosine >= GOOD


@dataclass(frozen=True)
class PruneRecord:
    """What pruning removed from one weight, or from the output channels of one convolution or matmul."""

    name: str
    operator: str
    elements: int
    removed: int
    """Elements that were set to zero or removed."""
    channels: int
    removed_channels: int
    bytes_before: int
    bytes_after: int
    """Size of the weight as the configured method stores it: float32, or integers in their smallest encoding."""
    macs_before: int
    macs_after: int
    """Remaining multiply-accumulates, without those by zero, which a runtime for sparse weights would skip."""
    cosine: float
    """Cosine similarity of the model's outputs if only this layer is pruned; with several outputs, that of the worst.
    NaN without a report."""
    sqnr: float
    """SQNR of the same outputs, in dB."""

    @property
    def sparsity(self) -> float:
        return self.removed / self.elements if self.elements else 0.0


@dataclass(frozen=True)
class PruneReport:
    """Results of pruning. `layers` has the effect of each layer alone, `total` that of all layers together."""

    method: str
    layers: tuple[PruneRecord, ...]
    total: PruneRecord
    samples: int

    def notes(self) -> list[str]:
        """Returns the lines for the summary of the conversion."""
        if not self.layers:
            return ["pruning: this model has no weights that can be pruned"]
        return [
            f"pruning: {self.total.sparsity:.1%} of the weights of {len(self.layers)} layers removed; outputs on"
            f" {self.samples} samples: cosine {self.total.cosine:.5f}, SQNR {self.total.sqnr:.1f} dB"
        ]


@dataclass(frozen=True)
class Tuning:
    """Results of method=QAT. `before` and `after` are cosine similarity and SQNR of the quantized model's outputs."""

    losses: tuple[float, ...]
    """The loss of every step: |output - float output|^2 / |float output|^2."""
    before: tuple[float, float]
    after: tuple[float, float]
    samples: int
    """Number of samples for `before` and `after`."""
    is_kept: bool
    """Whether the tuned weights are used, because they are better."""
    stopped: tuple[str, ...] = ()
    """Nodes without a gradient."""

    def notes(self) -> list[str]:
        """Returns the lines for the summary of the conversion."""
        count = max(1, min(len(self.losses) // 10, 50))
        first, last = (sum(part) / count for part in (self.losses[:count], self.losses[-count:]))
        found = [
            f"QAT: {len(self.losses)} steps, loss {first:.3g} to {last:.3g}; on {self.samples} calibration samples cosine"
            f" {self.before[0]:.5f} to {self.after[0]:.5f}, SQNR {self.before[1]:.1f} to {self.after[1]:.1f} dB"
        ]
        if not self.is_kept:
            found.append("QAT: accuracy did not improve; the tuned weights are discarded")
        if self.stopped:
            found.append(f"QAT: no gradient for {', '.join(self.stopped)}; the layers before are not tuned")
        return found


@dataclass(frozen=True)
class QuantizeReport:
    """Results of the quantization of a model."""

    layers: tuple[LayerRecord, ...] = ()
    notes: tuple[str, ...] = ()
    samples: int = 0
    choices: Choices = field(default_factory=dict)
    agreement: OutputAccuracy | None = None
    """FULL_QUANT: accuracy of the result compared with the float model."""
    tuning: Tuning | None = None
    """Results of method=QAT."""
    pruning: PruneReport | None = None
    """Results of [mslite_prune_param]."""
    pages: list[Callable[[Sequence[Path], Sequence[Path]], None]] = field(default_factory=list)
    """One function per report page. It writes the page again, with the hashes of the source files and result files."""

    @property
    def integer_share(self) -> float:
        """The share of multiply-accumulates that are computed in integers, 0 to 1."""
        return integer_share(self.layers)


def integer_share(layers: Sequence[LayerRecord]) -> float:
    """Returns the share of multiply-accumulates that are computed in integers; 1 if there are no
    multiply-accumulates."""
    total = sum(layer.macs for layer in layers)
    inside = sum(layer.macs for layer in layers if layer.precision is not Precision.FLOAT)
    return inside / total if total else 1.0
