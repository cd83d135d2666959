"""Checks budgets of RAM and flash. The error names the layer at the peak and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from mslite.codegen.emit.names import Names, short
from mslite.codegen.memory.options import MemoryOptions
from mslite.codegen.memory.planner import plan_memory
from mslite.codegen.memory.usage import ArenaUsage, arena_usage
from mslite.codegen.program import FusedRows, Plan, Program, Step, Storage, Tensor
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import DataType


@dataclass(frozen=True)
class Budgets:
    """Largest allowed sizes in bytes; None: unlimited."""

    ram: int | None = None
    """All arenas together."""
    flash: int | None = None
    """Constants, and code if its size was measured."""


def check_budgets(
    budgets: Budgets,
    programs: Sequence[Program],
    plans: Sequence[Plan],
    options: MemoryOptions,
    weights: int,
    code: int | None,
) -> None:
    """Raises ConversionError if a budget is exceeded. The message names the layer at the peak and remedies.

    `weights` and `code` are bytes of flash; `code` is None if it was not measured.
    """
    lines: list[str] = []
    ram = sum(plan.size for plan in plans)
    if budgets.ram is not None and ram > budgets.ram:
        lines.append(f"RAM: {ram} bytes are needed, {ram - budgets.ram} more than --ramBudget={budgets.ram}")
        for program, plan in zip(programs, plans, strict=True):
            lines += [f"  {line}" for line in _about_ram(program, plan, options, budgets.ram - (ram - plan.size))]
    flash = weights + (code or 0)
    if budgets.flash is not None and flash > budgets.flash:
        told = f"{weights} of constants, {code} of code" if code is not None else "constants; code comes on top"
        lines.append(
            f"flash: {flash} bytes are needed ({told}), {flash - budgets.flash} more than --flashBudget={budgets.flash}"
        )
        for program in programs:
            lines += [f"  {line}" for line in _about_flash(program)]
    if lines:
        raise ConversionError("\n".join(["the model does not fit", *(f"  {line}" for line in lines)]))


def _about_ram(program: Program, plan: Plan, options: MemoryOptions, budget: int) -> list[str]:
    """Returns message lines about the peak layer, the tensors in use there, and remedies."""
    picture = arena_usage(program, plan)
    peak = picture.entry(plan)
    lines = [f"{program.name}: {plan.size} bytes, the peak is at {short(picture.peak_layer, 'step')}"]
    if peak is not None:
        lines.append(f"in use there: {_operands(peak, plan)}")
    helps = []
    if options != options.least():
        least = plan_memory(program, options.least()).size
        if least < plan.size:
            helps.append(f"--memory=min: {least} bytes, {_fitting(least, budget)}")
        else:
            lines.append("--memory=min does not reduce it")
    else:
        lines.append("--memory=min is already set")
    helps += _fewer_bits(program, plan, picture, budget)
    helps += _smaller_input(program, plan.size, budget)
    return lines + (helps or ["no option helps: the model needs smaller tensors, or the device more RAM"])


def _fewer_bits(program: Program, plan: Plan, picture: ArenaUsage, budget: int) -> list[str]:
    """Returns a message line if int8 tensors instead of float32 would make the arena smaller.

    For a model that is quantized already, only float32 inputs and outputs are counted as int8."""
    is_int8 = any(tensor.dtype in (DataType.INT8, DataType.UINT8) for tensor in plan.offsets)
    tensors = {*program.inputs, *program.outputs} if is_int8 else plan.offsets.keys()
    size = picture.peak_with_int8({tensor.name for tensor in tensors if tensor.dtype is DataType.FLOAT32})
    if size >= plan.size:
        return []
    way = (
        "with 8-bit inputs and outputs (--inputDataType=INT8 --outputDataType=INT8 for converter_lite)"
        if is_int8
        else "quantized to int8 ([full_quant_param])"
    )
    return [f"{way}, the model needs about {size} bytes, {_fitting(size, budget)}"]


def _fitting(size: int, budget: int) -> str:
    return "which fits" if size <= budget else f"{size - budget} too many"


def _operands(peak: Step | FusedRows, plan: Plan) -> str:
    """Returns a text about the inputs and outputs of a step in the arena, and its workspace."""
    steps = peak.steps if isinstance(peak, FusedRows) else [peak]
    operands = [("input", one) for one in steps[0].inputs] + [("output", one) for one in steps[-1].outputs]
    parts = [
        f"its {role} {'x'.join(map(str, one.shape))} ({one.size} bytes)"
        for role, one in operands
        if one is not None and one.storage is not Storage.CONSTANT and one.size
    ]
    workspace = max(one.workspace for one in steps)
    if workspace:
        parts.append(f"a workspace of {workspace} bytes")
    total = sum(one.size for _, one in operands if one is not None and one.storage is not Storage.CONSTANT)
    return ", ".join(parts) + (", partly overlapping" if total + workspace > plan.size else "")


def _smaller_input(program: Program, size: int, budget: int) -> list[str]:
    """Returns a message line with the input size that would fit, for image inputs.

    The activations of convolutional networks grow with the number of pixels of the input."""
    images = [tensor for tensor in program.inputs if len(tensor.shape) == 4 and min(tensor.shape[1:3]) >= 8]
    if not images or budget <= 0:
        return []
    height, width = images[0].shape[1:3]
    share = sqrt(budget / size)
    smaller = int(height * share), int(width * share)
    if min(smaller) < 8:
        return []
    return [
        f"an input of about {smaller[0]} x {smaller[1]} instead of {height} x {width} pixels, if the model is trained for it"
    ]


def _about_flash(program: Program) -> list[str]:
    sizes = {step: _constants(step) for step in program.steps}
    largest = [step for step in sorted(program.steps, key=lambda step: -sizes[step])[:3] if sizes[step]]
    names = Names()  # as in the generated C: equal names are numbered
    labels = {step: names.make(step.name, "step") for step in program.steps}
    parts = ", ".join(f"'{labels[step]}' {sizes[step]}" for step in largest)
    lines = [
        f"{program.name}: {sum(sizes.values())} bytes of constants" + (f", the largest in {parts}" if parts else "")
    ]
    floats = sum(_constants(step) for step in program.steps if any(_is_float(operand) for operand in step.inputs))
    if floats:
        lines.append(f"int8 weights take a quarter of the float weights' size: {floats // 4} instead of {floats} bytes")
    else:
        lines.append(
            "all weights are quantized: quantization to int8 saves nothing more; the model needs smaller layers"
        )
    return lines


def _is_float(operand: Tensor | None) -> bool:
    return operand is not None and operand.storage is Storage.CONSTANT and operand.dtype is DataType.FLOAT32


def _constants(step: Step) -> int:
    plain = sum(
        operand.size
        for place, operand in enumerate(step.inputs)
        if operand is not None and operand.storage is Storage.CONSTANT and place not in step.packed
    )
    return plain + sum(len(data) for data in step.packed.values())
