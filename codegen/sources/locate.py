"""Finds and reads the sources of the kernels, in a checkout or in the installed package."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mslite.converter.mindir.generator import parameters

PARAMETERS = "op_params.h"
"""The header of operator parameters. It is not a file: it is generated from the operators' declarations."""


@lru_cache(maxsize=1)
def folder() -> Path:
    """Returns the folder of the kernels. Raises FileNotFoundError if the installation has none."""
    for base in (Path(__file__).parents[2], Path(__file__).resolve().parents[2]):
        if (base / "kernels" / "kernel.h").is_file():
            return base / "kernels"
    raise FileNotFoundError(
        "the kernels' sources are missing from this installation of mslite; install the package again"
    )


@lru_cache(maxsize=1024)
def read(path: str) -> str:
    """Returns the text of `path`, relative to the folder."""
    if path == PARAMETERS:
        return parameters.emit()
    return (folder() / path).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def files() -> tuple[str, ...]:
    """Returns the C files of kernels and of the functions that they call, relative to the folder."""
    base = folder()
    found = sorted(base.glob("*.c")) + sorted(base.glob("*/*.c"))
    tables = ("kernels.c", "target_kernels.c", "training_kernels.c")
    return tuple(
        path.relative_to(base).as_posix() for path in found if path.name not in tables and path.parent.name != "shape"
    )
