"""`.npy` and `.npz` files from strangers: what NumPy raises for a damaged one becomes one error."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from mslite.converter.archive import checked_archive
from mslite.converter.mindir.graph import Array
from mslite.converter.quoting import shortened

_DAMAGED = (
    *(ValueError, TypeError, EOFError, LookupError, AttributeError, SyntaxError, RuntimeError, ArithmeticError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)  # fmt: skip


class NumpyFileError(ValueError):
    """A file that is no whole NumPy file; `str()` says why."""


def read_numpy(path: Path) -> Array | dict[str, Array]:
    """The array of a `.npy` file, or those of a `.npz` file by name; no Python objects.

    Raises NumpyFileError, OSError, and ConversionError for a `.npz` file that takes more than the memory limit.
    """
    try:
        if zipfile.is_zipfile(path):
            with checked_archive(path, path.stat().st_size, str(path)):
                pass  # what it declares is within bounds
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            return {name: _array(loaded[name]) for name in loaded.files}
    except MemoryError:
        raise NumpyFileError("it declares an array that is larger than the memory") from None
    except NumpyFileError:
        raise
    except _DAMAGED as error:
        raise NumpyFileError(f"no whole NumPy file: {shortened(str(error))}") from None


def _array(member: object) -> Array:
    if not isinstance(member, np.ndarray):  # NumPy gives the bytes of what is no array
        raise NumpyFileError("it holds something that is no array")
    return member
