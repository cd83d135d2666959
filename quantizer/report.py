"""What a quantisation did: per layer, and as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.choices import Choices, Precision

if TYPE_CHECKING:
    from mslite.quantizer.agreement import Agreement
    from mslite.quantizer.prune_records import PruneReport


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
class QuantiseReport:
    """What the quantisation did."""

    layers: tuple[LayerRecord, ...] = ()
    notes: tuple[str, ...] = ()
    samples: int = 0
    choices: Choices = field(default_factory=dict)
    agreement: Agreement | None = None
    """FULL_QUANT: how far the result agrees with the float model."""
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


def relative_error(changed: Array, original: Array) -> float:
    """|changed - original| / |original| in the 2-norm; 0 for zeros."""
    real = original.astype(np.float64)
    norm = float(np.linalg.norm(real))
    return float(np.linalg.norm(changed.astype(np.float64) - real)) / norm if norm else 0.0
