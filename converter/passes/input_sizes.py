"""Sets input shapes from --inputShape, and marks in the file which input dimensions can be resized."""

from __future__ import annotations

from collections import Counter

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.input_shapes import check_shape, unknown_input
from mslite.converter.mindir.graph import Module, Value, is_symbol
from mslite.converter.mindir.input_sizes import FIXED, FREE, MAX_GROUPS
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes


def freeze_inputs(module: Module, context: Context) -> None:
    """Gives the main graph's inputs the shapes of `--inputShape`; -1 is a dynamic dimension. Dimensions that other
    inputs share with
    these are set, too.

    Raises ConversionError for a name that is not an input, or a shape that contradicts the model.
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
                    f"--inputShape: input '{value.name}' has the shape {list(shape)}, which gives {want} for a "
                    "dimension that is "
                    f"{given[have]} elsewhere; in the model both are the same dimension",
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
    """Raises ConversionError for a dimension that a `.ms` file declares as fixed."""
    for axis, (mark, have, want) in enumerate(zip(value.size_marks, value.shape or (), shape, strict=False)):
        if mark == FIXED and have != want:
            raise ConversionError(
                f"--inputShape: dimension {axis} of input '{value.name}' is fixed to {have} in the file, not "
                f"{want}: constants of "
                "the file depend on it. Convert the source model with --inputShape",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )


def mark_fixed_dimensions(module: Module, context: Context) -> None:
    """Marks the dimensions of each input that are fixed in the result, and those that must be equal in every run."""
    fixed = context.settings.fixed_sizes or context.depends_on_input_sizes or module.depends_on_input_sizes
    inputs = [value for value in module.main.inputs if value.shape is not None and value.dtype is not DataType.STRING]
    counts = Counter(size for value in inputs for size in value.shape or () if is_symbol(size))
    shared = [symbol for symbol, count in counts.items() if count > 1]
    groups = {symbol: number for number, symbol in enumerate(shared[:MAX_GROUPS], 1)}
    if len(shared) > MAX_GROUPS:
        context.note(
            f"{len(shared)} dynamic dimensions are shared by inputs; the runtime checks the first {MAX_GROUPS} of them"
        )
    for value in inputs:
        is_fixed = fixed or FIXED in value.size_marks
        value.size_marks = tuple(
            groups.get(size, FREE) if is_symbol(size) else FIXED if is_fixed else FREE for size in value.shape or ()
        )
        if not any(value.size_marks):
            value.size_marks = ()


def set_declared_sizes(module: Module, context: Context) -> None:
    """Replaces dynamic dimensions by the sizes that the source declares as examples. Runs after all passes that fold
    fixed sizes."""
    if not module.declared_sizes:
        return
    for value in module.main.inputs:
        if value.shape is not None:
            value.shape = tuple(module.declared_sizes.get(size, size) for size in value.shape)
    infer_shapes(module, context)
