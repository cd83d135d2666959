"""Writes the C files of models: net<i>.h, net<i>.c, weight<i>.h, weight<i>.c, and the sources of their kernels."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from mslite.codegen import sources
from mslite.codegen.core import Core, Shapes
from mslite.codegen.emit import constants as constants_module
from mslite.codegen.emit import control_flow
from mslite.codegen.emit.c_values import c_values_of, wrapped
from mslite.codegen.emit.constants import Constants, Replaceable, constants_of, variables_of
from mslite.codegen.emit.control_flow import MemoryAccess
from mslite.codegen.emit.names import brief, c_string, comment
from mslite.codegen.emit.steps import Places, Row, Table, grouped, kernels_of, shape_text, table_of
from mslite.codegen.program import COPY, Array, Plan, Program, Step, all_steps
from mslite.codegen.targets import MAXIMUM_THREADS, target_named
from mslite.converter.mindir.graph import numpy_type

ARENA_ALIGNMENT = 16
_SCRATCH_ALIGNMENT = 64
"""Bytes of a cache line, so that threads do not write to the same one."""
_FAR = 1 << 30
"""Smallest offset that does not fit into 30 bits."""


@dataclass(frozen=True)
class EmitOptions:
    """Options for the generated C code."""

    weights_in_file: bool = False
    """Whether constants are in net<i>.bin instead of C arrays."""
    parallel: bool = False
    """Whether the parts of a step can run on several threads. The programs must be those of `for_threads`."""
    debug: bool = False
    """Whether each step prints its outputs to standard error."""
    changeable: tuple[Replaceable, ...] = ()
    """For each program: the replaceable constants, which are in net<i>.bin; other constants are C arrays."""
    origins: tuple[str, ...] = ()
    """For each program: a line about its model file, for comments."""


def for_threads(program: Program) -> Program:
    """Returns the program with scratch workspaces for MAXIMUM_THREADS threads."""
    for step in all_steps(program):
        step.scratch_size = MAXIMUM_THREADS * (step.scratch_size + -step.scratch_size % _SCRATCH_ALIGNMENT)
    return replace(program, cut=None)


Planned = tuple[Program, Plan]


def emit_cores(
    programs: Sequence[Planned],
    options: EmitOptions | None = None,
    more_shapes: Mapping[int, Sequence[Planned]] | None = None,
) -> list[Core]:
    """Writes the C code of the models of a project: model i in `src/model<i>/`, all kernels in `src/kernels/`.

    `more_shapes`: for model i, its programs for further input shapes. These must not have variables or row loops, and
    their inputs must be in the caller's memory.
    """
    options = options or EmitOptions()
    all_plans = [[planned, *(more_shapes or {}).get(index, ())] for index, planned in enumerate(programs)]
    every = [program for plans in all_plans for program, _ in plans]
    names = sorted({name for program in every for name in kernels_of(program)})
    target = target_named(programs[0][0].target)
    isa = target.isas[-1]
    kernels = {f"src/{path}": text for path, text in sources.kernel_files(names, isa).items()}
    for program in every:
        for step in all_steps(program):
            kernels |= step.call.files if step.call is not None else {}
    return [_emit(index, plans, isa, kernels, options) for index, plans in enumerate(all_plans)]


def _emit(index: int, plans: Sequence[Planned], isa: str, kernels: dict[str, str], options: EmitOptions) -> Core:
    program, plan = plans[0]
    programs = [one for one, _ in plans]
    changeable = options.changeable[index] if options.changeable else None
    constants = constants_of(programs, isa, changeable)
    image = constants.image()
    file = image[: constants.file_size] if changeable is not None else image
    starts = Places(program, plan, constants)
    table, all_ends = table_of(plans, constants)
    ends = all_ends[0]
    arena_size = max(one.size for _, one in plans)
    in_file = options.weights_in_file and constants.size > 0
    input_offsets = tuple(starts.arena(tensor) for tensor in program.inputs)
    output_offsets = tuple(ends.arena(tensor) for tensor in program.outputs)
    numbers = _numbers(table, isa)
    calls = {step.kernel: step.call for one in programs for step in all_steps(one) if step.call is not None}
    used = sorted({name for one in programs for name in kernels_of(one)})
    interfaces = [
        (_interface(one, starts if one is program else places, True), _interface(one, places, False))
        for one, places in zip(programs, all_ends, strict=True)
    ]
    inputs, outputs = interfaces[0] if len(plans) == 1 else _of_all(interfaces)
    shapes = [
        _Shaped(own.size, *interface, *rows)
        for (_, own), interface, rows in zip(plans, interfaces, table.ranges, strict=True)
    ]
    context = {
        "index": index,
        "prefix": f"model{index}",
        "macro": f"MODEL{index}",
        "program": program,
        "plan": plan,
        "constants": constants,
        "table": table,
        "in_file": in_file,
        "parallel": options.parallel,
        "debug": options.debug,
        "debug_places": _debug_places(table),
        "origin": comment(options.origins[index]) if options.origins else "Generated by mslite.",
        "crc": zlib.crc32(file),
        "unchangeable": c_values_of(np.frombuffer(image[len(file) :], np.uint8)).texts
        if len(file) < len(image)
        else None,
        "maximum_threads": MAXIMUM_THREADS,
        "alignment": ARENA_ALIGNMENT,
        "place_type": "uint64_t" if max(arena_size, constants.size) >= _FAR else "uint32_t",
        "arena_size": arena_size,
        "shapes": shapes if len(shapes) > 1 else [],
        "changeable": _changeable(constants, changeable),
        "inputs": inputs,
        "outputs": outputs,
        "variables": _variables(program, starts, constants),
        "headers": sorted(
            {sources.run_function(name, isa)[0] for name in used} | {call.header for call in calls.values()}
        ),
        "functions": {name: sources.run_function(name, isa)[1] for name in used}
        | {name: call.function for name, call in calls.items()},
        "numbers": numbers,
        "needs_math": any("INFINITY" in one.initializer or "NAN" in one.initializer for one in numbers.values() if one),
        "reads_caller": None in input_offsets,
        "reports": any("mslite_report_value(" in text or "->failure" in text for text in kernels.values()),
        "macs": sum(step.macs for step in all_steps(program)),
    }
    context["has_bad_values"] = context["reports"] or any(code.chooses_by_index for code in table.nests)
    context["nest_functions"] = lambda simple: _nest_functions(table, f"MODEL{index}", simple, plan.fast_size)
    context |= _conditions(context)
    context["given_at"] = lambda place: _outside(place, f"model{index}", in_file)
    folder = f"src/model{index}"
    files = {
        f"{folder}/net{index}.h": _render("net.h.j2", context),
        f"{folder}/net{index}.c": _render("net.c.j2", context),
    }
    if options.debug:
        files |= {f"src/{name}": _render(f"{name}.j2", context) for name in ("debug_utils.h", "debug_utils.c")}
    if options.parallel:
        files["src/parallel.h"] = _render("parallel.h.j2", context)
    if constants.size:
        template = "weight_file" if in_file else "weight"
        files |= {f"{folder}/weight{index}.{end}": _render(f"{template}.{end}.j2", context) for end in ("h", "c")}
    return Core(
        index=index,
        program=program,
        plan=plan,
        files=_scheduled({**kernels, **files}, isa),
        weights=file if in_file else None,
        input_offsets=input_offsets,
        output_offsets=output_offsets,
        loads_weights=bool(constants.signature),
        constants_size=constants.size,
        arena_size=arena_size,
        arena_alignment=ARENA_ALIGNMENT,
        has_variables=bool(variables_of(program)),
        more_shapes=tuple(Shapes(one, own) for one, own in plans[1:]),
        needs_libm=any("#include <math.h>" in text for text in kernels.values()),
    )


_KEEP_ORDER = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns") /* keeps adjacent loads together, so that they become one instruction */
#endif
"""


def _scheduled(files: Mapping[str, str], isa: str) -> dict[str, str]:
    """Adds a pragma that turns off gcc's instruction scheduling before register allocation, for the DSP extension: 7 to
    15 % fewer instructions. It is in the sources so that it applies with any build system."""
    if isa != "dsp":
        return dict(files)
    return {name: _KEEP_ORDER + text if name.endswith(".c") else text for name, text in files.items()}


def _nest_functions(table: Table, macro: str, simple: bool, fast: int) -> list[str]:
    """Returns the C functions of loops and branches.

    `simple`: their only parameter is the arena; `fast`: bytes of the arena in fast memory."""

    def spot(offset: int) -> str:
        return f"spot(at, {offset})" if fast else f"{'memory' if simple else 'at->memory'} + {offset}"

    bases, given = ("unsigned char *memory", "memory") if simple else ("const bases *at", "at")
    dialect = MemoryAccess(bases, given, spot, macro)
    return [control_flow.function(code, dialect) for code in table.nests]


def _outside(place: str, prefix: str, in_file: bool) -> str:
    """Returns a C expression for the address of an input or constant outside of the arena."""
    kind, _, rest = place.rstrip(")").partition("(")
    if kind == "INPUT":
        return f"inputs[{rest}]"
    return f"(const unsigned char *)weights + AT_{rest}" if in_file else f"&{prefix}_weights.at.{rest}"


@dataclass(frozen=True)
class _Value:
    """An input or output, for the templates."""

    number: int
    comment: str
    size: int
    place: str
    """Location as C text, such as INPUT(0) or ARENA(64)."""
    offset: int | None
    element: int
    """Bytes of an element."""
    shape: tuple[int, ...]


def _interface(program: Program, places: Places, is_input: bool) -> list[_Value]:
    found = []
    for number, tensor in enumerate(program.inputs if is_input else program.outputs):
        text = f"{tensor.name}  {shape_text(tensor)}"
        if len(tensor.quant) == 1:
            record = tensor.quant[0]
            text += f", real = {record.scale!r} * (q - {record.zeroPoint})"
        place = places.of(tensor)
        element = numpy_type(tensor.dtype).itemsize
        found.append(_Value(number, comment(text), tensor.size, place, places.arena(tensor), element, tensor.shape))
    return found


def _changeable(constants: Constants, weights: Replaceable | None) -> list[tuple[str, Array, int]]:
    """Returns name, contents and offset of the replaceable constants, in order."""
    if weights is None:
        return []
    ends = accumulate((array.nbytes for array in weights.weights.values()), initial=0)
    assert constants.file_size == sum(array.nbytes for array in weights.weights.values()) + len(constants.signature)
    return [(name, array, offset) for (name, array), offset in zip(weights.weights.items(), ends, strict=False)]


@dataclass(frozen=True)
class _Shaped:
    """The model with one of several shapes. Its steps are the rows `first` to `end` - 1."""

    arena_size: int
    inputs: list[_Value]
    outputs: list[_Value]
    first: int
    end: int


def _of_all(interfaces: Sequence[tuple[list[_Value], list[_Value]]]) -> tuple[list[_Value], list[_Value]]:
    """Returns inputs and outputs with their largest sizes of all shapes, without offsets in the arena."""

    def joined(values: Sequence[_Value]) -> _Value:
        return replace(values[0], size=max(value.size for value in values), offset=None)

    lists = [[joined(values) for values in zip(*(own[role] for own in interfaces), strict=True)] for role in (0, 1)]
    return lists[0], lists[1]


def _conditions(context: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns C conditions for invalid arguments of a run: shapes, null pointers, alignment."""
    pieces = ["fast_arena", "slow_arena"] if context["plan"].fast_size else ["arena"]
    pieces += ["weights"] if context["in_file"] else []
    lists = [name for name in ("inputs", "outputs") if context[name]]
    outside = [
        (f"{name}[{value.number}]", value)
        for name in lists
        for value in context[name]
        if value.offset is None and value.size
    ]
    return {
        "shape_conditions": [f"shapes < 0 || shapes >= {context['macro']}_SHAPES"] if context["shapes"] else [],
        "null_conditions": [f"{name} == NULL" for name in [*lists, *pieces, *(text for text, _ in outside)]],
        "misaligned_conditions": [
            *(f"(uintptr_t){name} % {context['macro']}_ARENA_ALIGNMENT != 0" for name in pieces),
            *(f"(uintptr_t){text} % {value.element} != 0" for text, value in outside if value.element > 1),
        ],
    }


def _debug_places(table: Table) -> dict[Row, int]:
    """Returns the index of each row's first output in debug_tensors."""
    ends = list(accumulate((len(row.step.outputs) for row in table.rows), initial=0))
    return dict(zip(table.rows, ends, strict=False))


@dataclass(frozen=True)
class _Variable:
    name: str
    offset: int
    size: int
    first: str
    """Name of the constant with its initial value; "" if that is zero."""


def _variables(program: Program, places: Places, constants: Constants) -> list[_Variable]:
    found = []
    for tensor in variables_of(program):
        offset = places.arena(tensor)
        if offset is None:
            raise ValueError(f"the memory plan has no offset for the variable '{tensor.name}'")
        first = constants.of_tensor.get(tensor)
        found.append(_Variable(comment(tensor.name), offset, tensor.size, first.name if first else ""))
    return found


@dataclass(frozen=True)
class _Derived:
    """The parameters of a step's kernel as a C constant."""

    name: str
    type: str
    initializer: str


def _numbers(table: Table, isa: str) -> dict[Row, _Derived | None]:
    """Returns the kernel parameters of all rows. Rows with equal parameters share a constant."""
    shared: dict[tuple[str, str], _Derived] = {}
    found: dict[Row, _Derived | None] = {}
    for row in table.rows:
        text = _derived(row.step, isa)
        found[row] = None if text is None else shared.setdefault(text, _Derived(f"numbers_{row.name}", *text))
    return found


def _derived(step: Step, isa: str) -> tuple[str, str] | None:
    """Returns the C type and the initializer of a step's kernel parameters, or None if there are none."""
    if step.call is not None:
        return step.call.type, step.call.numbers(isa)
    if step.kernel == COPY:
        return "size_t", str(step.outputs[0].size)
    if not step.derived:
        return None
    return sources.derived_initializer(step.kernel, step.derived, isa)


_ENVIRONMENT: Environment | None = None


def _render(template: str, context: dict[str, object]) -> str:
    global _ENVIRONMENT
    if _ENVIRONMENT is None:
        _ENVIRONMENT = Environment(
            loader=PackageLoader("mslite.codegen", "templates"),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        _ENVIRONMENT.globals.update(
            declaration=constants_module.declaration, wrapped=wrapped, initializer=constants_module.initializer
        )
        _ENVIRONMENT.filters.update(grouped=grouped, shape=shape_text, comment=comment, literal=c_string, brief=brief)
    return _ENVIRONMENT.get_template(template).render(context)


__all__ = ["EmitOptions", "Table", "emit_cores"]
