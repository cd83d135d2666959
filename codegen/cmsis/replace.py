"""Replaces steps of a program by calls of CMSIS-NN if their results are bit-identical.

CMSIS-NN's requantization rounds twice. TensorFlow Lite's reference kernels for convolutions, additions and
multiplications do the same, so their results are identical. The reference rounds fully connected layers once, in
float64; these are replaced only if both roundings agree for every sum that can occur, which
`lite_runtime/codegen/int8_call_parameters.cc` checks for each channel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from mslite import _codegen
from mslite.codegen.cmsis.calls import CmsisCall, make_call
from mslite.codegen.program import Call, Program, Step
from mslite.codegen.targets import Target

KERNEL_LIBRARY = "cmsis-nn"
_STATIC = Path(__file__).parent / "static"


def with_cmsis_nn(program: Program, target: Target) -> Program:
    """Returns the program with calls of CMSIS-NN 7 for the steps that it can compute (`Step.call`).

    These steps compute whole tensors (no single rows), and their outputs do not overlap inputs."""
    assert program.numbers is not None
    steps = []
    for step in program.steps:
        numbers = program.numbers(step)
        made = make_call(step, numbers, target.isas) if numbers is not None and numbers.kind else None
        steps.append(_replaced(step, made) if made is not None else _noted(step, numbers))
    return replace(program, steps=steps)


def _replaced(step: Step, made: CmsisCall) -> Step:
    call = Call(
        function=f"mslite_cmsis_nn_run_{made.function}",
        header="cmsis_nn/cmsis_nn.h",
        type=f"mslite_cmsis_nn_{made.struct}",
        numbers=lambda isa: made.initializer,
        files={f"src/cmsis_nn/{name}": _source(name) for name in ("cmsis_nn.h", f"{made.function}.c")},
        more_instructions=None,
    )
    return replace(
        step,
        kernel=made.library_function,
        inputs=made.inputs,
        derived=b"",
        parts=(1,),
        shared_size=0,
        scratch_size=made.scratch_size,
        packed={},
        in_place=-1,
        overlaps=(),
        rows=None,
        call=call,
    )


def _noted(step: Step, numbers: _codegen.Int8CallParameters | None) -> Step:
    if numbers is not None and numbers.reason:
        step.note = f"not CMSIS-NN: {numbers.reason}"
    return step


@cache
def _source(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
