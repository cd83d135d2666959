"""Makes the step of a subgraph that vela compiled: a call of Arm's driver (`ethosu_driver.h`) with tensors in the
workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mslite.codegen.program import Call, Step, Storage, Tensor
from mslite.converter.ethosu.node import TYPE, call_of
from mslite.converter.mindir.ops.enums import DataType

NPU_KERNEL = "ethosu_invoke_v3"
"""`Step.kernel` of an NPU step."""
OPERANDS_IN_FRONT = 2
"""Number of inputs before the tensors: the command stream and the constants."""
ALIGNMENT = 16
"""Alignment of all memory that the NPU accesses, in bytes."""

_MAX_BYTES = (1 << 31) - 1
_STATIC = Path(__file__).parent / "static"
_FILES = {name: f"src/ethosu/{name}" for name in ("ethosu.h", "ethosu.c")}


def is_npu_step(kind: str) -> bool:
    """Returns whether a Custom node of this type runs on the NPU."""
    return kind == TYPE


def npu_call(step: Step, attributes: Sequence[tuple[str, bytes]]) -> Step:
    """Returns the step as a call of the driver. Raises ValueError for a node with invalid inputs or attributes."""
    tensors = [_tensor(one) for one in (*step.inputs, *step.outputs)]
    if len(step.inputs) <= OPERANDS_IN_FRONT or any(
        one.storage is not Storage.CONSTANT or one.dtype is not DataType.UINT8 for one in tensors[:OPERANDS_IN_FRONT]
    ):
        raise ValueError("its first inputs are not commands and constants; convert the model again")
    commands, constants = tensors[:OPERANDS_IN_FRONT]
    tensors = tensors[OPERANDS_IN_FRONT:]
    call = call_of(attributes, len(tensors))
    fast_at = call.scratch + -call.scratch % ALIGNMENT
    if fast_at + call.fast_scratch > _MAX_BYTES:
        raise ValueError(
            f"it needs a workspace of {fast_at + call.fast_scratch} bytes, more than 32-bit processors can address"
        )
    if any(at + one.size > call.scratch for at, one in zip(call.places, tensors, strict=True)):
        raise ValueError("a tensor is outside of its workspace; convert the model again")
    text = _initializer(
        {
            "input_count": len(step.inputs) - OPERANDS_IN_FRONT,
            "output_count": len(step.outputs),
            "command_bytes": commands.size,
            "constant_bytes": constants.size,
            "scratch_bytes": call.scratch,
            "fast_bytes": call.fast_scratch,
            "fast_at": fast_at,
        },
        [(at, one.size) for at, one in zip(call.places, tensors, strict=True)],
    )
    return replace(
        step,
        kernel=NPU_KERNEL,
        derived=b"",
        macs=call.macs,
        shared_size=fast_at + call.fast_scratch,
        call=Call(
            function="mslite_ethosu_run",
            header="ethosu/ethosu.h",
            type="mslite_ethosu",
            numbers=lambda isa: text,
            files={path: _source(name) for name, path in _FILES.items()},
            more_instructions=None,
            alignment=ALIGNMENT,
        ),
        note=f"{call.accelerator}, compiled by vela {call.vela}, which estimates {call.cycles:,} cycles and {call.sram:,} bytes of SRAM",
    )


def _tensor(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor


def _initializer(numbers: dict[str, int], pieces: Sequence[tuple[int, int]]) -> str:
    """Returns the initializer of the C struct mslite_ethosu."""
    lines = "".join(f"    .{name} = {number},\n" for name, number in numbers.items())
    places = ", ".join(f"{{{at}, {size}}}" for at, size in pieces)
    return f"{{\n{lines}    .pieces = (const mslite_ethosu_piece[]){{{places}}},\n}}"


@cache
def _source(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
