"""What the outputs of projects are compared with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.lowering import lower_ms
from mslite.codegen.project import record
from mslite.codegen.targets import TARGETS
from tests.passes.builder import Builder, numbers

from . import modules
from .generated import Array


def _exact(x: Array, weights: Array) -> Array:
    """The 3 x 3 convolution of `modules.convolution` in float64: [n, h, w, c] with [o, 3, 3, c]."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    n, h, w, _ = x.shape
    total = np.zeros((n, h, w, weights.shape[0]))
    for i in range(3):
        for j in range(3):
            total += padded[:, i : i + h, j : j + w] @ weights[:, i, j].T.astype(np.float64)
    return np.maximum(total, 0)


@pytest.mark.parametrize("target", ["cortex-m4", "x86"])
def test_convolutions_are_close_enough_to_be_compared(target: str, tmp_path: Path) -> None:
    """The runtime's convolution by Winograd's filtering rounds differently from kernels that multiply and add. Networks add
    to the difference, which is to stay within 1e-5; with the points 0, 1, -1, 2, -2 it was 4.7e-6 here."""
    weights = numbers(48, 3, 3, 32)
    build = Builder()
    x = build.input(1, 26, 26, 32)
    file = modules.write(build.module(build.call(modules.convolution(48, 32), x, weights, numbers(48) * 0)), tmp_path)
    program = lower_ms(file, TARGETS[target], {})
    is_transformed = any("winograd" in step.kernel for step in program.steps)
    assert is_transformed == (target == "x86"), "the test is about a convolution that Winograd's filtering makes faster"
    for case in record(file, program, 3):
        want = _exact(case.inputs[0], weights)
        assert np.abs(case.outputs[0] - want).max() < 1.5e-6 * want.max()
