"""What `emit` hands to `project`: the C of one model's core, and what is built around it must know.

The C of model i, in `src/model<i>/`:

    net<i>.h
        #define MODEL<i>_ARENA_SIZE …          bytes, beginning at a multiple of MODEL<i>_ARENA_ALIGNMENT
        #define MODEL<i>_ARENA_ALIGNMENT …
        #define MODEL<i>_WEIGHTS_SIZE …        bytes of net<i>.bin (in weight<i>.h); only where constants come from that file
        int model<i>_run(const void *const inputs[], void *const outputs[], void *arena);
            Constants from net<i>.bin: one more argument, `const void *weights`, at a multiple of 16.
            Parallel: one more at the end, `const mslite_threads *threads` (src/parallel.h); NULL for one thread.
            inputs[k] == NULL: the input lies at its place in the arena already (`Core.input_offsets[k]` is not None).
            outputs[k] == NULL: the output stays at its place in the arena (`Core.output_offsets[k]` is not None).
            Returns 0, or the mslite_status of a step that met an impossible value.
            Several shapes: `int shapes` comes first (`Core.more_shapes`); inputs and outputs are the caller's.
        void model<i>_reset(void *arena);      only where the model has variables: gives them their first values
    net<i>.c, weight<i>.h, weight<i>.c         and whatever kernel sources those include, or `common` files in `src/`
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.codegen.program import Plan, Program


@dataclass(eq=False)
class Shapes:
    """Further sizes of inputs that a core runs with; its weights are the same."""

    program: Program
    plan: Plan


@dataclass(eq=False)
class Core:
    """One model's C, ready to be written."""

    index: int
    program: Program
    plan: Plan
    files: dict[str, str]
    """Path within the project -> text; every `.c` among them is compiled on its own."""
    weights: bytes | None = None
    """The contents of net<i>.bin, or None where constants are arrays in weight<i>.c."""
    input_offsets: tuple[int | None, ...] = ()
    """Place in the arena of each input; None: it is read where the caller has it."""
    output_offsets: tuple[int | None, ...] = ()
    """Place in the arena of each output; None: it is written where the caller wants it."""
    loads_weights: bool = False
    """net<i>.bin holds replaceable weights alone: model<i>_load_weights makes what a run wants of them."""
    constants_size: int = 0
    """Bytes of constants, in C or in net<i>.bin."""
    arena_size: int = 0
    arena_alignment: int = 16
    has_variables: bool = False
    needs_libm: bool = False
    more_shapes: tuple[Shapes, ...] = ()
    """Where there are any, the shapes are an argument of the run: 0 for `program`, then these."""
    definitions: tuple[str, ...] = field(default=())
    """Preprocessor definitions that its files are compiled with."""
