"""SavedModel folders and Keras files, which TensorFlow itself freezes, in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode

from .model import read_bytes

KERAS_SUFFIXES = (".h5", ".hdf5", ".keras")


def needs_tensorflow(path: Path) -> bool:
    """True for a folder, a `saved_model.pb` and a Keras file."""
    return path.is_dir() or path.name == "saved_model.pb" or path.suffix.lower() in KERAS_SUFFIXES


def frozen(path: Path) -> tuple[bytes, list[str]]:
    """The frozen GraphDef of a SavedModel or Keras model, and its output nodes. Raises ConversionError."""
    source = path.parent if path.name == "saved_model.pb" else path
    if source.is_dir() and not any((source / name).is_file() for name in ("saved_model.pb", "saved_model.pbtxt")):
        raise ConversionError(
            f"{path}: this folder is not a SavedModel: it has no saved_model.pb", code=ReturnCode.FILE_ERROR
        )
    if not source.exists():
        raise ConversionError(f"{path}: the model file cannot be read: there is none", code=ReturnCode.FILE_ERROR)
    if importlib.util.find_spec("tensorflow") is None:
        raise ConversionError(
            f"{path}: SavedModel and Keras models are frozen by TensorFlow, which is not installed. Install it with"
            " pip install 'mslite[tf]', or freeze the model to a GraphDef (.pb) elsewhere",
            code=ReturnCode.NOT_SUPPORTED,
        )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "frozen.pb"
        script = str(Path(__file__).with_name("freeze.py"))
        command = [sys.executable, "-P", script, str(source.resolve()), str(target)]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if result.returncode != 0 or not target.is_file():
            lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
            reason = lines[-1] if lines else f"it ended with code {result.returncode}"
            raise ConversionError(
                f"{path}: TensorFlow cannot freeze this model: {reason}", code=ReturnCode.GRAPH_FILE_ERROR
            )
        return read_bytes(target), result.stdout.strip().rpartition("\n")[2].split()
