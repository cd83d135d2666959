"""Branches and loops in generated C: the same numbers as the runtime's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.memory import Inputs, MemoryOptions
from mslite.codegen.program import all_steps
from mslite.codegen.targets import target_named
from mslite.converter.convert import convert
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.text_parser import parse
from mslite.converter.options import Options

from .control_flow import MODELS, TEXTS, unknown_rounds
from .generated import Array, Compiled, Reference, Settings, by_chance, difference, generate_core

SHARED = Path(__file__).resolve().parents[3] / "shared" / "models" / "control_flow"
NAMES = [*MODELS, *TEXTS]


def model_file(name: str, folder: Path) -> Path:
    """The `.ms` file of a model."""
    if name in TEXTS:
        return save(parse(TEXTS[name]), folder / f"{name}.ms")[0]
    onnx.save(MODELS[name](), str(folder / f"{name}.onnx"))
    return convert(Options(folder / f"{name}.onnx", folder / name)).files[0]


def inputs_of(core_inputs: list[Array], run: int) -> list[Array]:
    """Counts from 0 to 4; conditions and numbers of branches in turn."""
    found = []
    for place, array in enumerate(core_inputs):
        if array.dtype.kind == "i":
            array = np.full_like(array, run % 5)
        elif array.dtype.kind == "b":
            array = np.full_like(array, run >> (place - 1) & 1)
        found.append(array)
    return found


def compare(file: Path, folder: Path, settings: Settings, runs: int = 5, target: str = "x86") -> None:
    core = generate_core(file, target, settings)
    compiled, reference = Compiled(core, folder, settings), Reference(file, core.program)
    largest = 2 if file.stem.startswith("numbered") else runs
    for run in range(largest):
        inputs = inputs_of(by_chance(core.program, run), run)
        assert difference(reference.run(inputs), compiled.run(inputs)) <= 1e-6, f"run {run}"


@pytest.mark.parametrize("name", NAMES)
def test_numbers(name: str, tmp_path: Path) -> None:
    compare(model_file(name, tmp_path), tmp_path / "c", Settings(options=("-O1",)))


SETTINGS = {
    "clang-Os": Settings(compiler="clang", options=("-Os",)),
    "checked": Settings(options=("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")),
    "callers_inputs": Settings(MemoryOptions(inputs=Inputs.CALLER), options=("-O0",)),
    "weights_in_file": Settings(weights_in_file=True, options=("-O3",)),
    "threads": Settings(MemoryOptions(overlap=False), threads=3),
    "debug": Settings(debug=True),
    "least": Settings(MemoryOptions().least()),
    "two_memories": Settings(MemoryOptions(fast_size=64)),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_numbers_however_it_is_generated(kind: str, tmp_path: Path) -> None:
    settings = SETTINGS[kind]
    if shutil.which(settings.compiler) is None:
        pytest.skip(f"{settings.compiler} is not installed")
    compare(model_file("nested_loops", tmp_path), tmp_path / "c", settings)


def test_a_known_number_of_rounds_is_written_out(tmp_path: Path) -> None:
    program = lower_ms(model_file("known_rounds", tmp_path), target_named("x86"))
    assert not any(step.nest for step in program.steps)
    assert sum(step.operator == "MatMulFusion" for step in program.steps) == 5


def test_values_lie_where_the_next_round_reads_them(tmp_path: Path) -> None:
    """The results are computed in the memory of the old values where nothing reads these any more."""
    program = lower_ms(model_file("tails", tmp_path), target_named("x86"))
    (loop,) = (step for step in program.steps if step.nest is not None)
    assert loop.nest is not None
    body = next(block for block in loop.nest.blocks if block.name.endswith("body"))
    jump = body.following
    assert not getattr(jump, "passes", True)
    assert sum(one.operator == "Sin" for one in all_steps(program)) == 1


def test_unused_memory_is_shared_between_blocks(tmp_path: Path) -> None:
    file = model_file("nested_branches", tmp_path)
    core = generate_core(file, settings=Settings())
    assert core.arena_size <= 8 * 16


def test_shapes_that_change_in_an_unknown_number_of_rounds_are_refused(tmp_path: Path) -> None:
    onnx.save(unknown_rounds(), str(tmp_path / "model.onnx"))
    file = convert(Options(tmp_path / "model.onnx", tmp_path / "model")).files[0]
    with pytest.raises(LoweringError) as caught:
        lower_ms(file, target_named("cortex-m4"))
    (blocker,) = caught.value.blockers
    assert blocker.node == "growing"
    assert (
        "changes between iterations ([0, 4], then [1, 4]), and the number of iterations is known at run time only"
        in blocker.reason
    )
    assert "constant number of iterations" in blocker.remedy


@pytest.mark.parametrize("name", ["cond_dynamo18", "loop_if_script_op11", "loop_if_script_op17", "scan_rnn_op16"])
def test_open_models(name: str, tmp_path: Path) -> None:
    source = SHARED / name / "model.onnx"
    if not source.exists():
        pytest.skip("../shared/models is not there")
    shapes = {"x": (7, 2, 6)} if name.startswith("scan") else {}
    file = convert(replace(Options(source, tmp_path / name), input_shapes=shapes)).files[0]
    compare(file, tmp_path / "c", Settings())
