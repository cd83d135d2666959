"""Sizes and instruction counts of generated C stay where they were."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mslite.codegen.bench import Result, measure
from mslite.codegen.targets import target_named

from .bench_micro import BASELINE, OURS, growth


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("target", ["cortex-m4", pytest.param("cortex-m55", marks=pytest.mark.slow)])
def test_nothing_grows(name: str, target: str, tmp_path: Path) -> None:
    for program in ("qemu-system-arm", "arm-none-eabi-gcc"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    model = tmp_path / "net.tflite"
    model.write_bytes(OURS[name]())
    chosen = target_named(target)
    results = measure(name, model, chosen, [chosen.optimization])
    assert growth(results, json.loads(BASELINE.read_text())) == []


def test_growth_is_found() -> None:
    known = json.loads(BASELINE.read_text())
    results = [Result(**entry) for entry in known]
    assert growth(results, known) == []
    worse = replace(results[0], instructions=int(results[0].instructions * 1.03), exact=False)
    assert len(growth([worse], known)) == 2
