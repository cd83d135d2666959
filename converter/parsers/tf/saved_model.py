"""Freezes SavedModel folders and Keras files with TensorFlow, in a separate process."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.memory_limit import memory_limit, spend
from mslite.converter.parsers.placeholder import unsupported_headline
from mslite.converter.parsers.protobuf import ProtobufError, parse_binary, parse_text
from mslite.converter.text_shortening import shortened
from mslite.extras import install

from .keras_file import is_archive, write_checked
from .model import read_bytes
from .protos import SavedModel
from .unsafe_operators import unsafe_operators

_MAX_BLOCKERS = 100
KERAS_SUFFIXES = (".h5", ".hdf5", ".keras")


def is_saved_model(path: Path) -> bool:
    """Returns whether the path is a folder or a `saved_model.pb`."""
    return path.is_dir() or path.name == "saved_model.pb"


def needs_tensorflow(path: Path) -> bool:
    """Returns whether the path is a folder, a `saved_model.pb` or a Keras file."""
    return is_saved_model(path) or path.suffix.lower() in KERAS_SUFFIXES


def frozen(path: Path, signature: str = "") -> tuple[bytes, list[str]]:
    """Returns the frozen GraphDef of a SavedModel or Keras model, and the names of its outputs. Raises ConversionError.

    `signature` selects a signature of a SavedModel; the default is `serving_default` or the only signature."""
    source = path.parent if path.name == "saved_model.pb" else path
    if source.is_dir() and not any((source / name).is_file() for name in ("saved_model.pb", "saved_model.pbtxt")):
        raise ConversionError(
            f"{path}: this folder is not a SavedModel: it has no saved_model.pb", code=ReturnCode.FILE_ERROR
        )
    if not source.exists():
        raise ConversionError(f"{path}: the model file cannot be read: it does not exist", code=ReturnCode.FILE_ERROR)
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        copy, target = _checked(source, Path(folder)), Path(folder) / "frozen.pb"
        if importlib.util.find_spec("tensorflow") is None:
            raise ConversionError(
                f"{path}: SavedModel and Keras models are frozen by TensorFlow, which is not installed. Install it with"
                f" {install('tf')}, or freeze the model to a GraphDef (.pb) elsewhere",
                code=ReturnCode.NOT_SUPPORTED,
            )
        script = str(Path(__file__).with_name("freeze.py"))
        command = [sys.executable, "-P", script, str(copy), str(target), str(memory_limit()), signature]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if result.returncode != 0 or not target.is_file():
            lines = (result.stdout.strip() or result.stderr.strip()).splitlines()
            reason = lines[-1] if lines else f"it ended with code {result.returncode}"
            reason = reason.replace(str(copy), path.name)
            if result.returncode == 3:
                raise ConversionError(f"{path}: {shortened(reason, 1000)}", code=ReturnCode.NOT_SUPPORTED)
            raise ConversionError(
                f"{path}: TensorFlow cannot freeze this model: {shortened(reason, 500)}",
                code=ReturnCode.GRAPH_FILE_ERROR,
            )
        spend(target.stat().st_size, f"{path}: the frozen graph")
        return read_bytes(target), result.stdout.strip().rpartition("\n")[2].split()


def _checked(source: Path, folder: Path) -> Path:
    """Returns a checked copy for TensorFlow: the graph or configuration is copied, weights are linked. Raises
    ConversionError."""
    if source.is_dir():
        return _checked_folder(source, folder / "model")
    if is_archive(source):
        copy = folder / f"{source.stem or 'model'}.keras"
        write_checked(source, copy)
        return copy
    copy = folder / f"{source.stem or 'model'}.h5"  # freeze.py checks it, because that needs a library
    copy.symlink_to(source.resolve())
    return copy


def _checked_folder(source: Path, copy: Path) -> Path:
    """Copies a SavedModel: its graph, as it was read and checked here, and links to its variables and assets."""
    name = next(name for name in ("saved_model.pb", "saved_model.pbtxt") if (source / name).is_file())
    content = read_bytes(source / name)
    try:
        found = (
            parse_text(SavedModel, content, skip_unknown=True)
            if name.endswith("txt")
            else parse_binary(SavedModel, content)
        )
        blockers = unsafe_operators(found)
    except (ProtobufError, UnicodeDecodeError) as error:
        message = f"{source / name}: this is not a SavedModel: {error}"
        raise ConversionError(message, code=ReturnCode.GRAPH_FILE_ERROR) from None
    if blockers:
        raise ConversionError(
            unsupported_headline(str(source), len(blockers)), blockers[:_MAX_BLOCKERS], ReturnCode.NOT_SUPPORTED
        )
    copy.mkdir()
    (copy / name).write_bytes(content)
    for part in ("variables", "assets", "assets.extra"):
        if (source / part).is_dir():
            (copy / part).symlink_to((source / part).resolve(), target_is_directory=True)
    return copy
