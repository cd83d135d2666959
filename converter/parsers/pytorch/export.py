"""From a `torch.export` program (`.pt2`) to an ONNX file. PyTorch is optional: `pip install 'mslite[torch]'`."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mslite.converter.errors import ConversionError, ReturnCode

_EXPORT = "torch.export.save(torch.export.export(model.eval(), example_inputs), 'model.pt2')"


def _error(path: Path, message: str, code: ReturnCode) -> ConversionError:
    return ConversionError(f"{path}: {message}", code=code)


def export_onnx(path: Path, folder: Path) -> Path:
    """Writes the program in `path` as an ONNX file (and, for big ones, its weights beside it) to `folder`.

    Dimensions that the program leaves open stay open. Returns the ONNX file. Raises ConversionError for another kind of
    file, and for what torch cannot export.
    """
    _check_kind(path)
    torch = _torch(path)
    file = folder / "model.onnx"
    with _quiet():
        try:
            program = torch.export.load(str(path))
        except Exception as error:  # whatever a damaged archive makes torch raise
            message = (
                f"torch {torch.__version__} cannot load the program: {_first_line(error)}. Export it again with it"
            )
            raise _error(path, message, ReturnCode.GRAPH_FILE_ERROR) from None
        try:
            torch.onnx.export(program, (), str(file), dynamo=True, optimize=True, verbose=False)
        except Exception as error:  # the exporter has no common type of error
            message = f"torch {torch.__version__} cannot export the program to ONNX: {_first_line(error)}"
            remedy = "Replace the operator that it names, or export to ONNX yourself"
            raise _error(path, f"{message}. {remedy}", ReturnCode.NOT_SUPPORTED) from None
    return file


def _check_kind(path: Path) -> None:
    """Tells the other files that PyTorch writes by what is in their archive. Raises ConversionError."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except OSError as error:
        message = f"the model file cannot be read: {error.strerror or error}"
        raise _error(path, message, ReturnCode.FILE_ERROR) from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        message = f"this is no torch.export program (.pt2). Save the model with {_EXPORT}"
        raise _error(path, message, ReturnCode.GRAPH_FILE_ERROR) from None
    parts = {part for name in names for part in name.split("/")[1:2]}
    if "constants.pkl" in parts or "code" in parts:
        message = (
            f"this is a TorchScript file, which has no example inputs to export it with. Save the model with {_EXPORT}"
        )
        raise _error(path, message, ReturnCode.NOT_SUPPORTED)
    if "data.pkl" in parts and not any("serialized_exported_program" in name or "models" in name for name in names):
        message = f"this file holds weights or a pickled object, no program. Save the model with {_EXPORT}"
        raise _error(path, message, ReturnCode.NOT_SUPPORTED)


def _torch(path: Path) -> Any:
    try:
        import onnxscript  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
        import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]
        import torch.onnx  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        message = f"--fmk=PYTORCH needs PyTorch and its ONNX exporter ({error.name} is not installed)"
        raise _error(
            path, f"{message}. Install them with: pip install 'mslite[torch]'", ReturnCode.NOT_SUPPORTED
        ) from None
    return torch


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Swallows what torch prints, warns and logs."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        logging.disable(level)


def _first_line(error: BaseException) -> str:
    """The innermost reason, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= 300 else text[:300] + "..."
