"""Models of the open set: the outputs of the reference runtimes, in float16 nearly those of the CPU, and most of the work on the
engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.models import MODELS, Entry, convert_model, differences, models, run_case

from .engines import Engine
from .models import half_cases

FLOATS = [entry for entry in models() if entry.tolerance_class == "float"]
SAMPLE = {
    "torch_cnn/squeezenet1_1_op11": 1.0,
    "torch_transformer/vit_tiny_slim_op17": 0.95,
    "torch_cnn/mobilenet_v3_small_w05_op17": 1.0,
    "keras_tflite/transformer_block_float": 0.95,
}
"""Models that CI runs, with the least share of their floating-point operations that has to run on the engine."""


@pytest.mark.skipif(bool(FLOATS), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


def share_of(engine: Engine, entry: Entry, folder: Path) -> float:
    """Runs every case of a model; the share of its floating-point operations that the engine has taken."""
    path = convert_model(entry, folder)
    model = engine.built(path)
    problems: list[str] = []
    if engine.is_half:
        problems = [problem for _, problem in half_cases(entry, path, model) if problem]
    else:
        for number, case in enumerate(entry.cases):
            got = run_case(entry, model, case)
            problems += [f"case {number}: {problem}" for problem in differences(entry, case, got)]
    assert not problems, "\n".join(problems)
    return engine.share(model.placements())


def _parameters() -> list[object]:
    return [
        pytest.param(entry, id=entry.path, marks=[] if entry.path in SAMPLE else [pytest.mark.slow]) for entry in FLOATS
    ]


@pytest.mark.parametrize("entry", _parameters())
def test_model_gives_the_reference_outputs(engine: Engine, entry: Entry, tmp_path: Path) -> None:
    share = share_of(engine, entry, tmp_path)
    assert share >= SAMPLE.get(entry.path, 0.0)
