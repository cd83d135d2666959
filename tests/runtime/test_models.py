"""Loads every .ms model of the shared set with the C++ library and compares with the recorded outputs.

The program `run_model` is found through MSLITE_BUILD (the CMake build folder) or in `build/`.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "models"
PROGRAM = pathlib.Path(os.environ.get("MSLITE_BUILD", ROOT / "build")) / "tests" / "runtime" / "run_model"

pytestmark = [
    pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here"),
    pytest.mark.skipif(not PROGRAM.is_file(), reason="run_model is not built (-DMSLITE_TESTS=ON)"),
]


DIFFERS = {
    "mltk_keyword_spotting_on_off_v3": "two classes nearly tie: LiteRT's optimized kernels and the runtime that recorded "
    "this say one, LiteRT's reference kernels and mslite, bit for bit the same, say the other"
}
"""Files whose recorded outputs are known not to be given; a test fails when one is."""


def _entries() -> list[Any]:
    entries = []
    for path in sorted(MODELS.glob("mindspore_ms*/*/meta.json")):
        name = path.parent.name
        marks = [pytest.mark.xfail(strict=True, reason=DIFFERS[name])] if name in DIFFERS else []
        entries.append(pytest.param(json.loads(path.read_text()), path.parent, id=name, marks=marks))
    return entries


def _run(model: pathlib.Path, prefix: pathlib.Path, inputs: list[pathlib.Path], threads: int = 1) -> Any:
    command = [PROGRAM, model, prefix, str(threads), *inputs]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def _is_close(got: Any, wanted: Any, limit: float) -> bool:
    return got.shape == wanted.shape and bool(np.abs(got.astype("f8") - wanted.astype("f8")).max() <= limit)


def _cosine(got: Any, wanted: Any) -> float:
    a, b = got.astype("f8").reshape(-1), wanted.astype("f8").reshape(-1)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _inputs(
    entry: dict[str, Any], folder: pathlib.Path, names: list[str], tmp_path: pathlib.Path
) -> list[pathlib.Path]:
    """The input files. What the original project recorded for models from Caffe lies in Caffe's order (NCHW)."""
    paths = [folder / name for name in names]
    if not entry["reference"].startswith("recorded by the original project"):
        return paths
    for index, path in enumerate(paths):
        array = np.load(path)
        n, h, w, c = array.shape
        paths[index] = tmp_path / path.name
        np.save(paths[index], np.ascontiguousarray(array.reshape(n, c, h, w).transpose(0, 2, 3, 1)))
    return paths


@pytest.mark.parametrize(("entry", "folder"), _entries())
def test_model(entry: dict[str, Any], folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if entry.get("expect") == "refused":
        result = _run(folder / "model.ms", tmp_path / "out", [])
        assert result.returncode == 1
        assert entry["model_info"]["version"] in result.stderr
        assert "convert the original model again" in result.stderr
        return
    if not entry["cases"]:
        # No recorded output. It must build, or name what is missing.
        result = _run(folder / "model.ms", tmp_path / "out", [])
        assert result.returncode == 1
        assert "inputs" in result.stderr or "cannot run" in result.stderr
        return
    for case in entry["cases"]:
        result = _run(folder / "model.ms", tmp_path / "out", _inputs(entry, folder, case["inputs"], tmp_path))
        assert result.returncode == 0, result.stderr
        got = [np.load(tmp_path / f"out_{index}.npy") for index in range(len(result.stdout.splitlines()))]
        wanted = [np.load(folder / name) for name in case["outputs"]]
        limits = [tolerance["max_abs_err"] for tolerance in case["tolerance"]]
        # The recorded outputs are in the order in which the old runtime listed them, which is not the file's.
        orders = list(itertools.permutations(range(len(wanted))))
        assert len(got) == len(wanted)
        assert any(all(_is_close(got[a], wanted[b], limits[b]) for a, b in enumerate(order)) for order in orders)
        if entry["tolerance_class"] == "int8":
            assert all(a.dtype == b.dtype and _cosine(a, b) >= 0.99 for a, b in zip(got, wanted, strict=True))


def test_same_bits_for_any_thread_count(tmp_path: pathlib.Path) -> None:
    folder = MODELS / "mindspore_ms" / "ml_face_isface"
    results = []
    for threads in (1, 2, 3, 7):
        result = _run(folder / "model.ms", tmp_path / f"t{threads}", [folder / "input_0.npy"], threads)
        assert result.returncode == 0, result.stderr
        results.append((tmp_path / f"t{threads}_0.npy").read_bytes())
    assert results[0] == results[1] == results[2] == results[3]
