"""`make bench-micro`: measures instructions, code size, constants and memory of generated C on emulated
microcontrollers.

    python -m mslite.codegen.bench [--targets=cortex-m4,cortex-m55] [--levels=-O2,-Os] [--out=FILE] NAME=MODEL ...

Instructions are counted exactly for one inference (`boards/count_instructions.c`), from the call of `model0_run` to its
return; there is no initialization. Code is .text and .rodata of a program that calls the model, without the weights and
without the size of an empty program. `ram_bytes` is the RAM of this program without the stack; `ram_bytes_adapter` is
the same with the MSModel functions. `exact`: all outputs of this run were equal to the recorded ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mslite.codegen.boards import BOARDS, Board, BuildError, Image, build_for_board
from mslite.codegen.boards.build import compile_for_board
from mslite.codegen.boards.run import run_image
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import COMMON_OPTIONS, STRICT_OPTIONS, Target, target_named
from mslite.converter.errors import ConversionError

LEVELS = ("-Os", "-O2", "-O3")

_EMPTY = "int main(void) { return 0; }\n"
_CALL = """
#include "model0/net0.h"
static unsigned char arena[MODEL0_ARENA_SIZE] __attribute__((aligned(16)));
int main(void) {
  const void *const inputs[%d] = {0};
  void *const outputs[%d] = {0};
  return model0_run(inputs, outputs, arena);
}
"""
_ADAPTER = """
#include "benchmark/benchmark.h"
int main(void) { return benchmark(); }
"""


@dataclass(frozen=True)
class Result:
    """Sizes and instructions of one network for one target and optimization level."""

    network: str
    target: str
    opt: str
    chosen: bool
    """Whether this is the default optimization level of the target."""
    memory: str
    instructions: int
    macs: int
    code_bytes: int
    const_bytes: int
    ram_bytes: int
    ram_bytes_adapter: int
    activation_bytes: int
    exact: bool
    flags: str = ""
    """Compiler options."""


class _Project:
    """Compiles the programs of a generated project for the target's board."""

    def __init__(self, folder: Path, target: Target, level: str) -> None:
        self.folder = folder
        board = BOARDS[target.board or ""]
        self.board: Board = replace(board, compiler_options=target.options)
        self.level = level
        self.options = [level, *COMMON_OPTIONS, "-ffunction-sections", "-fdata-sections"]

    def _options(self) -> list[str]:
        folders = (self.folder, self.folder / "src", self.folder / "src" / "include")
        return [*self.options, *STRICT_OPTIONS, *(f"-I{folder}" for folder in folders)]

    def build(self, name: str, sources: Sequence[Path], more: Sequence[str] = ()) -> Image:
        options = [*self._options(), *more]
        return build_for_board(self.board, sources, options, self.folder / f"{name}{self.level}.elf")

    def objects(self, sources: Sequence[Path]) -> list[Path]:
        """Compiles sources to objects that all programs share."""
        objects = [source.with_name(f"{source.stem}{self.level}.o") for source in sources]
        options = [*self._options(), *self.board.compiler_options]
        for source, target in zip(sources, objects, strict=True):
            compile_for_board(source, options, target)
        return objects

    def program(self, name: str, text: str, sources: Sequence[Path]) -> Image:
        main = self.folder / f"{name}.c"
        main.write_text(text)
        return self.build(name, [main, *sources])


def _code(image: Image) -> int:
    return image.text + image.rodata


def measure(
    network: str, model: Path, target: Target, levels: Sequence[str], *, least_memory: bool = False
) -> list[Result]:
    """Generates the network's C once and measures it at each level.

    Raises:
        ConversionError: for a model that is unsupported.
        BuildError: if the generated C does not compile or run.
    """
    with tempfile.TemporaryDirectory(prefix="mslite-bench-") as name:
        folder = Path(name) / "project"
        settings = GenerateSettings(target, folder)
        if least_memory:
            settings = replace(settings, memory=settings.memory.least())
        core = generate([Source(model)], settings).cores[0]
        results = []
        for level in levels:
            project = _Project(folder, target, level)
            sources = project.objects([folder / path for path in sorted(core.files) if path.endswith(".c")])
            adapter = sorted((folder / "src").glob("*.c")) + sorted((folder / "src" / "model0").glob("model0.c"))
            empty = project.program("empty", _EMPTY, [])
            counts = (len(core.program.inputs), len(core.program.outputs))
            call = project.program("call", _CALL % counts, sources)
            whole = project.program(
                "adapter",
                _ADAPTER,
                [*sources, *adapter, folder / "benchmark" / "benchmark.c", folder / "benchmark" / "data.c"],
            )
            board_test = [folder / "test" / "test.c", folder / "test" / "platform.c"]
            test = project.build("test", [*board_test, *sources], ["-DTEST_ON_BOARD"])
            run = run_image(test, folder=folder / "test")
            if not run.regions:
                raise BuildError(f"{network} on {target.name} at {level} does not run: {run.output.strip()}")
            results.append(
                Result(
                    network,
                    target.name,
                    level,
                    level == target.optimization,
                    "min" if least_memory else "default",
                    run.regions[0].instructions,
                    sum(step.macs for step in core.program.steps),
                    _code(call) - _code(empty) - core.constants_size,
                    core.constants_size,
                    call.data + call.bss - empty.data - empty.bss,
                    whole.data + whole.bss - empty.data - empty.bss,
                    core.arena_size,
                    run.status == 0,
                    " ".join((*target.options, *project.options)),
                )
            )
        return results


def table(results: Sequence[Result]) -> str:
    """Returns the results as a text table, one line each."""
    lines = [
        f"{'network':<16}{'target':<12}{'':<5}{'memory':<8}{'instructions':>13}{'per MAC':>8}{'code':>8}{'constants':>10}{'RAM':>8}{'+handles':>9}{'arena':>8}  exact"
    ]
    for result in results:
        mark = "*" if result.chosen else " "
        per_mac = result.instructions / max(result.macs, 1)
        lines.append(
            f"{result.network:<16}{result.target:<12}{result.opt + mark:<5}{result.memory:<8}{result.instructions:>13}{per_mac:>8.2f}"
            f"{result.code_bytes:>8}{result.const_bytes:>10}{result.ram_bytes:>8}{result.ram_bytes_adapter:>9}{result.activation_bytes:>8}"
            f"  {'yes' if result.exact else 'NO'}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark. Returns 0 if everything was measured and all outputs were exact."""
    parser = argparse.ArgumentParser(prog="python -m mslite.codegen.bench", description="Measures generated C.")
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL")
    parser.add_argument("--targets", default="cortex-m4,cortex-m55")
    parser.add_argument("--levels", default="", help="such as -Os,-O2 (default: the optimization level of each target)")
    parser.add_argument("--memory", choices=("default", "min"), default="default")
    parser.add_argument("--out", type=Path, help="JSON file")
    given = parser.parse_args(arguments)
    results: list[Result] = []
    failures = 0
    for text in given.models:
        name, _, path = text.rpartition("=")
        for target in map(target_named, given.targets.split(",")):
            levels = given.levels.split(",") if given.levels else [target.optimization]
            try:
                results += measure(
                    name or Path(path).stem, Path(path), target, levels, least_memory=given.memory == "min"
                )
            except (ConversionError, BuildError) as error:
                print(f"{name} on {target.name}: {str(error)[:2000]}", file=sys.stderr)
                failures += 1
    print(table(results))
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return 1 if failures or not all(result.exact for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
