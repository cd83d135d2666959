"""Checks that quantized models give the integers of LiteRT's reference kernels, for each instruction set.

    python -m tests.e2e.integers [-k TEXT] [--isa NAME]... [--where]

Prints a line per model and instruction set: equal or not, the first differing step (--where), and nodes that are computed in float32
between casts because they have no integer kernel. An instruction set is a value of MSLITE_ISA (`scalar`, `avx2`, `avx512`, `vnni`), or
`arm64:` and a value (`arm64:neon`, `arm64:neon_dot`), which runs the cross build MSLITE_ARM64_BUILD under QEMU. The program
`trace_model` is in MSLITE_BUILD, or in `build/`.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tflite

from tests.e2e.models import Array, Entry, convert_model, models

ROOT = Path(__file__).resolve().parents[2]
ISAS = ("scalar", "avx2", "avx512", "vnni", "arm64:neon", "arm64:neon_dot")
_RELATIVE = 1e-6
"""Tolerance of float values relative to the largest magnitude of their tensor."""
_REAL = "_real"
"""Suffixes of values that exist because a node has no integer kernel."""
_FLOAT = (tflite.TensorType.FLOAT16, tflite.TensorType.FLOAT32, tflite.TensorType.FLOAT64, tflite.TensorType.COMPLEX64)
_BOUNDARY = ("QUANTIZE", "DEQUANTIZE")


@dataclass(frozen=True)
class Step:
    """A kernel call of a run, with the names of its operands in order."""

    operator: str
    kernel: str
    node: str
    reads: Sequence[str]
    writes: Sequence[str]

    @property
    def is_fallback(self) -> bool:
        """Whether it computes quantized values of the model in float32."""
        is_cast = self.operator == "QuantDTypeCast"
        names = list(self.writes) if is_cast else [*self.reads, *self.writes]
        return any(name.endswith(_REAL) for name in names) and not is_cast


@dataclass(frozen=True)
class Run:
    """The outputs of one case, in the model's order, and the executed steps."""

    outputs: Sequence[Array]
    steps: Sequence[Step]

    @property
    def fallbacks(self) -> list[Step]:
        return [step for step in self.steps if step.is_fallback]


class UnavailableError(Exception):
    """The instruction set, or the program for it, is not available; the message has the reason."""


def int8_models() -> list[Entry]:
    """Returns the models of the open set with integer activations; empty if the set is not available."""
    return [entry for entry in models() if entry.tolerance_class == "int8" and entry.kind == "tflite"]


def _command(isa: str) -> tuple[list[str], dict[str, str]]:
    """Returns the program for `isa` and its environment. Raises UnavailableError."""
    target, _, name = isa.rpartition(":")
    variable = "MSLITE_ARM64_BUILD" if target else "MSLITE_BUILD"
    build = os.environ.get(variable, "" if target else "build")
    program = ROOT / build / "tests" / "runtime" / "trace_model"
    if not build or not program.is_file():
        raise UnavailableError(f"no trace_model for {isa}; {variable} names a build with -DMSLITE_TESTS=ON")
    emulator = ["qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu"] if target else []
    return [*emulator, str(program)], {**os.environ, "MSLITE_ISA": name}


@functools.cache
def availability(isa: str) -> str:
    """Returns why `isa` cannot be tested here; empty if it can."""
    try:
        command, environment = _command(isa)
        # Without inputs, the program ends after building the model and reports an unsupported MSLITE_ISA.
        model = str(ROOT / "tests" / "models" / "quantized.ms")
        text = subprocess.run([*command, model, ".", "0"], env=environment, capture_output=True, text=True, check=False)
    except (UnavailableError, OSError) as error:
        return str(error)
    return next((line for line in text.stderr.splitlines() if "MSLITE_ISA" in line), "")


def run(model: Path, inputs: Sequence[Path], folder: Path, isa: str, keeps_contents: bool = False) -> Run:
    """Runs a `.ms` file. Raises RuntimeError with the program's message."""
    command, environment = _command(isa)
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [str(model), str(folder), str(int(keeps_contents)), *map(str, inputs)]
    result = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip() or f"ended with {result.returncode}")
    steps = []
    for line in result.stdout.splitlines():
        operator, kernel, node, *operands = line.split("\t")
        names = {mark: [text.partition(" ")[2] for text in operands if text[0] == mark] for mark in "<>"}
        steps.append(Step(operator, kernel, node, names["<"], names[">"]))
    count = len(list(folder.glob("output_*.npy")))
    return Run([np.load(folder / f"output_{index}.npy") for index in range(count)], steps)


def integer_outputs(source: Path) -> list[bool]:
    """Returns for each output of a `.tflite` file whether there are only casts and integers between the inputs and it."""
    model = tflite.Model.GetRootAsModel(source.read_bytes(), 0)
    graph = model.Subgraphs(0)
    codes = [model.OperatorCodes(index) for index in range(model.OperatorCodesLength())]
    names = {value: name for name, value in vars(tflite.BuiltinOperator).items() if isinstance(value, int)}
    through_reals: set[int] = set()
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        code = codes[operator.OpcodeIndex()]
        name = names[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
        reads = [place for place in operator.InputsAsNumpy().tolist() if place >= 0]
        writes = operator.OutputsAsNumpy().tolist()
        is_real = any(graph.Tensors(place).Type() in _FLOAT for place in [*reads, *writes])
        if (is_real and name not in _BOUNDARY) or any(place in through_reals for place in reads):
            through_reals.update(writes)
    return [place not in through_reals for place in graph.OutputsAsNumpy().tolist()]


def difference(got: Array, want: Array) -> str:
    """Returns why `got` is not the reference's result; empty if it is."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if not got.size or np.array_equal(got, want):
        return ""
    off = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if got.dtype.kind != "f":
        return f"{np.count_nonzero(off)} of {off.size} differ, by up to {off.max():.0f}"
    limit = _RELATIVE * float(np.abs(want).max())
    return "" if off.max() <= limit else f"off by {off.max():.3g}, allowed {limit:.3g}"


def wrong_outputs(entry: Entry, number: int, got: Sequence[Array]) -> list[str]:
    """Returns the differences from the recorded outputs of the reference kernels in case `number`.

    Integers must be equal if no operator on float values precedes them; float outputs there within `_RELATIVE`; other outputs within the
    tolerance of the manifest.
    """
    case = entry.cases[number]
    names = case.get("reference_kernels", case["outputs"])
    if len(names) != len(got):
        return [f"{len(got)} outputs instead of {len(names)}"]
    exact = integer_outputs(entry.source)
    problems = []
    for index, (mine, name) in enumerate(zip(got, names, strict=True)):
        want, tolerance = np.load(entry.folder / name), case["tolerance"][index]
        problem = difference(mine, want)
        if problem and not exact[index] and mine.shape == want.shape and not tolerance.get("unstable"):
            off = np.abs(mine.astype(np.float64) - want.astype(np.float64)).max()
            problem = "" if off <= tolerance["max_abs_err"] else problem
        if problem:
            problems.append(f"output {index}: {problem}")
    return problems


def problems_of(entry: Entry, model: Path, folder: Path, isa: str) -> list[str]:
    """Returns the problems of a converted model on one instruction set.

    These are results that differ from the reference, and nodes that are computed in float32 because they have no integer kernel.
    """
    problems = []
    for number, case in enumerate(entry.cases):
        result = run(model, [entry.folder / name for name in case["inputs"]], folder / f"case{number}", isa)
        problems += [f"case {number}, {text}" for text in wrong_outputs(entry, number, result.outputs)]
        problems += [f"{step.operator} '{step.node}' is computed in float32" for step in result.fallbacks]
    return problems


def first_difference(entry: Entry, number: int, model: Path, folder: Path, isa: str) -> str:
    """Returns the first step with a result that differs from LiteRT's reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    inputs = [entry.folder / name for name in entry.cases[number]["inputs"]]
    mine = run(model, inputs, folder, isa, keeps_contents=True)
    interpreter = Interpreter(
        str(entry.source),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    for detail, path in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], np.load(path).shape)
    interpreter.allocate_tensors()
    for detail, path in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], np.load(path))
    interpreter.invoke()
    places = {detail["name"]: detail["index"] for detail in interpreter.get_tensor_details()}
    for position, step in enumerate(mine.steps):
        for index, name in enumerate(step.writes):
            if name not in places:
                continue
            want = interpreter.get_tensor(places[name])
            got = np.load(folder / f"step_{position}_{index}.npy")
            if want.dtype == np.uint8 and got.dtype == np.int8:  # stored as int8
                got = got.view(np.uint8) ^ np.uint8(128)
            problem = difference(got.reshape(want.shape) if got.size == want.size else got, want)
            if problem:
                return f"{step.operator} '{step.node}' ({step.kernel}): {problem}"
    return ""


def _line(entry: Entry, isa: str, tells_where: bool, folder: Path) -> tuple[str, bool]:
    """Returns the result of a model on one instruction set, and whether it is correct."""
    try:
        model = convert_model(entry, folder)
        problems: list[str] = []
        fallbacks: list[Step] = []
        for number, case in enumerate(entry.cases):
            paths = [entry.folder / name for name in case["inputs"]]
            result = run(model, paths, folder / f"case{number}", isa)
            problems += [f"case {number}, {text}" for text in wrong_outputs(entry, number, result.outputs)]
            fallbacks = result.fallbacks
        where = ""
        if problems and tells_where:
            number = int(problems[0].split(",")[0].removeprefix("case "))
            where = first_difference(entry, number, model, folder / "trace", isa)
    except Exception as error:  # one line per model, also after errors
        return f"FAILS {type(error).__name__}: {str(error)[:200]}", False
    exact = integer_outputs(entry.source)
    text = "; ".join(problems) or ("equal" if all(exact) else "equal (partly through float values)")
    counts: dict[str, int] = {}
    for step in fallbacks:
        counts[step.operator] = counts.get(step.operator, 0) + 1
    if where:
        text += f"\n      first: {where}"
    if counts:
        text += "\n      in float32: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return text, not problems and not counts


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.integers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-k", default="", metavar="TEXT", help="only models whose path contains TEXT")
    parser.add_argument("--isa", action="append", help=f"one of {', '.join(ISAS)} (all)")
    parser.add_argument("--where", action="store_true", help="find the first step that differs (needs ai-edge-litert)")
    options = parser.parse_args(arguments)
    entries = [entry for entry in int8_models() if options.k in entry.path]
    everything = True
    for isa in options.isa or ISAS:
        problem = availability(isa)
        if problem:
            print(f"{isa}: skipped: {problem}")
            continue
        count = 0
        for entry in entries:
            with tempfile.TemporaryDirectory() as folder:
                text, is_right = _line(entry, isa, options.where, Path(folder))
            print(f"{isa:8} {entry.path}: {text}", flush=True)
            count += is_right
        print(f"{isa}: {count} of {len(entries)} models are right, with integer kernels only")
        everything = everything and count == len(entries)
    return 0 if everything else 1


if __name__ == "__main__":
    sys.exit(main())
