"""Sliding windows of 2-D operators: kernel, stride, dilation and padding. 1-D windows are lifted to 2-D."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import PadMode
from mslite.converter.mindir.ops.rearrange import Squeeze, Unsqueeze

from .call import Call

_MAX_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Window:
    """A 2-D window. Lists are [height, width]; `pads` is [top, bottom, left, right]."""

    dimensions: int
    """Spatial dimensions of the source: 1 or 2."""
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad_mode: PadMode
    pads: tuple[int, int, int, int]


def check_dimensions(call: Call, dimensions: int) -> None:
    if dimensions not in (1, 2):
        raise call.block(
            f"{dimensions} spatial dimensions are not supported", "Only 1-D and 2-D windows are; reshape the data"
        )


def sizes(call: Call, name: str, dimensions: int, least: int, default: int = 1) -> tuple[int, ...]:
    """Reads an attribute with one entry per spatial dimension."""
    values = call.integers(name)
    if not values:
        return (default,) * dimensions
    if len(values) != dimensions:
        raise call.block(f"has {len(values)} entries for {dimensions} dimensions", "Export the model again", name)
    if any(not least <= value <= _MAX_SIZE for value in values):
        raise call.block(f"{list(values)} is out of range", "Export the model again", name)
    return values


def pads_attribute(call: Call, dimensions: int) -> tuple[int, ...]:
    """Returns the padding: all begins, then all ends."""
    pads = call.integers("pads")
    if not pads:
        return (0,) * (2 * dimensions)
    if len(pads) != 2 * dimensions or any(abs(pad) > _MAX_SIZE for pad in pads):
        raise call.block(f"{list(pads)} does not fit {dimensions} dimensions", "Export the model again", "pads")
    if any(pad < 0 for pad in pads):
        raise call.block("negative padding is not supported here", "Crop with Slice before this operator", "pads")
    return pads


def read_window(call: Call, x: Value, kernel: tuple[int, ...]) -> Window:
    """Reads the attributes strides, dilations, pads and auto_pad of a node with this kernel."""
    dimensions = len(kernel)
    check_dimensions(call, dimensions)
    stride = sizes(call, "strides", dimensions, 1)
    dilation = sizes(call, "dilations", dimensions, 1)
    pads = pads_attribute(call, dimensions)
    auto = call.text("auto_pad", "NOTSET")
    mode = PadMode.PAD
    if auto == "VALID":
        pads = (0,) * (2 * dimensions)
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        known = _same_pads(call, x, kernel, stride, dilation, auto == "SAME_LOWER")
        pads = known if known is not None else (0,) * (2 * dimensions)
        mode = PadMode.PAD if known is not None else PadMode.SAME
    elif auto not in ("NOTSET", ""):
        raise call.block(f"'{auto}' is not defined", "Use NOTSET, VALID, SAME_UPPER or SAME_LOWER", "auto_pad")
    begin, end = pads[:dimensions], pads[dimensions:]
    if dimensions == 1:
        return Window(1, (1, *kernel), (1, *stride), (1, *dilation), mode, (0, 0, begin[0], end[0]))  # type: ignore[arg-type]
    pad_list = (begin[0], end[0], begin[1], end[1])
    return Window(2, kernel, stride, dilation, mode, pad_list)  # type: ignore[arg-type]


def _same_pads(
    call: Call,
    x: Value,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    lower: bool,
) -> tuple[int, ...] | None:
    """Returns pads for an output size of ceil(input / stride); None if known only at run time (PadMode.SAME)."""
    shape = call.shape(x)
    spatial = shape[2:] if shape is not None and len(shape) == len(kernel) + 2 else (None,) * len(kernel)
    begin, end = [], []
    for size, extent, step, spread in zip(spatial, kernel, stride, dilation, strict=True):
        reach = (extent - 1) * spread + 1
        if size is not None:
            total = max(0, (-(-size // step) - 1) * step + reach - size)
        elif step == 1:
            total = reach - 1  # does not depend on the size
        elif lower:
            raise call.not_known("auto_pad depends on an input size that is dynamic", "Give --inputShape")
        else:
            return None
        small = total // 2
        begin.append(total - small if lower else small)
        end.append(small if lower else total - small)
    return (*begin, *end)


def whole_window(call: Call, x: Value, window: Window) -> Window:
    """Returns a window with more padding: counted with floor, it has the windows of ceil_mode, all complete."""
    shape = call.shape(x)
    spatial = shape[2:] if shape is not None and len(shape) == window.dimensions + 2 else (None,) * window.dimensions
    pads = list(window.pads)
    for axis, size in enumerate(spatial, 2 - window.dimensions):
        stride, begin, end = window.stride[axis], *pads[2 * axis : 2 * axis + 2]
        reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1
        if size is not None:
            count = min(-(-(size + begin + end - reach) // stride) + 1, -(-(size + begin) // stride))
            pads[2 * axis + 1] = max(0, (count - 1) * stride + reach - size - begin)
        elif end + stride <= reach:  # no window begins past the input
            pads[2 * axis + 1] = end + stride - 1
        else:
            raise call.not_known("ceil_mode depends on an input size that is dynamic", "Give --inputShape")
    return replace(window, pads=tuple(pads))  # type: ignore[arg-type]


def lift(call: Call, x: Value, dimensions: int) -> Value:
    """Converts [N, C, L] to [N, C, 1, L]; returns 4-D tensors unchanged."""
    return call.emit(Unsqueeze(axis=(2,)), x) if dimensions == 1 else x


def lower(call: Call, y: Value, dimensions: int) -> Value:
    """Reverses `lift`."""
    return call.emit(Squeeze(axis=(2,)), y) if dimensions == 1 else y
