"""Plans as generated C: two memories, and what runs row by row, give the bits of the runtime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mslite.codegen.memory import MemoryOptions

from . import modules
from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core

CHECKED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("make", [modules.floats, modules.stored, modules.counter])
@pytest.mark.parametrize("options", [MemoryOptions(), MemoryOptions().least()], ids=["default", "least"])
def test_two_memories(tmp_path: Path, make: object, options: MemoryOptions) -> None:
    assert callable(make)
    path = modules.write(make(), tmp_path)
    whole = generate_core(path, settings=Settings(options)).plan.size
    settings = Settings(replace(options, fast_size=whole // 2), options=CHECKED)
    core = generate_core(path, settings=settings)
    assert 0 <= core.plan.fast_size == whole // 2 // 16 * 16
    header = core.files["src/model0/net0.h"]
    assert ("_run_in_two" in header) == (core.plan.fast_size > 0)
    compiled, reference = Compiled(core, tmp_path / "project", settings), Reference(path, core.program)
    given = [by_chance(core.program, seed) for seed in range(2)]
    assert max(difference(reference.run(one), compiled.run(one)) for one in given) == 0
