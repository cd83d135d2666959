"""Programs made of models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.program import COPY, Band, Program, Storage
from mslite.codegen.targets import TARGETS
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.training import ReduceScatter
from tests.passes.builder import Builder

from . import modules
from .generated import generate_core

X86 = TARGETS["x86"]


def lowered(module: modules.Module, folder: Path, **shapes: tuple[int, ...]) -> Program:
    return lower_ms(modules.write(module, folder), X86, shapes)


def test_reshapes_are_aliases_and_dead_steps_are_gone(tmp_path: Path) -> None:
    program = lowered(modules.floats(), tmp_path)
    assert [step.operator for step in program.steps] == [
        "Conv2DFusion",
        "Conv2DFusion",
        "AvgPoolFusion",
        "MatMulFusion",
    ]
    flat = program.steps[-1].inputs[0]
    assert flat is not None
    assert flat.alias_of is program.steps[2].outputs[0]
    assert flat.shape == (1, 24)


def test_multiply_accumulates_are_counted(tmp_path: Path) -> None:
    program = lowered(modules.floats(), tmp_path)
    assert [step.macs for step in program.steps] == [6 * 5 * 8 * 27, 6 * 5 * 4 * 72, 0, 24 * 5]


def test_a_batch_that_is_left_open_is_one(tmp_path: Path) -> None:
    program = lowered(modules.floats(modules.BATCH), tmp_path)
    assert program.inputs[0].shape == (1, 12, 10, 3)
    assert lowered(modules.floats(modules.BATCH), tmp_path, in0=(4, 12, 10, 3)).outputs[0].shape == (4, 5)


def test_other_open_sizes_are_refused_with_the_flag_that_helps(tmp_path: Path) -> None:
    build = Builder()
    x = build.input(1, modules.BATCH)
    module = build.module(build.call(modules.Activation(activation_type=modules.ActivationType.RELU), x))
    with pytest.raises(LoweringError, match=r"'in0' has dynamic dimensions: \[1, \?\].*--inputShape=in0:1,\?, with"):
        lowered(module, tmp_path)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"in0": (1, 12, 11, 3)}, r"has the shape \[1, 12, 10, 3\], which cannot be \[1, 12, 11, 3\]"),
        ({"in0": (12, 10)}, "has 4 dimensions, 2 were given"),
        ({"other": (1,)}, "'other' is not an input of the model; its inputs are 'in0'"),
    ],
)
def test_shapes_that_contradict_the_model_are_refused(
    tmp_path: Path, shapes: dict[str, tuple[int, ...]], message: str
) -> None:
    with pytest.raises(LoweringError, match=message):
        lowered(modules.floats(), tmp_path, **shapes)


def test_all_refused_nodes_are_named_at_once(tmp_path: Path) -> None:
    build = Builder()
    x = build.input(4)
    for name in ("first", "second"):
        y = Value(name, DataType.FLOAT32, (4,))
        build.graph.nodes.append(Node(ReduceScatter(), f"{name}_node", (x, x), (y,)))
        x = y
    with pytest.raises(LoweringError) as caught:
        lowered(build.module(x), tmp_path)
    assert [blocker.node for blocker in caught.value.blockers][:1] == ["first_node"]
    assert all(name in str(caught.value) for name in ("first_node", "second_node", "ReduceScatter"))


def test_too_many_tensors_for_a_kernel_are_counted(tmp_path: Path) -> None:
    build = Builder()
    module = build.module(build.call(Concat(axis=0), *(build.input(2) for _ in range(65))))
    with pytest.raises(
        LoweringError, match=r"65 inputs and outputs, but kernels support at most 64\. Join or split them in groups"
    ):
        lowered(module, tmp_path)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    path = modules.write(modules.stored(), tmp_path)
    one, other = (lower_ms(path, TARGETS["cortex-m4"]) for _ in range(2))
    assert [step.derived for step in one.steps] == [step.derived for step in other.steps]
    assert [step.packed for step in one.steps] == [step.packed for step in other.steps]
    assert any(step.packed for step in one.steps)


def test_microcontrollers_get_kernels_of_their_instruction_sets(tmp_path: Path) -> None:
    path = modules.write(modules.stored(), tmp_path)
    for target, isas in (("cortex-m3", {"micro"}), ("cortex-m4", {"dsp"}), ("cortex-m55", {"mve"}), ("x86", set())):
        program = lower_ms(path, TARGETS[target])
        found = {step.kernel.rsplit("_", 1)[1] for step in program.steps}
        assert found & {"micro", "dsp", "mve"} == isas, target


@pytest.mark.parametrize("target", ["cortex-m0+", "cortex-m4", "cortex-m55"])
def test_the_kernels_of_a_program_are_of_one_kind(tmp_path: Path, target: str) -> None:
    """What the kernel of the target's instructions refuses is left to portable C: sources are compiled for one kind."""
    path = modules.write(modules.extreme(), tmp_path)
    kinds = {step.kernel.rsplit("_", 1)[1] for step in lower_ms(path, TARGETS[target]).steps}
    assert not kinds & ({"micro", "dsp", "mve"} - {TARGETS[target].isas[-1]})
    assert generate_core(path, target).files


def test_a_target_whose_kernels_this_build_lacks_is_refused(tmp_path: Path) -> None:
    path = modules.write(modules.floats(), tmp_path)
    strange = replace(X86, name="x86-strange", isas=("scalar", "strange"))
    with pytest.raises(LoweringError, match=r"strange, which --target=x86-strange needs; .* or for x86\b"):
        lower_ms(path, strange)


def test_a_variable_is_read_and_copied_at_the_end(tmp_path: Path) -> None:
    program = lowered(modules.counter(), tmp_path)
    add, copy = program.steps
    variable = copy.outputs[0]
    assert copy.kernel == COPY
    assert variable.storage is Storage.VARIABLE
    assert variable in add.inputs
    assert copy.inputs == [add.outputs[0]]
    assert np.array_equal(variable.data, [1, 0, 0, 2]) if variable.data is not None else False


def test_bands_of_rows_are_prepared_for_their_own_shapes(tmp_path: Path) -> None:
    program = lowered(modules.stored(), tmp_path)
    step = program.steps[1]
    assert step.rows is not None
    assert (step.rows.extent, step.rows.stride, step.rows.pad) == (3, 2, 0)  # 16 rows, same padding, stride 2
    assert program.cut is not None
    band = program.cut(step, Band(0, 5, 0, 2))
    assert band is not None
    assert (band.inputs[0].shape if band.inputs[0] else None) == (1, 5, 16, 8)
    assert band.outputs[0].shape == (1, 2, 8, 16)
    assert band.packed == step.packed
    assert band.derived != step.derived
    assert program.cut(step, Band(0, 5, 0, 3)) is None
