"""Checks the shapes of `--inputShape` against the model's inputs and suggests corrections."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.spelling import nearest
from mslite.converter.text_shortening import quoted, shortened

_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def unknown_input(file: str, name: str, inputs: Collection[str]) -> ConversionError:
    """Returns the error for a name that is not an input of the model."""
    near = nearest(name, inputs, min(len(name) // 3, 2))
    rest = f"; did you mean {quoted(near)}?" if near else f"; its inputs are {', '.join(map(quoted, sorted(inputs)))}"
    message = f"{_of(file)}--inputShape names {quoted(name)}, which is not an input of the model{rest}"
    return ConversionError(message, code=ReturnCode.INPUT_PARAMETER_INVALID)


def check_shape(file: str, name: str, have: Sequence[int], given: Sequence[int]) -> None:
    """Raises ConversionError for a shape of another rank, and for an image in the other layout.

    `have` is the model's shape; negative numbers are dynamic dimensions.
    """
    have_text, given_text = _text(have), _text(given)
    if len(have) != len(given):
        counted = f"{len(given)} dimension{'' if len(given) == 1 else 's'}"
        raise ConversionError(
            f"{_of(file)}--inputShape={shortened(name)}:{given_text} has {counted}, but the model's input has "
            f"{len(have)}: "
            f"[{have_text}]",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    if len(have) != len(_TO_NCHW) or _fits(have, given):
        return
    for order, typed, source in ((_TO_NCHW, "NHWC", "NCHW"), (_TO_NHWC, "NCHW", "NHWC")):
        other = [given[axis] for axis in order]
        if _fits(have, other):
            raise ConversionError(
                f"{_of(file)}--inputShape={shortened(name)}:{given_text} looks like {typed}, but the source model "
                f"has {source}, "
                f"[{have_text}]. Give it in the layout of the source: --inputShape={shortened(name)}:{_text(other)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )


def _of(file: str) -> str:
    """Returns the beginning of a message; "" if the caller adds the file."""
    return f"{file}: " if file else ""


def _fits(have: Sequence[int], given: Sequence[int]) -> bool:
    """Returns whether the dimensions match, except for the batch."""
    return all(old < 0 or new < 0 or old == new for old, new in zip(have[1:], given[1:], strict=True))


def _text(shape: Sequence[int]) -> str:
    return ",".join("?" if size < -1 else str(size) for size in shape)
