"""Converts a `torch.export` program (`.pt2`) to an ONNX file. Requires the extra `torch`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

from mslite.converter.archive import ArchiveError
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.memory_limit import memory_limit
from mslite.converter.text_shortening import shortened
from mslite.extras import install

from .checked_copy import write_checked_copy
from .expressions import UnsafeProgram
from .pickles import UnsafePickle

_EXPORT = "torch.export.save(torch.export.export(model.eval(), example_inputs), 'model.pt2')"
_LONGEST_REASON = 500


def _error(path: Path, message: str, code: ReturnCode) -> ConversionError:
    return ConversionError(f"{path}: {message}", code=code)


def export_onnx(path: Path, folder: Path, simplified: bool = True) -> Path:
    """Writes the program in `path` as an ONNX file to `folder` (large weights in a separate file); returns its path.

    A separate process with limited memory runs torch on a copy without code. Dynamic dimensions stay dynamic.
    `simplified`: torch folds batch normalization into weights and removes biases of zero; a model for training keeps
    them. Raises ConversionError for other kinds of files, for files that would run code, and if torch cannot export.
    """
    _check_kind(path)
    copy, file = folder / "program.pt2", folder / "model.onnx"
    try:
        write_checked_copy(path, copy)
    except (ArchiveError, UnsafePickle, UnsafeProgram) as error:
        remedy = f"Save the model again with {_EXPORT}; its inputs and outputs may be tensors in lists, tuples and dictionaries"
        raise _error(path, f"{error}. {remedy}", ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        message = f"the program cannot be read, or its copy in {folder} cannot be written: {error.strerror or error}"
        raise _error(path, message, ReturnCode.FILE_ERROR) from None
    _check_packages(path)
    script = str(Path(__file__).with_name("exporter.py"))
    command = [sys.executable, "-P", script, str(copy), str(file), str(memory_limit()), *(["simplified"] * simplified)]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    copy.unlink(missing_ok=True)
    if run.returncode == 0 and file.is_file():
        return file
    stage, _, reason = (run.stdout.strip().splitlines() or [""])[-1].partition(" ")
    if stage == "load":
        message = f"torch cannot load the program: {_shown(reason)}. Export the model again with the installed torch"
        raise _error(path, message, ReturnCode.GRAPH_FILE_ERROR)
    if stage == "refuse":
        raise _error(path, f"the program cannot be converted: {_shown(reason)}", ReturnCode.NOT_SUPPORTED)
    if stage != "export":
        reason = f"the exporter ended with code {run.returncode}"
    remedy = "Replace the operator in the message, or export the model to ONNX"
    message = f"torch cannot export the program to ONNX: {_shown(reason)}. {remedy}"
    raise _error(path, message, ReturnCode.NOT_SUPPORTED)


def _shown(reason: str) -> str:
    return shortened(reason, _LONGEST_REASON)


def _check_kind(path: Path) -> None:
    """Raises ConversionError for other kinds of files that PyTorch writes, detected by the members of the archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except OSError as error:
        message = f"the model file cannot be read: {error.strerror or error}"
        raise _error(path, message, ReturnCode.FILE_ERROR) from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        message = f"this is not a torch.export program (.pt2). Save the model with {_EXPORT}"
        raise _error(path, message, ReturnCode.GRAPH_FILE_ERROR) from None
    parts = {part for name in names for part in name.split("/")[1:2]}
    if "constants.pkl" in parts or "code" in parts:
        message = (
            f"this is a TorchScript file, which has no example inputs to export it with. Save the model with {_EXPORT}"
        )
        raise _error(path, message, ReturnCode.NOT_SUPPORTED)
    if "data.pkl" in parts and not any("serialized_exported_program" in name or "models" in name for name in names):
        message = f"this file contains weights or a pickled object, not a program. Save the model with {_EXPORT}"
        raise _error(path, message, ReturnCode.NOT_SUPPORTED)


def _check_packages(path: Path) -> None:
    for name in ("torch", "onnxscript"):
        if importlib.util.find_spec(name) is None:
            message = f"--fmk=PYTORCH needs PyTorch and its ONNX exporter ({name} is not installed)"
            raise _error(path, f"{message}. Install them with: {install('torch')}", ReturnCode.NOT_SUPPORTED)
