"""References of spatial pooling."""

from __future__ import annotations

import numpy as np

from ..ops import pooling as ops
from ..ops.enums import ActivationType, PadMode, RoundMode
from ._declare import Array, Inputs, case, normal, reference
from .matmul import fused_activation

AnyPool = ops.AvgPoolFusion | ops.MaxPoolFusion | ops.AvgPoolExtended | ops.MaxPoolExtended


def _axis(op: AnyPool, i: int, size: int) -> tuple[int, int, int, int, int, int]:
    """Returns (windows, kernel, stride, dilation, padding before, padding after) of height (0) or width (1)."""
    if isinstance(op, ops.AvgPoolFusion | ops.MaxPoolFusion) and op.global_:
        return 1, size, 1, 1, 0, 0
    assert op.kernel_size is not None
    kernel, stride = op.kernel_size[i], (op.strides or (1, 1))[i]
    dilation = 1 if isinstance(op, ops.AvgPoolFusion | ops.MaxPoolFusion) else (op.dilation or (1, 1))[i]
    span = (kernel - 1) * dilation + 1
    if op.pad_mode == PadMode.SAME:
        count = -(-size // stride)
        total = max(0, (count - 1) * stride + span - size)
        return count, kernel, stride, dilation, total // 2, total - total // 2
    before, after = (op.pad or (0, 0, 0, 0))[2 * i : 2 * i + 2] if op.pad_mode == PadMode.PAD else (0, 0)
    room = size + before + after - span
    count = (-(-room // stride) if op.round_mode == RoundMode.CEIL else room // stride) + 1
    if op.round_mode == RoundMode.CEIL and (count - 1) * stride >= size + before:
        count -= 1
    return count, kernel, stride, dilation, before, after


@reference("AvgPoolFusion", "MaxPoolFusion", "AvgPoolExtended", "MaxPoolExtended")
def pool(op: AnyPool, inputs: Inputs) -> list[Array]:
    """Mean or maximum of each window. Padding is excluded; with count_include_pad, averages include it as zeros.

    The mean of a window that is entirely in the padding is 0.
    """
    x = np.asarray(inputs[0], np.float64)
    rows, columns = (_axis(op, i, x.shape[1 + i]) for i in range(2))
    counts = isinstance(op, ops.AvgPoolExtended) and op.count_include_pad
    y = np.empty((x.shape[0], rows[0], columns[0], x.shape[3]))
    for i in range(rows[0]):
        for j in range(columns[0]):
            taps, padded = [], 1
            for (_, kernel, stride, dilation, before, after), at, size in (
                (rows, i, x.shape[1]),
                (columns, j, x.shape[2]),
            ):
                positions = at * stride - before + np.arange(kernel) * dilation
                taps.append(positions[(positions >= 0) & (positions < size)])
                padded *= int(np.sum(positions < size + after))
            window = x[:, taps[0]][:, :, taps[1]]
            if isinstance(op, ops.MaxPoolFusion | ops.MaxPoolExtended):
                y[:, i, j] = window.max(axis=(1, 2))
            else:
                count = padded if counts else len(taps[0]) * len(taps[1])
                y[:, i, j] = window.sum(axis=(1, 2)) / max(count, 1)
    return [fused_activation(op.activation_type, y).astype(np.float32)]


@reference("ROIPooling")
def roi_pooling(op: ops.ROIPooling, inputs: Inputs) -> list[Array]:
    """Caffe's ROIPooling: maxima of the bins of regions with rounded corners; 0 for bins without a pixel."""
    x, rois = (np.asarray(array, np.float32) for array in inputs)
    y = np.zeros((len(rois), op.pooled_h, op.pooled_w, x.shape[3]), np.float32)
    for r, (image, *corners) in enumerate(rois):
        if not 0 <= int(image) < len(x):
            continue
        scaled = np.array(corners, np.float32) * np.float32(op.scale)
        left, top, right, bottom = (int(np.sign(at) * np.floor(abs(at) + 0.5)) for at in scaled)
        size_h = np.float32(max(bottom - top + 1, 1)) / np.float32(op.pooled_h)
        size_w = np.float32(max(right - left + 1, 1)) / np.float32(op.pooled_w)
        for i, j in np.ndindex(op.pooled_h, op.pooled_w):
            rows = [top + int(np.floor(i * size_h)), top + int(np.ceil((i + 1) * size_h))]
            columns = [left + int(np.floor(j * size_w)), left + int(np.ceil((j + 1) * size_w))]
            part = x[int(image), max(rows[0], 0) : max(rows[1], 0), max(columns[0], 0) : max(columns[1], 0)]
            if part.size:
                y[r, i, j] = part.max((0, 1))
    return [y]


_WINDOWS: list[tuple[str, tuple[int, int, int, int], dict[str, object]]] = [
    ("global", (2, 7, 7, 19), {"global_": True}),
    ("global-large", (1, 14, 15, 130), {"global_": True, "activation_type": ActivationType.RELU6}),
    ("2x2", (1, 8, 6, 16), {"kernel_size": (2, 2), "strides": (2, 2)}),
    ("3x3", (1, 9, 11, 13), {"kernel_size": (3, 3), "strides": (2, 2), "pad": (1, 1, 1, 1)}),
    ("uneven", (2, 9, 8, 5), {"kernel_size": (3, 2), "strides": (1, 3), "pad": (1, 0, 0, 1)}),
    ("same", (1, 7, 8, 9), {"kernel_size": (3, 3), "strides": (2, 2), "pad_mode": PadMode.SAME}),
    ("valid", (1, 7, 8, 9), {"kernel_size": (3, 2), "pad_mode": PadMode.VALID, "activation_type": ActivationType.RELU}),
    ("ceil", (1, 8, 7, 6), {"kernel_size": (3, 3), "strides": (2, 2), "round_mode": RoundMode.CEIL}),
    ("ceil-small", (1, 2, 1, 6), {"kernel_size": (3, 2), "strides": (2, 2), "round_mode": RoundMode.CEIL}),
    (
        "ceil-padded",
        (1, 6, 7, 4),
        {"kernel_size": (3, 2), "strides": (3, 2), "pad": (1, 1, 1, 1), "round_mode": RoundMode.CEIL},
    ),
]
for _label, _image, _attributes in _WINDOWS:
    case(_label, ops.AvgPoolFusion(**_attributes), [normal(*_image)])  # type: ignore[arg-type]
    case(_label, ops.MaxPoolFusion(**_attributes), [normal(*_image)])  # type: ignore[arg-type]

_EXTENDED: list[tuple[str, tuple[int, int, int, int], dict[str, object]]] = [
    ("dilated", (1, 9, 10, 7), {"kernel_size": (3, 2), "strides": (2, 1), "dilation": (2, 3)}),
    ("padded", (1, 8, 7, 6), {"kernel_size": (3, 3), "strides": (2, 2), "pad": (1, 1, 1, 1)}),
    (
        "ceil",
        (1, 6, 8, 5),
        {"kernel_size": (3, 3), "strides": (2, 3), "pad": (1, 1, 1, 1), "round_mode": RoundMode.CEIL},
    ),
]
for _label, _image, _attributes in _EXTENDED:
    case(_label, ops.MaxPoolExtended(**_attributes), [normal(*_image)])  # type: ignore[arg-type]
    for _counts in (False, True):
        _pool = ops.AvgPoolExtended(count_include_pad=_counts, **_attributes)  # type: ignore[arg-type]
        case(f"{_label}-{'with' if _counts else 'without'}-padding", _pool, [normal(*_image)])

_outside: dict[str, object] = {"kernel_size": (2, 3), "strides": (1, 2), "pad": (3, 2, 4, 5)}
case("outside", ops.AvgPoolFusion(**_outside), [normal(1, 3, 4, 9)])  # type: ignore[arg-type]
for _counts in (False, True):
    _pool = ops.AvgPoolExtended(count_include_pad=_counts, dilation=(1, 2), **_outside)  # type: ignore[arg-type]
    case(f"outside-{'with' if _counts else 'without'}-padding", _pool, [normal(1, 3, 2, 9)])

_regions = np.array(
    [[0, 0, 0, 20, 20], [1, 3, 7, 9, 30], [1, 12, 2, 5, 1], [0, -9, -4, 6, 8], [2, 0, 0, 4, 4], [0, 90, 90, 99, 99]]
)
for _scale in (1.0, 0.3):
    case(
        f"scale-{_scale}",
        ops.ROIPooling(pooled_h=3, pooled_w=2, scale=_scale),
        [normal(2, 9, 11, 5), _regions.astype(np.float32)],
    )
