"""Windows of convolutions: kernel, stride, padding, dilation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.rearrange import Squeeze, Unsqueeze
from mslite.converter.parsers.protobuf import Message

from .call import Call

_MAX_SIZE = 1 << 24


@dataclass(frozen=True)
class Window:
    """The window of a convolution; all tuples have an element for each spatial dimension."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    """Padding, the same at both ends."""
    dilation: tuple[int, ...]

    def output(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the output sizes of a convolution."""
        return tuple(
            (size + 2 * p - (d * (k - 1) + 1)) // s + 1
            for size, k, s, p, d in zip(sizes, self.kernel, self.stride, self.pad, self.dilation, strict=True)
        )

    def transposed_output(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the output sizes of a transposed convolution."""
        return tuple(
            s * (size - 1) + d * (k - 1) + 1 - 2 * p
            for size, k, s, p, d in zip(sizes, self.kernel, self.stride, self.pad, self.dilation, strict=True)
        )

    def image(self, values: Sequence[int], fill: int) -> tuple[int, ...]:
        """Returns one or two values as (height, width)."""
        return (fill,) * (2 - len(values)) + tuple(values)

    @property
    def image_pads(self) -> tuple[int, int, int, int]:
        """The padding [top, bottom, left, right]."""
        height, width = self.image(self.pad, 0)
        return (height, height, width, width)


def read_window(call: Call, given: Message, dimensions: int) -> Window:
    """Reads the window of a ConvolutionParameter with this number of spatial dimensions. Raises Blocked."""

    def sizes(name: str, split: str, default: int | None, least: int) -> tuple[int, ...]:
        pair = (f"{split}_h", f"{split}_w")
        listed = list(getattr(given, name))
        if split and any(given.HasField(field) for field in pair):
            if listed or dimensions != 2:
                raise call.block(
                    f"{pair[0]} and {pair[1]} must not be used with {name}, and need 2 spatial dimensions",
                    attribute=name,
                )
            listed = [getattr(given, field) for field in pair]
        if not listed and default is not None:
            listed = [default]
        if len(listed) not in (1, dimensions):
            raise call.block(f"it has {len(listed)} values for {dimensions} spatial dimensions", attribute=name)
        if any(not least <= size <= _MAX_SIZE for size in listed):
            raise call.block(f"{listed} is out of range", attribute=name)
        return tuple(listed * dimensions if len(listed) == 1 else listed)

    return Window(
        sizes("kernel_size", "kernel", None, 1),
        sizes("stride", "stride", 1, 1),
        sizes("pad", "pad", 0, 0),
        sizes("dilation", "", 1, 1),
    )


def lift(call: Call, x: Value, dimensions: int) -> Value:
    """Returns [N, C, L] as [N, C, 1, L]; images unchanged."""
    return call.emit(Unsqueeze(axis=(2,)), x) if dimensions == 1 else x


def lower(call: Call, y: Value, dimensions: int) -> Value:
    """Reverts `lift`."""
    return call.emit(Squeeze(axis=(2,)), y) if dimensions == 1 else y
