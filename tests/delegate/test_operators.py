"""Single operators: each engine computes what the operators' references do, or says why it does not take the call."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.element_types.direct_files import Call

from .engines import Engine
from .models import HALF, calls, in_half, is_close, write, write_inside

LEAST = 1e-5
"""Engines have their own exponential functions, and add in another order."""
ROUNDED = float(HALF.eps)
"""float16 has 11 bits, so rounding once changes a number by 2^-11 of it at most, half of `eps`. Results are rounded once; all
operands are numbers that float16 has, but weights that are made of several constants (batch normalization's) are rounded as
well: twice 2^-11. Sums inside a kernel are float32, and add nothing."""
SAMPLE = 16
"""One call of so many runs in CI; all of them in `make check-slow`."""
HERE = Path(__file__).parent

pytestmark = pytest.mark.nonconforming("one node, with operands that other versions may not take as constants")


def problem_of(engine: Engine, call: Call, folder: Path) -> str | None:
    """What is wrong with a call on the engine; "" where nothing is, None where the engine does not take it."""
    if engine.is_half:
        call = in_half(call)
    # What is at the border of a part is stored as the CPU has it.
    path, inputs = (write_inside if engine.is_half or engine.has_images else write)(call, folder)
    model = engine.built(path)
    (placement,) = (placement for placement in model.placements() if placement.node == "node")
    if not engine.has(placement):
        assert placement.reason, "what runs on the CPU has a reason"
        return None
    got = [tensor.get_data_to_numpy() for tensor in model.predict(inputs)]
    tolerance = max(call.case.tolerance, LEAST) + (ROUNDED if engine.is_half else 0)
    if all(is_close(mine, wanted, tolerance) for mine, wanted in zip(got, call.wanted, strict=True)):
        return ""
    return f"{call.case.name}: {[(array.dtype, array.shape) for array in got]}, off by {_distances(got, call.wanted)}"


def _distances(got: list[np.ndarray], wanted: list[np.ndarray]) -> list[float]:
    with np.errstate(invalid="ignore"):
        return [
            float(np.nanmax(np.abs(mine.astype(np.float64) - right.astype(np.float64)), initial=0))
            for mine, right in zip(got, wanted, strict=True)
            if mine.shape == right.shape
        ]


def run(engine: Engine, chosen: list[Call], folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The operators that the engine takes some of these calls of; all that it takes must be right."""
    monkeypatch.setenv("MSLITE_DELEGATE_COSTS", "off")  # whatever copies cost
    taken: set[str] = set()
    problems = []
    for call in chosen:
        problem = problem_of(engine, call, folder)
        taken |= set() if problem is None else {call.name}
        problems += [problem] if problem else []
    assert not problems, "\n".join(problems)
    return taken


def test_a_sample_of_calls(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [call for call in calls() if zlib.crc32(call.case.name.encode()) % SAMPLE == 0]
    assert len(run(engine, chosen, tmp_path, monkeypatch)) > 15


@pytest.mark.slow
def test_every_call(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = run(engine, list(calls()), tmp_path, monkeypatch)
    # One operator a line. docs/operators.md shows at least these (tests/converter/test_operator_pages.py).
    assert sorted(taken) == (HERE / f"{engine.name.lower()}_operators.txt").read_text().split()
