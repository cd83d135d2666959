"""Generates C for every model of the open model set, builds and runs it, and compares with the runtime.

    python -m tests.codegen.sweep [--targets=x86,arm64,cortex-m4] [--memory=default,min] [--flags='-O2'] [--cc=clang]
        [--sanitize] [--parallel] [--results=FILE] [part of a path, or a model file ...]

Prints one line per model, target and memory mode: `equal` (integers bit for bit, floats within 1e-5 of the tensor's largest magnitude,
on the recorded inputs of the set and on random inputs), the reason if no C can be generated, or the failure. Smallest models run
first. Results that are already in FILE (one JSON object per line) are not computed again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from mslite.codegen.emit import EmitOptions, emit_cores, for_threads
from mslite.codegen.generate import GenerateSettings, memory_options
from mslite.codegen.lowering import lower_ms
from mslite.codegen.lowering.read_model import as_ms
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.program import Program
from mslite.codegen.project import Case, ProjectOptions, recorded, write_project
from mslite.codegen.targets import Target, target_named
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options

from .generated import Array, Reference, by_chance, difference

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
_LIMIT = 900
"""Time limit for one model in seconds."""
_SANITIZE = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


@dataclass(frozen=True)
class Job:
    """A model and its recorded cases: input files, and the outputs of LiteRT's reference kernels."""

    name: str
    model: Path
    size: int = 0
    cases: tuple[tuple[tuple[Path, ...], tuple[Path, ...]], ...] = ()
    nchw: bool = False
    """Returns whether recorded 4-D inputs are NCHW."""


def jobs(parts: Sequence[str]) -> list[Job]:
    """Returns the named files, and the models of the open set with one of `parts` in their path; smallest first."""
    found = [Job(part, Path(part)) for part in parts if Path(part).is_file()]
    words = [part for part in parts if not Path(part).is_file()]
    if not (MODELS / "manifest.json").is_file() or (found and not words):
        return found
    for entry in json.loads((MODELS / "manifest.json").read_text())["models"]:
        folder = MODELS / entry["path"]
        if words and not any(word in entry["path"] for word in words):
            continue
        cases = tuple(
            (
                tuple(folder / name for name in case["inputs"]),
                tuple(folder / name for name in case.get("reference_kernels", ())),
            )
            for case in entry["cases"]
        )
        names = [file["file"] for file in entry["files"] if not file["file"].endswith(".caffemodel")]
        size = sum(file["bytes"] for file in entry["files"])
        found.append(Job(entry["path"], folder / names[0], size, cases, entry["kind"] in ("onnx", "caffe")))
    return sorted(found, key=lambda job: job.size)


def _recorded(job: Job) -> list[tuple[list[Array], list[Array]]]:
    return [([np.load(one) for one in given], [np.load(one) for one in wanted]) for given, wanted in job.cases]


def _shapes(job: Job) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of the first case for models with dynamic shapes; `.ms` files of the set have fixed ones."""
    if not job.cases or job.model.suffix == ".ms":
        return {}
    manifest = json.loads((job.model.parent / "meta.json").read_text())
    arrays = [np.load(one) for one in job.cases[0][0]]
    return {entry["name"]: array.shape for entry, array in zip(manifest["inputs"], arrays, strict=True)}


def _as_given(arrays: Sequence[Array], program: Program, nchw: bool) -> list[Array] | None:
    """Returns recorded inputs in the layout of the program; None if their shapes differ."""
    found = []
    for array, tensor in zip(arrays, program.inputs, strict=True):
        if array.shape != tensor.shape and nchw and array.ndim == 4:
            array = array.transpose(0, 2, 3, 1)
        if array.shape != tensor.shape:
            return None
        found.append(np.require(array, requirements="C"))  # scalars keep their shape
    return found


def _wrong_integers(have: Sequence[Array], want: Sequence[Array]) -> str:
    """Returns how the runtime's integers differ from those of the reference kernels."""
    for number, (one, other) in enumerate(zip(have, want, strict=False)):
        if other.dtype.kind in "iu" and one.dtype == other.dtype and one.size == other.size:
            steps = difference([other], [one])
            if steps:
                return f"; runtime: output {number} {steps:g} steps off the reference kernels"
    return ""


class _Model:
    """A converted model with its cases."""

    def __init__(self, job: Job, file: Path, program: Program, kind: type[recorded.Reference]) -> None:
        reference = kind(file, program)
        self.note = ""
        self.cases: list[Case] = []
        for arrays, want in _recorded(job):
            given = _as_given(arrays, program, job.nchw)
            if given is None:
                continue
            have = reference.run(given) if not self.cases else kind(file, program).run(given)
            self.note = self.note or _wrong_integers(have, want)
            self._add(given, have)
        for seed in range(2):
            given = by_chance(program, seed)
            try:
                self._add(given, kind(file, program).run(given))
            except RuntimeError as error:
                self.note += f"; no random case: {str(error)[:80]}"

    def _add(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self.cases.append(Case(tuple(inputs), tuple(outputs)))


def _make(folder: Path, arguments: Sequence[str]) -> tuple[int, str]:
    command = ["make", "-s", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).replace("\n", " ; ")


def one(job: Job, target: Target, least: bool, given: argparse.Namespace) -> dict[str, Any]:
    """Returns the result for one model."""
    shapes = _shapes(job)
    weights = job.model.with_suffix(".caffemodel")
    options = Options(job.model, job.model, weight_file=weights) if weights.exists() else None
    settings = GenerateSettings(target, Path(), parallel=given.parallel)
    if least:
        settings = replace(settings, memory=MemoryOptions().least())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        try:
            with as_ms(job.model, shapes, options) as file:
                own = shapes if file == job.model else {}
                program = lower_ms(file, target, own, "model", str(job.model))
                program = for_threads(program) if given.parallel else program
                plan = plan_memory(program, memory_options(settings))
                emit = EmitOptions(weights_in_file=not target.is_micro, parallel=given.parallel)
                core = emit_cores([(program, plan)], emit)[0]
                kind = recorded.Reference if given.fused else Reference
                model = None if given.no_build else _Model(job, file, program, kind)
        except ConversionError as error:
            return {"result": "refused", "detail": str(error).replace("\n", " ")[:400]}
        except RuntimeError as error:  # error of the runtime: a custom operator without a kernel
            return {"result": "no reference", "detail": str(error).replace("\n", " ")[:400]}
        found: dict[str, Any] = {
            "steps": len(program.steps),
            "kernels": sorted({step.kernel for step in program.steps}),
            "arena": core.arena_size,
            "constants": core.constants_size,
        }
        if model is None:
            return {**found, "result": "generated", "detail": f"{len(program.steps)} steps, arena {core.arena_size}"}
        write_project([core], [model.cases], ProjectOptions("project", target, given.parallel), folder)
        return {**found, **_test(folder, target, given, model)}


def _test(folder: Path, target: Target, given: argparse.Namespace, model: _Model) -> dict[str, Any]:
    flags = _SANITIZE if given.sanitize else given.flags
    flags += " -ffunction-sections -fdata-sections" if target.is_micro else ""
    options = [f"CFLAGS={flags}", f"ADAPTER={int(given.adapter)}", *([f"CC={given.cc}"] if given.cc else [])]
    status, text = _make(folder, ["all" if given.adapter else "build/libnet.a", *options])
    if status:
        return {"result": "FAILS to compile", "detail": text[:900]}
    status, text = _make(folder, ["test", *options])
    if " overflowed by " in text or "will not fit in region" in text:
        return {"result": "too large for the board", "detail": model.note}
    if status:
        return {"result": "FAILS", "detail": text[:900] + model.note}
    return {"result": "equal" if model.cases else "no case", "detail": f"{len(model.cases)} cases{model.note}"}


Task = tuple[Job, str, str]
"""Model, target, memory."""


def _work(pipe: Connection, tasks: Sequence[Task], given: argparse.Namespace) -> None:
    for job, target, memory in tasks:
        pipe.send(one(job, target_named(target), memory == "min", given))


def _answers(tasks: Sequence[Task], given: argparse.Namespace) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Runs `one` for each task in another process. After a crash, a new process continues with the next task."""
    fork = multiprocessing.get_context("fork")
    while tasks:
        here, there = fork.Pipe(duplex=False)
        process = fork.Process(target=_work, args=(there, tasks, given))
        process.start()
        there.close()
        is_alive = True
        while tasks and is_alive:
            try:
                is_alive = here.poll(_LIMIT)
                answer = here.recv() if is_alive else {"result": "FAILS", "detail": f"more than {_LIMIT} s"}
            except EOFError:
                process.join()
                is_alive = False
                answer = {"result": "FAILS", "detail": f"ends with {process.exitcode}; its traceback stands above"}
            yield tasks[0], answer
            tasks = tasks[1:]
        process.kill()
        process.join()


def main(arguments: list[str]) -> int:
    """Runs the sweep. Returns 1 if a model fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.codegen.sweep")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--targets", default="x86")
    parser.add_argument("--memory", default="default")
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("--cc", default="")
    parser.add_argument("--no-build", action="store_true", help="only generate C")
    parser.add_argument("--adapter", action="store_true", help="also compile the MSModel functions")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--parallel", action="store_true")
    parser.add_argument(
        "--fused",
        action="store_true",
        help="compare with the runtime's kernels for this machine, which may use FMA, instead of its portable kernels",
    )
    parser.add_argument("--results", type=Path)
    parser.add_argument(
        "--largest",
        type=int,
        default=1 << 40,
        help="maximum size of a model's files in bytes; larger models are skipped",
    )
    given = parser.parse_args(arguments)
    flags = _SANITIZE if given.sanitize else given.flags
    flags = "no build" if given.no_build else flags
    how = " ".join(filter(None, [given.cc, flags, "threads" if given.parallel else "", "fused" if given.fused else ""]))
    done: set[tuple[str, ...]] = set()
    if given.results is not None and given.results.exists():
        entries = map(json.loads, given.results.read_text().splitlines())
        done = {(entry["model"], entry["target"], entry["memory"], entry["how"]) for entry in entries}
    tasks = [
        (job, target, memory)
        for job in jobs(given.parts)
        if job.size <= given.largest
        for target in given.targets.split(",")
        for memory in given.memory.split(",")
        if (job.name, target, memory, how) not in done
    ]
    failures = 0
    for (job, target, memory), answer in _answers(tasks, given):
        failures += answer["result"].startswith("FAILS")
        print(f"{job.name} {target} {memory}: {answer['result']}; {answer['detail']}", flush=True)
        if given.results is not None:
            entry = {"model": job.name, "target": target, "memory": memory, "how": how, **answer}
            with given.results.open("a") as file:
                file.write(json.dumps(entry) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
