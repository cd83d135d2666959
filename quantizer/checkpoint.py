"""The state of an interrupted calibration, in one `.npz` file beside the result."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mslite.converter.mindir.atomic import write_together
from mslite.converter.mindir.graph import Array

if TYPE_CHECKING:
    from mslite.quantizer.calibrate import Calibration


def _fingerprint(calibration: Calibration, method: str) -> str:
    """What must be the same for a state to be taken up again."""
    names = [method, *calibration.observers, "", *calibration.means]
    return hashlib.sha256("\0".join(names).encode()).hexdigest()


def _states(calibration: Calibration) -> list[tuple[str, dict[str, Array]]]:
    observers = [(f"o{index}", item.state()) for index, item in enumerate(calibration.observers.values())]
    return [*observers, *((f"m{index}", item.state()) for index, item in enumerate(calibration.means.values()))]


def write_checkpoint(path: Path, calibration: Calibration, method: str) -> None:
    """Writes the state beside the file and renames it. Raises OSError. An interruption during it is harmless."""
    arrays: dict[str, Array] = {
        "fingerprint": np.array(_fingerprint(calibration, method)),
        "samples": np.array(calibration.samples),
    }
    for place, state in _states(calibration):
        arrays.update({f"{place}/{key}": array for key, array in state.items()})
    write_together({path: lambda file: np.savez_compressed(file, allow_pickle=False, **arrays)})


def read_checkpoint(path: Path, calibration: Calibration, method: str) -> bool:
    """Takes up the state of a file that belongs to the same values and method; any other file is left alone."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            arrays = {name: loaded[name] for name in loaded.files}
        if str(arrays["fingerprint"]) != _fingerprint(calibration, method):
            return False
        samples = int(arrays["samples"])
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile):
        return False
    places: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        place, slash, key = name.partition("/")
        if slash:
            places.setdefault(place, {})[key] = array
    for index, observer in enumerate(calibration.observers.values()):
        observer.restore(places[f"o{index}"])
    for index, mean in enumerate(calibration.means.values()):
        mean.restore(places.get(f"m{index}", {}))
    calibration.samples = samples
    return True
