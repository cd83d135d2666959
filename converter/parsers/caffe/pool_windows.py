"""Windows of pooling layers, and 2-D pooling."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import Format, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended, AvgPoolFusion, MaxPoolFusion
from mslite.converter.parsers.protobuf import Message

from .call import Call

MAX_SIZE = 1 << 24


@dataclass(frozen=True)
class PoolWindow:
    """The window of a pooling layer; all tuples are (height, width)."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    ceiling: bool

    def output(self, call: Call, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the output sizes in Caffe: the last window must start inside the image or the padding before it.
        Raises Blocked."""
        result = []
        for size, k, s, p in zip(sizes, self.kernel, self.stride, self.pad, strict=True):
            if p >= k:
                raise call.block(f"the padding {p} is not smaller than the window {k}")
            room = size + 2 * p - k
            count = (-(-room // s) if self.ceiling else room // s) + 1
            if p and (count - 1) * s >= size + p:
                count -= 1
            if count < 1 or (count - 1) * s - p >= size:
                raise call.block(f"windows of size {k} and stride {s} are outside the input of size {size}")
            result.append(count)
        return tuple(result)


def _pair(given: Message, name: str, single: str, default: int) -> tuple[int, int]:
    if given.HasField(f"{name}_h") or given.HasField(f"{name}_w"):
        return getattr(given, f"{name}_h"), getattr(given, f"{name}_w")
    value: int = getattr(given, single)
    return (value or default,) * 2 if not given.HasField(single) else (value,) * 2


def read_pool_window(call: Call, given: Message) -> PoolWindow:
    kernel, stride = _pair(given, "kernel", "kernel_size", 0), _pair(given, "stride", "stride", 1)
    pad = _pair(given, "pad", "pad", 0)
    for name, values, least in (("kernel_size", kernel, 1), ("stride", stride, 1), ("pad", pad, 0)):
        if any(not least <= value <= MAX_SIZE for value in values):
            raise call.block(f"{list(values)} is out of range", attribute=name)
    floor = call.choice(given, "round_mode") == "FLOOR" or not given.ceil_mode
    return PoolWindow(kernel, stride, pad, not floor)


def pool_image(call: Call, x: Value, window: PoolWindow, method: str) -> Value:
    """Emits 2-D pooling. Averages are divided by the part of the window inside the image and its padding."""
    pads = (window.pad[0], window.pad[0], window.pad[1], window.pad[1])
    rounding = RoundMode.CEIL if window.ceiling else RoundMode.FLOOR
    if method == "AVE" and any(window.pad):
        extended = AvgPoolExtended(
            format=Format.NCHW,
            kernel_size=window.kernel,
            strides=window.stride,
            dilation=(1, 1),
            pad=pads,
            round_mode=rounding,
            count_include_pad=True,
        )
        return call.emit(extended, x)
    kind = MaxPoolFusion if method == "MAX" else AvgPoolFusion
    op = kind(format=Format.NCHW, kernel_size=window.kernel, strides=window.stride, pad=pads, round_mode=rounding)
    return call.emit(op, x)
