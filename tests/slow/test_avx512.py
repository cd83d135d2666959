"""The AVX-512 and AVX-512 VNNI kernels, on an emulated machine that has both: kernel tests, sums and products of all pairs
of bytes, and every quantized model, whose outputs are compared with those of the scalar kernels here (that
tests/slow/test_integers.py compares with the reference's). One boot for everything, small models first; ten minutes on a quiet machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir import module_io
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.e2e.integers import ISAS, int8_models, run
from tests.e2e.models import MODELS, convert_model
from tests.kernels.integer_pairs import PAIR_OPERATORS, PAIR_SCALES, all_pairs
from tests.slow import avx512_machine

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
ISAS_512 = [isa for isa in ISAS if isa in ("avx512", "vnni")]
PAIRS = [(operator, scales) for operator in PAIR_OPERATORS for scales in PAIR_SCALES]
ENTRIES = sorted(int8_models(), key=lambda entry: entry.source.stat().st_size)
_SECONDS = 2 * 3600.0

pytestmark = [
    pytest.mark.skipif(bool(avx512_machine.missing()), reason=avx512_machine.missing()),
    pytest.mark.skipif(not (BUILD / "tests" / "run_cases").exists(), reason=f"no tests built in {BUILD}"),
]


class Plan:
    """The commands of one boot, by name, and what they read."""

    def __init__(self, folder: Path) -> None:
        self.commands: dict[str, str] = {}
        self.files: dict[str, Path] = {}
        tests = BUILD / "tests"
        self.programs = [tests / "run_cases", tests / "dot_test", tests / "runtime" / "trace_model"]
        cases = folder / "cases.bin"
        subprocess.run([sys.executable, "-m", "tests.kernels.export_cases", str(cases)], check=True, cwd=ROOT)
        self.files["/cases.bin"] = cases
        self.commands["run_cases"] = f"{self.programs[0]} /cases.bin"
        self.commands["dot_test"] = str(self.programs[1])
        for operator, scales in PAIRS:
            label = f"{operator} {scales}"
            self._add_pairs(label, folder / label, operator, scales)
        for entry in ENTRIES:
            self._add_model(entry.path, folder / entry.path)

    def _add_model(self, path: str, folder: Path) -> None:
        entry = next(entry for entry in ENTRIES if entry.path == path)
        folder.mkdir(parents=True)
        model = convert_model(entry, folder)
        for number, case in enumerate(entry.cases):
            self._add_run(f"{path} {number}", model, [entry.folder / name for name in case["inputs"]], folder)

    def _add_pairs(self, label: str, folder: Path, operator: str, scales: tuple[float, float, float]) -> None:
        folder.mkdir(parents=True)
        onnx, arrays, _ = all_pairs(operator, scales, repeats=False)
        module = parse(onnx)
        run_pipeline(module, Settings())
        module_io.save(module, folder / "model.ms")
        inputs = [folder / f"{value.name}.npy" for value in module.main.inputs]
        for path in inputs:
            np.save(path, arrays[path.stem])
        self._add_run(label, folder / "model.ms", inputs, folder)

    def _add_run(self, label: str, model: Path, inputs: list[Path], folder: Path) -> None:
        """On both instruction sets, beside the outputs of the scalar kernels here."""
        here, there = folder / f"case{len(self.commands)}", f"/models/{len(self.commands)}"
        outputs = len(run(model, inputs, here, "scalar").outputs)
        names = [f"{there}/input_{i}.npy" for i in range(len(inputs))]
        self.files[f"{there}/model.ms"] = model
        self.files.update(zip(names, inputs, strict=True))
        self.files.update({f"{there}/output_{i}.npy": here / f"output_{i}.npy" for i in range(outputs)})
        for isa in ISAS_512:
            compare = [f"cmp {there}/output_{i}.npy /tmp/output_{i}.npy" for i in range(outputs)]
            trace = f"MSLITE_ISA={isa} {self.programs[2]} {there}/model.ms /tmp 0 {' '.join(names)} >/tmp/steps"
            steps = ["rm -f /tmp/output_*", trace, *compare, "cut -f2 /tmp/steps | sort -u"]
            self.commands[f"{isa} {label}"] = " && ".join(steps)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, avx512_machine.Result]:
    """What became of every command, by name."""
    plan = Plan(tmp_path_factory.mktemp("avx512"))
    found = avx512_machine.run(
        list(plan.commands.values()), plan.programs, plan.files, BUILD / "avx512_machine", _SECONDS
    )
    return dict(zip(plan.commands, found, strict=False))


def test_kernel_cases(results: dict[str, avx512_machine.Result]) -> None:
    result = results["run_cases"]
    assert result.code == 0, result.text[-2000:]
    assert "instruction sets: avx2 avx512 scalar" in result.text


def test_dot_products(results: dict[str, avx512_machine.Result]) -> None:
    result = results["dot_test"]
    assert result.code == 0, result.text[-2000:]
    for kernel in ("conv2d_gemm_int8", "matmul_gemm_int8", "full_connection_gemm_int8"):
        for isa in ISAS_512:
            assert f"compared: {kernel}_{isa}\n" in result.text


@pytest.mark.parametrize("isa", ISAS_512)
@pytest.mark.parametrize(("operator", "scales"), PAIRS)
def test_all_pairs_of_bytes_have_the_scalar_bits(
    operator: str, scales: tuple[float, float, float], isa: str, results: dict[str, avx512_machine.Result]
) -> None:
    result = results[f"{isa} {operator} {scales}"]
    assert result.code == 0, result.text[-2000:]
    assert "binary_row_int8_" in result.text


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


@pytest.mark.parametrize("isa", ISAS_512)
@pytest.mark.parametrize("path", [entry.path for entry in ENTRIES])
def test_models_have_the_scalar_bits(path: str, isa: str, results: dict[str, avx512_machine.Result]) -> None:
    names = [name for name in results if name.rpartition(" ")[0] == f"{isa} {path}"]
    assert names
    for name in names:
        assert results[name].code == 0, results[name].text[-2000:]


@pytest.mark.skipif(not ENTRIES, reason="no models")
@pytest.mark.parametrize("isa", ISAS_512)
def test_kernels_of_the_instruction_set_ran(isa: str, results: dict[str, avx512_machine.Result]) -> None:
    kernels = {line for name, result in results.items() if name.startswith(f"{isa} ") for line in result.text.split()}
    assert any(kernel.endswith(f"_{isa}") for kernel in kernels), sorted(kernels)
