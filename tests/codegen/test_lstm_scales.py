"""Generated C of an LSTM on stored integers: the runtime's bits, and no table of multipliers where scales are one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.stored_lstm import GATES, UNITS, scales, stored_lstm

from . import modules
from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core

_CHECKED = Settings(options=("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"))
_TABLE = 5 * GATES * UNITS
"""Bytes of a weight's multipliers and shifts."""


def _per_gate(weight: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Scales that the units of each gate share in one of the weights."""
    shared = scales(1)
    shared[weight] = shared[weight][:, :1]
    return shared


@pytest.mark.parametrize("whole_sums", [False, True])
def test_the_runtime_s_bits(whole_sums: bool, tmp_path: Path) -> None:
    path = modules.write(stored_lstm(scales(1), 3, whole_sums=whole_sums), tmp_path)
    core = generate_core(path, "x86", _CHECKED)
    compiled, runtime = Compiled(core, tmp_path / "project", _CHECKED), Reference(path, core.program)
    for seed in range(3):
        inputs = by_chance(core.program, seed)
        assert difference(runtime.run(inputs), compiled.run(inputs)) == 0


@pytest.mark.parametrize("target", ["x86", "cortex-m3"])
def test_shared_scales_take_no_table(target: str, tmp_path: Path) -> None:
    def packed(name: str, every: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> list[int]:
        core = generate_core(modules.write(stored_lstm(every, 3), tmp_path, name), target)
        (step,) = core.program.steps
        return [len(step.packed[weight]) for weight in (1, 2)]

    of_x, of_hidden = packed("units", scales(1))
    assert packed("x", _per_gate(0)) == [of_x - _TABLE, of_hidden]
    assert packed("hidden", _per_gate(1)) == [of_x, of_hidden - _TABLE]
