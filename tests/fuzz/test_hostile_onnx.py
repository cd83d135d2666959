"""Every model of hostile_onnx.py is converted within its limits, or refused with a message that names what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from .hostile_onnx import MODELS
from .limits import ENVIRONMENT, SUCCESS, problem_of

# Unusual, or wrong only in what an input will hold when the model runs.
POSSIBLE = frozenset(
    [
        "gather_index",
        "gemm_rank_4",
        "lrn_size",
        "lstm_hidden_huge",
        "nested_20",
        "one_hot_depth",
        "pad_reflect_too_far",
        "pool_everything_large",
        "pool_include_pad_large",
        "scatter_index",
        "slice_extremes",
    ]
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("hostile")
    files = []
    for name, build in MODELS.items():
        files.append(folder / f"{name}.onnx")
        files[-1].write_bytes(build().SerializeToString())
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run_converter", *map(str, files)],
        capture_output=True,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        check=False,
    )
    lines = run.stdout.splitlines()
    assert len(lines) == len(files), run.stderr[-2000:]
    return {path.stem: json.loads(line) for path, line in zip(files, lines, strict=True)}


@pytest.mark.parametrize("name", MODELS)
def test_one_clear_error(name: str, results: dict[str, dict[str, object]]) -> None:
    result = results[name]
    assert problem_of(result) is None, f"{problem_of(result)}: {result['text']}"
    if name not in POSSIBLE:
        assert result["code"] != SUCCESS, "an impossible model was converted"
