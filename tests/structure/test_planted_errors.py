"""The checks of `make lint` see the whole package: an error planted in a copy of it is found, and nothing else.

On an editable install mypy skips mapped folders without a word, so it matters which tree it runs on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mslite

ROOT = Path(__file__).parents[2]
PACKAGE = Path(mslite.__file__).parent
TYPE_ERROR = "\nplanted: int = remove_identities\n"
FORBIDDEN_IMPORT = "\nfrom mslite.converter.parsers import onnx as planted  # noqa: E402\n"


def copy_with(folder: Path, module: str, text: str) -> None:
    """A copy of the package, links followed, with `text` at the end of one module."""
    skipped = shutil.ignore_patterns("__pycache__", "*.so", "*.cc", "*.h", "bin", "lib", "include")
    shutil.copytree(PACKAGE, folder / "mslite", ignore=skipped)
    cache = PACKAGE.parent / ".mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, folder / ".mypy_cache")
    with (folder / "mslite" / module).open("a") as file:
        file.write(text)


def run(folder: Path, *command: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "MYPYPATH": ".", "NO_COLOR": "1"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.slow
def test_mypy_finds_a_type_error(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    copy_with(tmp_path, "converter/passes/cleanup.py", TYPE_ERROR)
    config = str(ROOT / "pyproject.toml")
    status, output = run(tmp_path, sys.executable, "-m", "mypy", "--config-file", config, "-p", "mslite")
    assert status == 1, output
    assert "mslite/converter/passes/cleanup.py" in output
    assert "Incompatible types in assignment" in output
    assert "Found 1 error in 1 file" in output


def test_import_linter_finds_a_forbidden_import(tmp_path: Path) -> None:
    pytest.importorskip("importlinter")
    copy_with(tmp_path, "converter/passes/cleanup.py", FORBIDDEN_IMPORT)
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert program is not None, "import-linter is installed without its program"
    status, output = run(tmp_path, program, "--config", str(ROOT / ".ci" / "importlinter.toml"))
    assert status == 1, output
    assert "Passes do not import parsers BROKEN" in output
    assert "1 broken" in output
    assert "mslite.converter.passes.cleanup -> mslite.converter.parsers" in output
