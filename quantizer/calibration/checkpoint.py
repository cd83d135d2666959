"""Reads and writes the state of an interrupted calibration, a `.npz` file next to the output."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.atomic import write_files_atomically
from mslite.converter.mindir.graph import Array, Module
from mslite.converter.numpy_file import read_numpy
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.settings import QuantizerSettings


def identity_of(module: Module, settings: QuantizerSettings) -> str:
    """Returns a hash of the model, its constants and the settings. A state is used only if this hash is the same."""
    found = hashlib.sha256(f"{settings.full}\0{settings.data}".encode())
    for graph in module.graphs:
        for value in graph.values():
            found.update(f"\0{value.name}{value.shape}".encode())
            if value.data is not None:
                found.update(np.ascontiguousarray(value.data).tobytes())
    return found.hexdigest()


def _states(calibration: Calibration) -> list[tuple[str, dict[str, Array]]]:
    observers = [(f"o{index}", item.state()) for index, item in enumerate(calibration.observers.values())]
    return [*observers, *((f"m{index}", item.state()) for index, item in enumerate(calibration.means.values()))]


def write_checkpoint(path: Path, calibration: Calibration, identity: str) -> None:
    """Writes the state to a temporary file and renames it, so that an interruption is harmless. Raises OSError."""
    arrays: dict[str, Array] = {
        "identity": np.array(identity),
        "samples": np.array(calibration.samples),
    }
    for place, state in _states(calibration):
        arrays.update({f"{place}/{key}": array for key, array in state.items()})
    write_files_atomically({path: lambda file: np.savez_compressed(file, allow_pickle=False, **arrays)})


def read_checkpoint(path: Path, calibration: Calibration, identity: str) -> bool:
    """Restores the state if the file belongs to the same model and settings. Returns whether it was restored."""
    try:
        arrays = read_numpy(path)
        if not isinstance(arrays, dict):
            return False
        if str(arrays["identity"]) != identity:
            return False
        samples = int(arrays["samples"])
    except (OSError, ValueError, TypeError, KeyError, ConversionError):
        return False
    places: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        place, slash, key = name.partition("/")
        if slash:
            places.setdefault(place, {})[key] = array
    if not {f"o{index}" for index in range(len(calibration.observers))} <= set(places):
        return False
    for index, observer in enumerate(calibration.observers.values()):
        observer.restore(places[f"o{index}"])
    for index, mean in enumerate(calibration.means.values()):
        mean.restore(places.get(f"m{index}", {}))
    calibration.samples = samples
    return True
