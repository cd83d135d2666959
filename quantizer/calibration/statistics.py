"""What calibration learns of the activations of a model: their ranges, and means per channel."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.quantizer.calibration.means import ChannelMeans
from mslite.quantizer.calibration.observers import Observer
from mslite.quantizer.precision.schemes import Range, Scheme


@dataclass
class Calibration:
    """What the samples told of each activation."""

    observers: dict[str, Observer] = field(default_factory=dict)
    """By the name of the value."""
    means: dict[str, ChannelMeans] = field(default_factory=dict)
    """By the name of a product: the mean of its input per channel."""
    samples: int = 0

    def range(self, name: str, scheme: Scheme) -> Range | None:
        """The range of a value, None when it was not watched."""
        observer = self.observers.get(name)
        return None if observer is None else observer.range(scheme)
