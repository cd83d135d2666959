"""Results of the calibration: ranges of activations, means per channel and, after tuning, integer weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Module
from mslite.quantizer.calibration.bias_correction import ChannelMeans
from mslite.quantizer.calibration.observers import Observer
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.precision.schemes import Range, Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight


@dataclass(frozen=True)
class Tuned:
    """Results of method=QAT."""

    weights: Mapping[str, StoredWeight]
    """Name of the constant -> tuned integer weight. `model` has the same values as floats."""
    model: Module
    """The float model with tuned weights."""
    teacher: Module
    """The float model before tuning, the reference for accuracy."""
    unseen: Sequence[Sample] = ()
    """Calibration samples that were not used for tuning and measure its accuracy."""


@dataclass
class Calibration:
    """Statistics of the activations, collected from the calibration samples."""

    observers: dict[str, Observer] = field(default_factory=dict)
    """Value name -> observer."""
    means: dict[str, ChannelMeans] = field(default_factory=dict)
    """Name of a convolution or matmul -> mean of each input channel."""
    samples: int = 0
    tuned: Tuned | None = None

    def range(self, name: str, scheme: Scheme) -> Range | None:
        """Returns the range of a value; None if it was not observed."""
        observer = self.observers.get(name)
        return None if observer is None else observer.range(scheme)
