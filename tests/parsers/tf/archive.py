"""The recorded models: their files and TensorFlow's outputs."""

from __future__ import annotations

import io
import zipfile
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


def read(name: str) -> Recorded:
    """One recorded model."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        content = archive.read(f"{name}.pb")
        with np.load(io.BytesIO(archive.read(f"{name}.npz"))) as arrays:
            inputs = [arrays[f"input_{number}"] for number in range(sum(key.startswith("input_") for key in arrays))]
            outputs = {str(key): arrays[f"output_{number}"] for number, key in enumerate(arrays["names"])}
    return Recorded(content, inputs, outputs)
