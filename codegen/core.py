"""The result of `emit` for `project`: the generated C of one model and its properties. Sizes and offsets are bytes.

Files of model i, in `src/model<i>/`:

    net<i>.h
        #define MODEL<i>_ARENA_SIZE …          bytes, beginning at a multiple of MODEL<i>_ARENA_ALIGNMENT
        #define MODEL<i>_ARENA_ALIGNMENT …
        #define MODEL<i>_WEIGHTS_SIZE …        bytes of net<i>.bin (in weight<i>.h); only if constants are in that file
        int model<i>_run(const void *const inputs[], void *const outputs[], void *arena);
            Constants in net<i>.bin: one more argument, `const void *weights`, at a multiple of 16.
            Parallel: one more argument at the end, `const mslite_threads *threads` (src/parallel.h); NULL: one thread.
            inputs[k] == NULL: the input is already in the arena (`Core.input_offsets[k]` is not None).
            outputs[k] == NULL: the output stays in the arena (`Core.output_offsets[k]` is not None).
            Returns 0, or the mslite_status of a step that found an invalid value.
            Several shapes: the first argument is `int shapes` (`Core.more_shapes`); inputs and outputs are the caller's.
        void model<i>_reset(void *arena);      only if the model has variables: sets them to their initial values
    net<i>.c, weight<i>.h, weight<i>.c         and the kernel sources and `common` files in `src/` that they include
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.codegen.program import Plan, Program


@dataclass(eq=False)
class Shapes:
    """Program and plan of a model for other input shapes. The weights are the same."""

    program: Program
    plan: Plan


@dataclass(eq=False)
class Core:
    """The generated C of one model."""

    index: int
    program: Program
    plan: Plan
    files: dict[str, str]
    """Path within the project -> text. Each `.c` file is a translation unit."""
    weights: bytes | None = None
    """Contents of net<i>.bin, or None if constants are arrays in weight<i>.c."""
    input_offsets: tuple[int | None, ...] = ()
    """Offset of each input in the arena; None if it is read from the caller's memory."""
    output_offsets: tuple[int | None, ...] = ()
    """Offset of each output in the arena; None if it is written to the caller's memory."""
    loads_weights: bool = False
    """Whether net<i>.bin contains only the replaceable weights. model<i>_load_weights makes the `weights` of a run from
    them."""
    constants_size: int = 0
    """Bytes of constants, in C or in net<i>.bin."""
    arena_size: int = 0
    arena_alignment: int = 16
    has_variables: bool = False
    needs_libm: bool = False
    more_shapes: tuple[Shapes, ...] = ()
    """Further shapes. If there are any, model<i>_run has an argument `shapes`: 0 for `program`, i + 1 for entry i."""
    definitions: tuple[str, ...] = field(default=())
    """Preprocessor definitions that its files are compiled with."""
