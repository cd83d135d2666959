"""Copies the checked parts of a `.keras` archive, which may be untrusted, for Keras to load."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from mslite.converter.archive import ArchiveError, CheckedArchive, checked_archive
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.text_shortening import quoted

from .keras_config import UnsafeKerasModel, check_keras_config

_ZIP = b"PK"
_SMALL = ("config.json", "metadata.json")
_WEIGHTS = "model.weights.h5"
_MAX_CONFIG = 64 << 20


def is_archive(path: Path) -> bool:
    """Returns whether the file is a zip archive, whatever its name."""
    try:
        with path.open("rb") as file:
            return file.read(2) == _ZIP or zipfile.is_zipfile(path)
    except OSError:
        return False


def write_checked(source: Path, target: Path) -> None:
    """Writes the checked copy to `target`. Raises ConversionError for a model that would run code, is damaged or too
    large."""
    try:
        size = source.stat().st_size
        with checked_archive(source, size, str(source)) as archive, zipfile.ZipFile(target, "w") as copy:
            if "config.json" not in archive.members:
                raise ArchiveError("it is not a Keras model: it has no config.json")
            for name in archive.members:
                _copy(archive, name, copy)
    except (ArchiveError, UnsafeKerasModel) as error:
        code = ReturnCode.NOT_SUPPORTED if isinstance(error, UnsafeKerasModel) else ReturnCode.GRAPH_FILE_ERROR
        raise ConversionError(f"{source}: {error}", code=code) from None
    except OSError as error:
        raise ConversionError(
            f"{source}: the model file cannot be read: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None


def _copy(archive: CheckedArchive, name: str, copy: zipfile.ZipFile) -> None:
    entry = zipfile.ZipInfo(name)
    entry.file_size = archive.members[name].file_size
    if name in _SMALL:
        if entry.file_size > _MAX_CONFIG:
            raise ArchiveError(f"the member {quoted(name)} is too large")
        text = archive.read(name)
        check_keras_config(text)
        copy.writestr(entry, text)
    elif name == _WEIGHTS or name.startswith("assets/"):
        with archive.opened(name) as reader, copy.open(entry, "w") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
    else:
        raise ArchiveError(f"the member {quoted(name)} is not part of a Keras model")
