"""Recurrent layers that are loops: generated C computes what the runtime and LiteRT's reference kernels compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.memory import MemoryOptions
from mslite.codegen.program import all_steps
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.parsers.tflite.integer_models import reference

from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core
from .recurrent_loops import recurrent

SETTINGS = {
    "plain": Settings(),
    "least memory": Settings(MemoryOptions().least()),
    "checked": Settings(options=("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")),
    "threads": Settings(MemoryOptions(overlap=False), threads=2),
}


@pytest.mark.parametrize("stored", [False, True], ids=["float", "int8"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_numbers(kind: str, stored: bool, tmp_path: Path) -> None:
    content = recurrent(stored)
    (tmp_path / "model.tflite").write_bytes(content)
    file = convert(Options(tmp_path / "model.tflite", tmp_path / "model")).files[0]
    core = generate_core(file, settings=SETTINGS[kind])
    operators = {step.operator for step in all_steps(core.program)}
    assert "ScatterNdUpdate" in operators
    assert not operators & {"SliceFusion", "Concat", "QuantDTypeCast"}
    compiled, runtime = Compiled(core, tmp_path / "c", SETTINGS[kind]), Reference(file, core.program)
    for seed in range(3):
        inputs = by_chance(core.program, seed)
        have = compiled.run(inputs)
        assert difference(runtime.run(inputs), have) <= (0 if stored else 1e-6)
        for one, other in zip(have, reference(content, inputs, "BUILTIN_REF"), strict=True):
            if stored:
                np.testing.assert_array_equal(one, other)
            else:
                np.testing.assert_allclose(one, other, atol=1e-6)
