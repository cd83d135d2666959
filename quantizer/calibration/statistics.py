"""What calibration learns of a model: ranges of its activations, means per channel, and with tuning the integers of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mslite.converter.mindir.graph import Module
from mslite.quantizer.calibration.means import ChannelMeans
from mslite.quantizer.calibration.observers import Observer
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.precision.schemes import Range, Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight


@dataclass(frozen=True)
class Tuned:
    """What tuning on the samples made of a model."""

    weights: Mapping[str, StoredWeight]
    """By the name of the constant; `model` holds the same float values."""
    model: Module
    """The float model as it is now."""
    teacher: Module
    """The float model before it, which results are compared with."""
    unseen: Sequence[Sample] = ()
    """Calibration samples that it was not shown, which results are judged on."""


@dataclass
class Calibration:
    """What the samples told of each activation."""

    observers: dict[str, Observer] = field(default_factory=dict)
    """By the name of the value."""
    means: dict[str, ChannelMeans] = field(default_factory=dict)
    """By the name of a product: the mean of its input per channel."""
    samples: int = 0
    tuned: Tuned | None = None

    def range(self, name: str, scheme: Scheme) -> Range | None:
        """The range of a value, None when it was not watched."""
        observer = self.observers.get(name)
        return None if observer is None else observer.range(scheme)
