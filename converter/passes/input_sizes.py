"""Sizes of the model's inputs: given by the user before anything is inferred, and what the file says of them at the end."""

from __future__ import annotations

from collections import Counter

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.input_shapes import check_shape, unknown_input
from mslite.converter.mindir.graph import Module, Value, is_symbol
from mslite.converter.mindir.input_sizes import FIXED, FREE, MOST_GROUPS
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes


def freeze_inputs(module: Module, context: Context) -> None:
    """Gives the main graph's inputs the shapes of `--inputShape`, in which -1 leaves a size open. Other inputs get the sizes that they
    share with these.

    Raises ConversionError for a name that is no input, or a shape that contradicts the model.
    """
    wanted = dict(context.settings.input_shapes)
    given: dict[int, int] = {}
    for value in module.main.inputs:
        shape = wanted.pop(value.name, None)
        if shape is None:
            continue
        if value.shape is not None:
            check_shape("", value.name, [size if size >= 0 else -2 for size in value.shape], shape)
        _check_fixed(value, shape)
        for axis, (have, want) in enumerate(zip(value.shape or shape, shape, strict=True)):
            if 0 <= have != want >= 0 and axis > 0 and not _may_change(value):
                context.note(f"input '{value.name}': dimension {axis} changes from {have} to {want}")
        for have, want in zip(value.shape or (), shape, strict=False):
            if is_symbol(have) and want >= 0 and given.setdefault(have, want) != want:
                raise ConversionError(
                    f"--inputShape: input '{value.name}' has the sizes {list(shape)}; the model has one size where {want} and "
                    f"{given[have]} were given",
                    code=ReturnCode.INPUT_PARAMETER_INVALID,
                )
        value.shape = tuple(
            have if want < 0 and is_symbol(have) else want
            for have, want in zip(value.shape or shape, shape, strict=True)
        )
    for value in module.main.inputs if given else ():
        value.shape = None if value.shape is None else tuple(given.get(size, size) for size in value.shape)
    if wanted:
        raise unknown_input("", next(iter(wanted)), [value.name for value in module.main.inputs])


def _may_change(value: Value) -> bool:
    return value.shape is None or any(size < 0 for size in value.shape)


def _check_fixed(value: Value, shape: tuple[int, ...]) -> None:
    """Refuses other sizes than those that a `.ms` file was made for."""
    for axis, (mark, have, want) in enumerate(zip(value.size_marks, value.shape or (), shape, strict=False)):
        if mark == FIXED and have != want:
            raise ConversionError(
                f"--inputShape: dimension {axis} of input '{value.name}' is {have} in the file, and {want} was given; constants of "
                "the file were made for its sizes. Convert the original model with --inputShape",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )


def mark_input_sizes(module: Module, context: Context) -> None:
    """Says of each input which sizes the result was made for, and which are equal in every run."""
    fixed = context.settings.fixed_sizes or context.reads_sizes or module.reads_sizes
    inputs = [value for value in module.main.inputs if value.shape is not None and value.dtype is not DataType.STRING]
    counts = Counter(size for value in inputs for size in value.shape or () if is_symbol(size))
    shared = [symbol for symbol, count in counts.items() if count > 1]
    groups = {symbol: number for number, symbol in enumerate(shared[:MOST_GROUPS], 1)}
    if len(shared) > MOST_GROUPS:
        context.note(f"{len(shared)} sizes are each shared by inputs; runs compare the first {MOST_GROUPS} of them")
    for value in inputs:
        is_fixed = fixed or FIXED in value.size_marks
        value.size_marks = tuple(
            groups.get(size, FREE) if is_symbol(size) else FIXED if is_fixed else FREE for size in value.shape or ()
        )
        if not any(value.size_marks):
            value.size_marks = ()


def state_sizes(module: Module, context: Context) -> None:
    """Gives values the sizes that the source states, now that no pass can take them for fixed."""
    if not module.stated_sizes:
        return
    for value in module.main.inputs:
        if value.shape is not None:
            value.shape = tuple(module.stated_sizes.get(size, size) for size in value.shape)
    infer_shapes(module, context)
