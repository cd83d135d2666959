"""Reads untrusted `.npy` and `.npz` files; NumPy's various errors for damaged files become one."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np

from mslite.converter.archive import checked_archive
from mslite.converter.mindir.graph import Array
from mslite.converter.text_shortening import shortened

_DAMAGED = (
    *(ValueError, TypeError, EOFError, LookupError, AttributeError, SyntaxError, RuntimeError, ArithmeticError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)  # fmt: skip


class NumpyFileError(ValueError):
    """A file that is not a complete NumPy file; `str()` is the reason."""


def read_numpy(path: Path) -> Array | dict[str, Array]:
    """Returns the array of a `.npy` file, or the arrays of a `.npz` file by name. Python objects are refused.

    Raises NumpyFileError, OSError, and ConversionError if a `.npz` file exceeds the memory limit.
    """
    try:
        if zipfile.is_zipfile(path):
            with checked_archive(path, path.stat().st_size, str(path)):
                pass  # only checks the declared sizes
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            return {name: _array(loaded[name]) for name in loaded.files}
    except MemoryError:
        raise NumpyFileError("it declares an array that does not fit into memory") from None
    except NumpyFileError:
        raise
    except _DAMAGED as error:
        raise NumpyFileError(f"not a complete NumPy file: {shortened(str(error))}") from None


def _array(member: object) -> Array:
    if not isinstance(member, np.ndarray):  # NumPy returns the bytes of other members
        raise NumpyFileError("it contains a member that is not an array")
    return member
