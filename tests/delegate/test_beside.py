"""OpenCL and the CPU at the same time: what each gets, and the same results as on the CPU."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

from .beside import PROGRAM, two_towers
from .engines import OPENCL
from .models import missing

FORKED = """<ir_version: 8, opset_import: ["" : 17]>
    forked (float[32, 48] x) => (float[32, 48] y, float[32, 48] v)
    <float[1] half = {0.5}, int64 axis = {1}> {
        a = Abs(x)  b = Mul(a, half)  c = Exp(b)  d = Neg(c)  v = CumSum(a, axis)  y = Add(d, a)
    }"""
"""OpenCL has no CumSum."""


@pytest.fixture(autouse=True)
def opencl() -> Iterator[None]:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    with OPENCL.chosen(MSLITE_DELEGATE_COSTS="off"):
        yield


def test_branches_that_it_does_not_have(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(FORKED), tmp_path / "forked.onnx")
    path = convert(Options(tmp_path / "forked.onnx", tmp_path / "forked")).files[0]
    x = np.random.default_rng(2).standard_normal((32, 48)).astype(np.float32)
    results, parts = [], []
    for target, branches in (("cpu", 1), ("gpu", 1), ("gpu", 2)):
        context = mslite.Context()
        context.target = [target]
        context.fallback = False
        context.cpu.thread_num = 2
        context.cpu.inter_op_parallel_num = branches
        model = mslite.Model()
        model.build_from_file(path, mslite.ModelType.MINDIR_LITE, context)
        runs = [[output.get_data_to_numpy().copy() for output in model.predict([x])] for _ in range(10)]
        for run in runs[1:]:
            assert all(np.array_equal(mine, first) for mine, first in zip(run, runs[0], strict=True))
        results.append(runs[0])
        parts.append(len({placement.part for placement in model.placements() if OPENCL.has(placement)}))
    for got in results[1:]:
        for mine, right in zip(got, results[0], strict=True):
            np.testing.assert_allclose(mine, right, rtol=1e-5, atol=1e-6)
    assert parts == [0, 1, 2], "a part ends where the branches begin"


def test_enable_parallel_leaves_a_branch_to_the_cpu(tmp_path: Path) -> None:
    path, report = two_towers(tmp_path), tmp_path / "report.json"
    subprocess.run(
        [PROGRAM, f"--modelFile={path}", "--device=GPU", "--numThreads=2", "--enableParallel", f"--jsonFile={report}"],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    placement = json.loads(report.read_text())["placement"]
    moved = [node for node in placement if node["engine"] == "CPU"]
    assert {node["reason"] for node in moved} == {"OpenCL: the CPU runs this branch while the backend runs others"}
    total = sum(node["flops"] for node in placement)
    assert 0.4 < sum(node["flops"] for node in moved) / total < 0.5, "one of the towers"
