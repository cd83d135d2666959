"""`--kernelLibrary=cmsis-nn`: calls fit the library's API, and give the bits of the runtime.

`cmsis_nn/` holds what these calls rely on of that API, as a header and as plain C of what the functions are defined to compute.
With MSLITE_CMSIS_NN set to a checkout of CMSIS-NN, 7.0.0 or later, the same networks run with the library itself, on this
machine and under QEMU.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.cmsis import with_cmsis_nn
from mslite.codegen.core import Core
from mslite.codegen.emit import emit_cores
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.lowering import lower_ms
from mslite.codegen.lowering.read_model import as_ms
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.program import Program
from mslite.codegen.targets import COMMON_OPTIONS, STRICT_OPTIONS, target_named

from .generated import Compiled, Reference, Settings, by_chance, difference
from .networks import Network, keywords, resnet8

sys.path.append(str(Path(__file__).resolve().parents[1] / "parsers" / "tflite"))
from tflite_build import Tensor

FACTS = Path(__file__).parent / "cmsis_nn"
LIBRARY = os.environ.get("MSLITE_CMSIS_NN", "")
_SAME = 0


class _More(Network):
    """Operators that the other networks do not have."""

    def maximum(self, size: int, stride: int) -> int:
        n, h, w, c = self._shape(self.latest)
        scale, zero = self._tensors[self.latest].quant  # type: ignore[misc]
        steps = {1: ("int", stride), 2: ("int", stride), 3: ("int", size), 4: ("int", size), 5: ("byte", 0)}
        shape = (n, -(-h // stride), -(-w // stride), c)
        return self._add(
            "MAX_POOL_2D",
            [self.latest],
            shape,
            float(scale),  # type: ignore[arg-type]
            int(zero),  # type: ignore[call-overload]
            options={0: ("byte", _SAME), **steps},
            options_type="Pool2DOptions",
        )

    def times(self, a: int, b: int) -> int:
        scale = 60.0 * self._tensors[a].quant[0] * self._tensors[b].quant[0]  # type: ignore[index,operator]
        return self._add(
            "MUL", [a, b], self._shape(a), float(scale), 5, options={0: ("byte", 0)}, options_type="MulOptions"
        )

    def product(self, columns: int) -> int:
        """With a constant matrix."""
        *rest, terms = self._shape(self.latest)
        values = self._chance.integers(-127, 128, (terms, columns)).astype(np.int8)
        self._tensors.append(Tensor(f"matrix_{len(self._tensors)}", values.shape, "int8", values, (0.01, 0)))
        shape = (*rest, columns)
        return self._add(
            "BATCH_MATMUL", [self.latest, len(self._tensors) - 1], shape, 0.4, 3, options_type="BatchMatMulOptions"
        )


def mixture() -> bytes:
    """Sums, products, maxima and averages over padding, strides of two, odd numbers of channels."""
    net = _More(1, 13, 11, 3)
    x = net.convolution(7, (3, 3))
    y = net.convolution(7, (1, 1), relu=False)
    net.times(net.add(x, y), y)
    net.maximum(3, 2)
    net.depthwise((3, 3), 2)
    net.depthwise((5, 3))
    net.convolution(9, (1, 1), 2)
    net.convolution(6, (2, 3), relu=False)
    return net.bytes()


def _matrix() -> bytes:
    net = _More(1, 5, 12)
    net.product(10)
    return net.bytes()


def _program(model: bytes, target: str, folder: Path) -> tuple[Path, Program]:
    path = folder / "model.tflite"
    path.write_bytes(model)
    with as_ms(path, {}) as converted:
        kept = folder / "model.ms"
        shutil.copy(converted, kept)
    chosen = target_named(target)
    return kept, with_cmsis_nn(lower_ms(kept, chosen), chosen)


def _core(program: Program) -> Core:
    return emit_cores([(program, plan_memory(program, MemoryOptions()))])[0]


def _called(program: Program) -> set[str]:
    return {step.kernel for step in program.steps if step.call is not None}


@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize(
    ("network", "functions"),
    [
        (mixture, {"arm_convolve_wrapper_s8", "arm_depthwise_conv_wrapper_s8", "arm_elementwise_add_s8",
                    "arm_elementwise_mul_s8", "arm_max_pool_s8"}),
        (_matrix, {"arm_fully_connected_per_channel_s8"}),
    ],
)  # fmt: skip
def test_the_same_bits(network: Callable[[], bytes], functions: set[str], target: str, tmp_path: Path) -> None:
    """By the definitions of the functions, on this machine."""
    path, program = _program(network(), target, tmp_path)
    assert _called(program) == functions
    core = _core(program)
    core.files["src/reference.c"] = (FACTS / "reference.c").read_text()
    options = ("-O1", "-fwrapv", f"-I{FACTS}")
    compiled = Compiled(core, tmp_path / "core", Settings(options=options))
    reference = Reference(path, program)
    for seed in range(4):
        inputs = by_chance(program, seed)
        assert difference(reference.run(inputs), compiled.run([array.copy() for array in inputs])) == 0


@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
@pytest.mark.parametrize("network", [keywords, resnet8])
def test_calls_fit_the_api(network: Callable[[], bytes], compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    _, program = _program(network(), "cortex-m55", tmp_path)
    assert {"arm_avgpool_s8", "arm_softmax_s8"} <= _called(program)
    chosen = target_named("cortex-m55").options if compiler.startswith("arm-") else ()
    for name, text in _core(program).files.items():
        path = tmp_path / "core" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in sorted((tmp_path / "core" / "src" / "cmsis_nn").glob("*.c")):
        command = [compiler, *chosen, *COMMON_OPTIONS, *STRICT_OPTIONS, f"-I{FACTS}", "-fsyntax-only", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "change",
    [("int32_t w, h;", "int32_t w, h, d;"), ("const int32_t right_offset, ", ""), ("const dims *bias, ", "")],
)
def test_another_api_does_not_compile(change: tuple[str, str], tmp_path: Path) -> None:
    _, program = _program(_matrix(), "cortex-m4", tmp_path)
    text = (FACTS / "arm_nnfunctions.h").read_text()
    folder = tmp_path / "other"
    for name, content in _core(program).files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    # Directives need their lines.
    lines = [line for line in text.split("\n") if line.startswith("#")]
    body = " ".join(line for line in text.split("\n") if not line.startswith("#"))
    while "  " in body:
        body = body.replace("  ", " ")
    assert change[0] in body
    header = "\n".join([*lines[:-1], body.replace(*change), lines[-1]])
    (tmp_path / "arm_nnfunctions.h").write_text(header)
    sources = [str(path) for path in (folder / "src" / "cmsis_nn").glob("*.c")]
    command = ["gcc", *COMMON_OPTIONS, f"-I{tmp_path}", "-fsyntax-only", *sources]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_too_little_working_memory_is_reported(tmp_path: Path) -> None:
    """A version that needs more than was reserved ends the run with an error."""
    _, program = _program(mixture(), "cortex-m4", tmp_path)
    core = _core(program)
    core.files["src/reference.c"] = "#define NEEDED_BYTES 100000\n" + (FACTS / "reference.c").read_text()
    compiled = Compiled(core, tmp_path / "core", Settings(options=("-O1", "-fwrapv", f"-I{FACTS}")))
    with pytest.raises(AssertionError, match="model0_run returns"):
        compiled.run(by_chance(program, 1))


def test_fully_connected_layers_stay_ours(tmp_path: Path) -> None:
    """Their results are rounded once, which CMSIS-NN does not do; the step says so."""
    _, program = _program(keywords(), "cortex-m4", tmp_path)
    layers = [step for step in program.steps if step.operator == "FullConnection"]
    assert layers
    assert all(step.call is None and "rounds its results once" in step.note for step in layers)


@pytest.mark.parametrize("machine", ["host", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("network", [keywords, resnet8, mixture, _matrix])
def test_with_the_library(network: Callable[[], bytes], machine: str, tmp_path: Path) -> None:
    if not Path(LIBRARY, "Include", "arm_nnfunctions.h").is_file():
        pytest.skip("MSLITE_CMSIS_NN is no checkout of CMSIS-NN")
    for program in () if machine == "host" else ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    model = tmp_path / "model.tflite"
    model.write_bytes(network())
    target = "cortex-m4" if machine == "host" else machine
    settings = GenerateSettings(target_named(target), tmp_path / "project", kernel_library="cmsis-nn", cases=4)
    generate([Source(model)], settings)
    goal = "host-test" if machine == "host" else "test"
    command = ["make", "-s", "-C", str(tmp_path / "project"), goal, f"CMSIS_NN={LIBRARY}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert "4 of 4 cases as recorded" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]


def test_a_project_asks_for_the_library(tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(_matrix())
    generate(
        [Source(model)], GenerateSettings(target_named("cortex-m4"), tmp_path / "project", kernel_library="cmsis-nn")
    )
    done = subprocess.run(
        ["make", "-C", str(tmp_path / "project"), "host-test"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "set it: make CMSIS_NN=../CMSIS-NN" in done.stderr
