"""Fixes the shapes of a program's inputs. Generated C has no dynamic dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mslite.codegen.lowering.errors import LoweringError
from mslite.converter.errors import ReturnCode
from mslite.converter.text_shortening import counted

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Input:
    """An input of a model file. Dynamic dimensions are negative."""

    name: str
    shape: Shape


def fixed_shapes(
    model: str,
    inputs: Sequence[Input],
    wanted: Mapping[str, Shape],
    channels_first: Callable[[], frozenset[str]] = frozenset,
) -> list[Shape]:
    """Returns the shape of each input: that in `wanted`, or that of the file, with 1 for a dynamic first dimension (the
    batch).

    `channels_first`: returns the inputs that are NCHW in the user's model file but NHWC here.

    Raises:
        LoweringError: for dimensions that stay dynamic, shapes that contradict the file, and names that are not inputs.
    """
    names = {value.name for value in inputs}
    for name in wanted:
        if name not in names:
            raise LoweringError(
                f"{model}: '{name}' is not an input of the model; its inputs are {', '.join(repr(one) for one in sorted(names))}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
    shapes = []
    problems = []
    for value in inputs:
        shape = wanted.get(value.name, (1, *value.shape[1:]) if value.shape and value.shape[0] < 0 else value.shape)
        if len(shape) != len(value.shape):
            problems.append(
                f"input '{value.name}' has {counted(len(value.shape), 'dimension')}, {len(shape)} {'was' if len(shape) == 1 else 'were'} given"
            )
        elif any(have >= 0 and have != want for have, want in zip(value.shape, shape, strict=True)):
            problems.append(
                f"input '{value.name}' has the shape {_text(value.shape)}, which cannot be {_text(shape)}; "
                "convert the model for that shape"
            )
        elif any(size < 0 for size in shape):
            if value.name in channels_first():
                shape = (shape[0], shape[-1], *shape[1:-1])
            problems.append(
                f"input '{value.name}' has dynamic dimensions: {_text(shape)}; "
                f"give them as --inputShape={value.name}:{_text(shape)[1:-1].replace(' ', '')}, with numbers for '?'"
            )
        shapes.append(shape)
    if problems:
        is_open = all("has dynamic dimensions" in problem for problem in problems)
        raise LoweringError(
            "\n  ".join([f"{model}: shapes are not fixed", *problems]),
            code=ReturnCode.SHAPE_ERROR if is_open else ReturnCode.INPUT_PARAMETER_INVALID,
        )
    return shapes


def _text(shape: Shape) -> str:
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"
