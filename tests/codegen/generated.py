"""Compiles and runs generated C on this machine, for comparison with the runtime."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mslite.codegen.core import Core
from mslite.codegen.emit import EmitOptions, emit_cores, for_threads
from mslite.codegen.lowering import lower_ms
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.program import Program
from mslite.codegen.project import recorded
from mslite.codegen.targets import COMMON_OPTIONS, STRICT_OPTIONS, target_named
from mslite.converter.mindir.graph import numpy_type

Array = npt.NDArray[Any]

_ALIGNMENT = 64


@dataclass(frozen=True)
class Settings:
    """Options for generating and compiling the C."""

    memory: MemoryOptions = field(default_factory=MemoryOptions)
    weights_in_file: bool = False
    threads: int = 0
    """0: not parallel; else the C is generated for threads, and its tasks are called one after the other for that many threads."""
    debug: bool = False
    compiler: str = "gcc"
    options: tuple[str, ...] = ("-O2",)


def generate_core(model: Path, target: str = "x86", settings: Settings | None = None) -> Core:
    """Generates the C of a `.ms` file."""
    settings = settings or Settings()
    program = lower_ms(model, target_named(target))
    if settings.threads:
        program = for_threads(program)
    plan = plan_memory(program, settings.memory)
    return emit_cores([(program, plan)], EmitOptions(settings.weights_in_file, settings.threads > 0, settings.debug))[0]


def write_core(core: Core, folder: Path) -> list[Path]:
    """Writes the files. Returns those to compile."""
    for name, text in core.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [folder / name for name in sorted(core.files) if name.endswith(".c")]


class Compiled:
    """Generated C as a shared library."""

    def __init__(self, core: Core, folder: Path, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        compiler = shutil.which(settings.compiler)
        assert compiler is not None
        sources = write_core(core, folder)
        library = folder / "net.so"
        command = [
            compiler,
            *COMMON_OPTIONS,
            *STRICT_OPTIONS,
            *settings.options,
            "-shared",
            "-fPIC",
            "-o",
            str(library),
        ]
        done = subprocess.run([*command, *map(str, sources), "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        self.core = core
        self._library = ctypes.CDLL(str(library))
        self._arena = _Memory(core.arena_size)
        self._weights = _Memory(len(core.weights), core.weights) if core.weights is not None else None
        self._threads = _Threads(settings.threads) if settings.threads else None
        if core.has_variables:
            self._library.model0_reset(self._arena.address, *self._more())

    def _more(self) -> list[ctypes.c_void_p]:
        return [] if self._weights is None else [self._weights.address]

    def _shared(self) -> list[Any]:
        return [] if self._threads is None else [ctypes.byref(self._threads)]

    def entry(self, inputs: Sequence[Array]) -> tuple[Any, list[Any]]:
        """Returns the function that runs the model, and its arguments."""
        self._kept = [*inputs, *(np.zeros(one.shape, numpy_type(one.dtype)) for one in self.core.program.outputs)]
        outputs = self._kept[len(inputs) :]
        arguments = [_pointers(inputs), _pointers(outputs), self._arena.address, *self._more(), *self._shared()]
        return self._library.model0_run, arguments

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Returns the outputs of one run."""
        program = self.core.program
        outputs = [np.zeros(tensor.shape, numpy_type(tensor.dtype)) for tensor in program.outputs]
        given = _pointers(inputs)
        status = self._library.model0_run(
            given, _pointers(outputs), self._arena.address, *self._more(), *self._shared()
        )
        assert status == 0, f"model0_run returns {status}"
        assert self._arena.intact(), "the run writes behind its arena"
        return outputs


_TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)
_LAUNCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _TASK, ctypes.c_void_p)


class _Threads(ctypes.Structure):
    """`mslite_threads` of the test: the last thread runs first."""

    _fields_ = (("count", ctypes.c_int), ("launch", _LAUNCH), ("pool", ctypes.c_void_p))

    def __init__(self, count: int) -> None:
        def launch(pool: int, task: Any, context: int) -> None:
            for thread in reversed(range(count)):
                task(context, thread)

        super().__init__(count, _LAUNCH(launch), None)


class _Memory:
    """Bytes aligned to 64, with a guard after them."""

    def __init__(self, size: int, contents: bytes = b"") -> None:
        self._memory = np.full(size + 2 * _ALIGNMENT, 0xA5, np.uint8)
        begin = -self._memory.ctypes.data % _ALIGNMENT
        self._memory[begin : begin + len(contents)] = np.frombuffer(contents, np.uint8)
        self._end = begin + size
        self.address = ctypes.c_void_p(self._memory.ctypes.data + begin)

    def intact(self) -> bool:
        return bool((self._memory[self._end :] == 0xA5).all())


def _pointers(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))


class Reference(recorded.Reference):
    """Returns the outputs of portable kernels, which round floats like generated C."""

    def __init__(self, model: Path, program: Program) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MSLITE_ISA", "scalar")
            super().__init__(model, program)


def by_chance(program: Program, seed: int) -> list[Array]:
    """Returns random inputs: int8 over the full range, small values of wider integers, normal floats."""
    generator = np.random.default_rng(seed)
    arrays: list[Array] = []
    for tensor in program.inputs:
        dtype = numpy_type(tensor.dtype)
        if dtype.kind == "f":
            arrays.append(generator.standard_normal(tensor.shape).astype(dtype))
        elif dtype.itemsize == 1 and dtype.kind != "b":
            limits = (-128, 128) if dtype.kind == "i" else (0, 256)
            arrays.append(generator.integers(*limits, tensor.shape).astype(dtype))
        else:
            arrays.append(generator.integers(0, 2, tensor.shape).astype(dtype))
    return arrays


def difference(want: Sequence[Array], have: Sequence[Array]) -> float:
    """Returns the largest difference, 0 if all bits are equal.

    Floats: relative to the largest magnitude of the tensor. Integers: in quantization steps.
    """
    worst = 0.0
    for one, other in zip(want, have, strict=True):
        one = one.reshape(other.shape)
        if one.tobytes() == other.tobytes():
            continue
        first, second = one.astype(np.float64), other.astype(np.float64)
        with np.errstate(invalid="ignore"):
            steps = np.abs(first - second)
        steps[(first == second) | (np.isnan(first) & np.isnan(second))] = 0
        steps[np.isnan(steps)] = np.inf
        finite = np.abs(first[np.isfinite(first)])
        scale = float(finite.max(initial=0.0)) if one.dtype.kind == "f" else 1.0
        worst = max(worst, float(steps.max(initial=0.0)) / max(scale, 1e-30))
    return worst
