"""Writes the core files of programs: net<i>.h, net<i>.c, weight<i>.h, weight<i>.c, and the sources of their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jinja2 import Environment, PackageLoader, StrictUndefined

from mslite.codegen import sources
from mslite.codegen.core import Core
from mslite.codegen.emit import constants as constants_module
from mslite.codegen.emit.constants import Constants, constants_of, variables_of
from mslite.codegen.emit.names import comment
from mslite.codegen.emit.numbers import wrapped
from mslite.codegen.emit.steps import Places, Row, Table, grouped, kernels_of, shape_text, table_of
from mslite.codegen.program import COPY, Plan, Program, Step
from mslite.codegen.targets import MAXIMUM_THREADS, target_named

ARENA_ALIGNMENT = 16
_SCRATCH_ALIGNMENT = 64
"""No two threads write to one line of a cache."""
_FAR = 1 << 30
"""Places from here on do not fit into 30 bits."""


@dataclass(frozen=True)
class EmitOptions:
    """How constants are written."""

    weights_in_file: bool = False
    """Constants lie in net<i>.bin instead of arrays of C."""
    parallel: bool = False
    """Threads of the caller may share the parts of a step; the programs are those of `for_threads`."""


def for_threads(program: Program) -> Program:
    """The program with scratch memory for each of the threads that may share a step."""
    for step in program.steps:
        step.scratch_size = MAXIMUM_THREADS * (step.scratch_size + -step.scratch_size % _SCRATCH_ALIGNMENT)
    return replace(program, cut=None)


def emit_cores(programs: Sequence[tuple[Program, Plan]], options: EmitOptions | None = None) -> list[Core]:
    """The cores of one project: model i in `src/model<i>/`, the kernels of them all in `src/kernels/`."""
    options = options or EmitOptions()
    names = sorted({name for program, _ in programs for name in kernels_of(program)})
    target = target_named(programs[0][0].target)
    isa = target.isas[-1]
    kernels = {f"src/{path}": text for path, text in sources.kernel_files(names, isa).items()}
    return [_emit(index, program, plan, isa, kernels, options) for index, (program, plan) in enumerate(programs)]


def _emit(index: int, program: Program, plan: Plan, isa: str, kernels: dict[str, str], options: EmitOptions) -> Core:
    constants = constants_of(program)
    starts = Places(program, plan, constants)
    table, ends = table_of(program, plan, constants)
    in_file = options.weights_in_file and constants.size > 0
    input_offsets = tuple(starts.arena(tensor) for tensor in program.inputs)
    output_offsets = tuple(ends.arena(tensor) for tensor in program.outputs)
    numbers = _numbers(table, isa)
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
        "maximum_threads": MAXIMUM_THREADS,
        "alignment": ARENA_ALIGNMENT,
        "place_type": "uint64_t" if max(plan.size, constants.size) >= _FAR else "uint32_t",
        "inputs": _interface(program, starts, True),
        "outputs": _interface(program, ends, False),
        "variables": _variables(program, starts, constants),
        "headers": sorted({header for name in kernels_of(program) for header in [sources.run_function(name, isa)[0]]}),
        "functions": {name: sources.run_function(name, isa)[1] for name in kernels_of(program)},
        "numbers": numbers,
        "needs_math": any("INFINITY" in one.initialiser or "NAN" in one.initialiser for one in numbers.values() if one),
        "reads_caller": None in input_offsets,
        "reports": any("mslite_report_value(" in text for text in kernels.values()),
        "macs": sum(step.macs for step in program.steps),
    }
    context["given_at"] = lambda place: _outside(place, f"model{index}", in_file)
    folder = f"src/model{index}"
    files = {
        f"{folder}/net{index}.h": _render("net.h.j2", context),
        f"{folder}/net{index}.c": _render("net.c.j2", context),
    }
    if options.parallel:
        files["src/parallel.h"] = _render("parallel.h.j2", context)
    if constants.size and not in_file:
        files[f"{folder}/weight{index}.h"] = _render("weight.h.j2", context)
        files[f"{folder}/weight{index}.c"] = _render("weight.c.j2", context)
    return Core(
        index=index,
        program=program,
        plan=plan,
        files={**kernels, **files},
        weights=constants.image() if in_file else None,
        input_offsets=input_offsets,
        output_offsets=output_offsets,
        constants_size=constants.size,
        arena_size=plan.size,
        arena_alignment=ARENA_ALIGNMENT,
        has_variables=bool(variables_of(program)),
        needs_libm=any("#include <math.h>" in text for text in kernels.values()),
    )


def _outside(place: str, prefix: str, in_file: bool) -> str:
    """The address of something that lies in no arena, for the functions that the caller calls."""
    kind, _, rest = place.rstrip(")").partition("(")
    if kind == "INPUT":
        return f"inputs[{rest}]"
    return f"(const unsigned char *)weights + AT_{rest}" if in_file else f"&{prefix}_weights.at.{rest}"


@dataclass(frozen=True)
class _Value:
    """An input or output as the header shows it."""

    number: int
    comment: str
    size: int
    place: str
    """C text, as of an operand."""
    offset: int | None


def _interface(program: Program, places: Places, is_input: bool) -> list[_Value]:
    found = []
    for number, tensor in enumerate(program.inputs if is_input else program.outputs):
        text = f"{tensor.name}  {shape_text(tensor)}"
        if len(tensor.quant) == 1:
            record = tensor.quant[0]
            text += f", real = {record.scale!r} * (q - {record.zeroPoint})"
        place = places.of(tensor)
        found.append(_Value(number, comment(text), tensor.size, place, places.arena(tensor)))
    return found


@dataclass(frozen=True)
class _Variable:
    name: str
    offset: int
    size: int
    first: str
    """The constant that holds its first value; "" where that is zero."""


def _variables(program: Program, places: Places, constants: Constants) -> list[_Variable]:
    found = []
    for tensor in variables_of(program):
        offset = places.arena(tensor)
        if offset is None:
            raise ValueError(f"the memory plan has no place for the variable '{tensor.name}'")
        first = constants.of_tensor.get(tensor)
        found.append(_Variable(comment(tensor.name), offset, tensor.size, first.name if first else ""))
    return found


@dataclass(frozen=True)
class _Derived:
    """The numbers of a step as a C constant."""

    name: str
    type: str
    initialiser: str


def _numbers(table: Table, isa: str) -> dict[Row, _Derived | None]:
    """The constants of all rows; rows with the same numbers share one."""
    shared: dict[tuple[str, str], _Derived] = {}
    found: dict[Row, _Derived | None] = {}
    for row in table.rows:
        text = _derived(row.step, isa)
        found[row] = None if text is None else shared.setdefault(text, _Derived(f"numbers_{row.name}", *text))
    return found


def _derived(step: Step, isa: str) -> tuple[str, str] | None:
    """Type and initialiser."""
    if step.kernel == COPY:
        return "size_t", str(step.outputs[0].size)
    if not step.derived:
        return None
    return sources.derived_initialiser(step.kernel, step.derived, isa)


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
            declaration=constants_module.declaration, wrapped=wrapped, initialiser=constants_module.initialiser
        )
        _ENVIRONMENT.filters.update(grouped=grouped, shape=shape_text, comment=comment)
    return _ENVIRONMENT.get_template(template).render(context)


__all__ = ["EmitOptions", "Table", "emit_cores"]
