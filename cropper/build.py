"""The static library of a source checkout, compiled for cropping: for size, all but the vector kernels."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

from mslite.cropper.archive import CropError
from mslite.cropper.crop import ENGINES

_SHOWN = 3000


def build_archive(
    source: Path, folder: Path, toolchain: Path | None, preset: str | None, engines: Collection[str]
) -> Path:
    """Configures and compiles the checkout `source` in `folder`; returns the library. Raises CropError, with the end of what
    the compilers say."""
    if not (source / "CMakeLists.txt").is_file() or not (source / "lite_runtime").is_dir():
        raise CropError(f"--source={source}: no checkout of mslite")
    configure = ["cmake", "-S", str(source), "-B", str(folder), "-DMSLITE_SMALL=ON"]
    configure += [f"-DMSLITE_{name.upper()}={'ON' if name in engines else 'OFF'}" for name in ENGINES]
    if preset is not None:
        configure += ["--preset", preset]
    if toolchain is not None:
        configure.append(f"-DCMAKE_TOOLCHAIN_FILE={toolchain.resolve()}")
    _run(configure, source)
    _run(["cmake", "--build", str(folder), "--parallel", "--target", "mindspore-lite-static"], source)
    return folder / "lite_runtime" / "libmindspore-lite.a"


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except FileNotFoundError:
        raise CropError("--source needs cmake and a compiler; there is no cmake here") from None
    if done.returncode != 0:
        raise CropError(f"{' '.join(command)} fails:\n{done.stdout[-_SHOWN:].strip()}")
