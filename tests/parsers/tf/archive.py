"""Reads the recorded models: their files and TensorFlow's outputs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_ARCHIVE = Path(__file__).parent / "models.zip"


@dataclass(frozen=True)
class Recorded:
    """A model with one set of inputs and outputs; outputs by name."""

    content: bytes
    inputs: list[npt.NDArray[Any]]
    outputs: dict[str, npt.NDArray[Any]]


def names() -> list[str]:
    """The recorded models."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        return sorted(name.removesuffix(".pb") for name in archive.namelist() if name.endswith(".pb"))


def recorded(files: Mapping[str, bytes], name: str) -> Recorded:
    """Returns the model of these files, `<name>.pb` and `<name>.npz`."""
    with np.load(io.BytesIO(files[f"{name}.npz"])) as arrays:
        inputs = [arrays[f"input_{number}"] for number in range(sum(key.startswith("input_") for key in arrays))]
        outputs = {str(key): arrays[f"output_{number}"] for number, key in enumerate(arrays["names"])}
    return Recorded(files[f"{name}.pb"], inputs, outputs)


def read(name: str) -> Recorded:
    """Returns a recorded model."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        return recorded({f"{name}{suffix}": archive.read(f"{name}{suffix}") for suffix in (".pb", ".npz")}, name)
