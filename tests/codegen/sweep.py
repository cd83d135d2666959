"""Generates C for every static model of the open set, runs it here and compares with the runtime.

    python -m tests.codegen.sweep [--memory=min] [--sanitize] [part of a path ...]

One line per model: `equal` (all bits), the largest difference, or why there is no program. With --sanitize undefined
behaviour is a failure.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from mslite.codegen.memory import MemoryOptions
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options

from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
_LIMIT = 600
"""Seconds for one model."""


def sources() -> list[Path]:
    """The model files of the open set."""
    names = ("model.ms", "model.tflite", "model.onnx", "model.pb")
    return sorted(path for path in MODELS.rglob("model.*") if path.name in names)


def compare(model: Path, folder: Path, settings: Settings) -> str:
    """One line about one model. Raises AssertionError for C that does not compile or run."""
    try:
        file = model
        if model.suffix != ".ms":
            file = convert(Options(model, folder / "model")).files[0]
        core = generate_core(file, "x86", settings)
    except ConversionError as error:
        return "refused: " + str(error).replace("\n", " ")[:300]
    compiled = Compiled(core, folder / "project", settings)
    reference = Reference(file, core.program)
    worst = 0.0
    for seed in range(2):
        inputs = by_chance(core.program, seed)
        worst = max(worst, difference(reference.run(inputs), compiled.run(inputs)))
    result = "equal" if worst == 0 else f"differs by {worst:.3g}"
    return f"{result}; {len(core.program.steps)} steps, arena {core.arena_size}, constants {core.constants_size}"


def main(arguments: list[str]) -> int:
    """Runs each model in a process of its own; with --one, one model in this one."""
    memory = MemoryOptions().least() if "--memory=min" in arguments else MemoryOptions()
    if "--one" in arguments:
        checks = ("-fsanitize=undefined", "-fno-sanitize-recover=all") if "--sanitize" in arguments else ()
        with tempfile.TemporaryDirectory() as folder:
            print(compare(Path(arguments[-1]), Path(folder), Settings(memory, options=("-O1", *checks))))
        return 0
    parts = [argument for argument in arguments if not argument.startswith("--")]
    flags = [argument for argument in arguments if argument.startswith("--")]
    for model in sources():
        if parts and not any(part in str(model) for part in parts):
            continue
        command = [sys.executable, "-m", "tests.codegen.sweep", "--one", *flags, str(model)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=False)
            lines = done.stdout.strip() or f"FAILS ({done.returncode}): {done.stderr.strip()[-400:]}"
        except subprocess.TimeoutExpired:
            lines = f"FAILS: takes more than {_LIMIT} s"
        print(f"{model.parent.relative_to(MODELS)}: {lines}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
