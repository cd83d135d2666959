"""Compiles the static library from a source checkout for cropping, optimized for size except the vector kernels."""

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
    """Configures and compiles the checkout `source` in `folder`; returns the path of the library.

    Raises CropError with the end of the compiler's output.
    """
    if not (source / "CMakeLists.txt").is_file() or not (source / "lite_runtime").is_dir():
        raise CropError(f"--source={source}: is not a checkout of mslite")
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
        raise CropError("--source needs cmake and a compiler; cmake is not installed") from None
    if done.returncode != 0:
        raise CropError(f"{' '.join(command)} failed:\n{done.stdout[-_SHOWN:].strip()}")
