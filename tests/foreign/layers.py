"""Convolutions, pooling, normalization and resizing of images, computed with onnxruntime's NCHW operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    NearestMode,
    PadMode,
    ResizeMethod,
    RoundMode,
)
from tests.kernels import random_calls as calls
from tests.kernels import random_images as images
from tests.kernels import random_regions as regions
from tests.kernels.random_calls import Call, Draw, normal, shapes

from .arithmetic import activated
from .assembly import only
from .graph import Array, Graph, defined, run
from .registry import compared


def _first(x: Array) -> Array:
    """Transposes NHWC to NCHW."""
    return np.moveaxis(x, -1, 1)


def _last(graph: Graph, y: str, rank: int) -> str:
    return str(graph("Transpose", y, perm=[0, *range(2, rank), 1]))


def window(op: Any, kernel: Sequence[int]) -> dict[str, Any]:
    """Returns ONNX's attributes of a window."""
    attributes: dict[str, Any] = {"kernel_shape": list(kernel)}
    strides = getattr(op, "stride", None) or getattr(op, "strides", None)
    if strides:
        attributes["strides"] = list(strides)
    if getattr(op, "dilation", None):
        attributes["dilations"] = list(op.dilation)
    pads = getattr(op, "pad_list", None) or getattr(op, "pad", None)
    if op.pad_mode is PadMode.PAD and pads:
        top, bottom, left, right = pads
        attributes["pads"] = [top, left, bottom, right]
    else:
        attributes["auto_pad"] = "SAME_UPPER" if op.pad_mode is PadMode.SAME else "VALID"
    return attributes


def _no_empty_batch(family: st.SearchStrategy[Call], name: str) -> st.SearchStrategy[Call]:
    return only(family, name).filter(lambda call: call.inputs[0].shape[0] > 0)


def _by_hand(op: Any, x: Array, kernel: Sequence[int]) -> list[int] | None:
    """Returns SAME padding [top, left, bottom, right] for dilated windows, which onnxruntime does not support."""
    if op.pad_mode is not PadMode.SAME:
        return None
    before, after = [], []
    for i in range(2):
        span = (kernel[i] - 1) * (op.dilation or (1, 1))[i] + 1
        stride = (op.stride or (1, 1))[i]
        total = max(0, (-(-x.shape[1 + i] // stride) - 1) * stride + span - x.shape[1 + i])
        before.append(total // 2)
        after.append(total - total // 2)
    return [*before, *after]


def _convolved(graph: Graph, op: Any, inputs: Sequence[Array]) -> str:
    x, weight, *bias = inputs
    attributes = window(op, weight.shape[1:3])
    pads = _by_hand(op, x, weight.shape[1:3])
    if pads is not None:
        attributes = {key: value for key, value in attributes.items() if key != "auto_pad"} | {"pads": pads}
    y = graph("Conv", _first(x), _first(weight), *bias[:1], group=op.group, **attributes)
    return _last(graph, y, 4)


@compared("Conv2DFusion", strategy=lambda name: _no_empty_batch(images.convolutions(), name))
def convolution(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    return graph.run(activated(graph, op.activation_type, _convolved(graph, op, inputs)))


@st.composite
def residuals(draw: Draw, name: str) -> Call:
    size, channels, outputs = draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kernel = draw(st.sampled_from((1, 3)))
    kind = draw(st.sampled_from((ActivationType.NO_ACTIVATION, ActivationType.RELU)))
    op = OPERATORS[name](
        kernel_size=(kernel, kernel), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.PAD,
        pad_list=(kernel // 2,) * 4, group=1, activation_type=kind,
    )  # fmt: skip
    shape = (draw(st.integers(1, 2)), size, draw(st.integers(1, 9)))
    weight = normal(draw, (outputs, kernel, kernel, channels), -0.5, 0.5)
    operands = (normal(draw, (*shape, channels)), weight, normal(draw, (outputs,)), normal(draw, (*shape, outputs)))
    return Call(op, operands, (1, 2), 4e-5)


@compared("Conv2DAddFusion", strategy=residuals)
def residual_convolution(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    y = graph("Add", _convolved(graph, op, inputs), inputs[3])
    return graph.run(activated(graph, op.activation_type, y))


@st.composite
def adders(draw: Draw, name: str) -> Call:
    call = draw(_no_empty_batch(images.convolutions(), "Conv2DFusion").filter(lambda call: call.op.group == 1))
    keys = (
        "kernel_size",
        "stride",
        "dilation",
        "pad_mode",
        "pad_list",
        "in_channel",
        "out_channel",
        "activation_type",
        "format",
    )
    return Call(
        OPERATORS[name](group=1, **{key: getattr(call.op, key) for key in keys}), call.inputs, call.constants, 4e-5
    )


@compared("AdderFusion", strategy=adders)
def adder(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Extracts windows by convolutions with one-hot kernels, then sums absolute differences."""
    graph, (x, weight, *bias) = Graph(), inputs
    outputs, height, width, channels = weight.shape
    taps = height * width * channels
    places = np.eye(taps, dtype=np.float32).reshape(taps, height, width, channels)
    patches = _convolved(graph, op, (x, places))
    apart = graph("Sub", graph("Unsqueeze", patches, np.array([3])), weight.reshape(outputs, taps))
    y = graph("Neg", graph("ReduceSum", graph("Abs", apart), np.array([4]), keepdims=0))
    return graph.run(activated(graph, op.activation_type, graph("Add", y, bias[0]) if bias else y))


@compared("Conv2dTransposeFusion", strategy=lambda name: images.transposed_convolutions())
def transposed_convolution(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, weight, bias) = Graph(), inputs
    attributes = window(op, weight.shape[1:3]) | {"output_padding": list(op.output_paddings)}
    y = graph("ConvTranspose", _first(x), _first(weight), bias, group=op.group, **attributes)
    return graph.run(_last(graph, y, 4))


def _floor(family: st.SearchStrategy[Call], name: str) -> st.SearchStrategy[Call]:
    """Excludes rounding up: onnxruntime's average includes elements outside of the padding."""
    return _no_empty_batch(family, name).filter(lambda call: "Max" in name or call.op.round_mode is RoundMode.FLOOR)


@compared("AvgPoolFusion", "MaxPoolFusion", strategy=lambda name: _floor(images.pools(), name))
def pool(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, x = Graph(), _first(inputs[0])
    name = "AveragePool" if op.name.startswith("Avg") else "MaxPool"
    if op.global_:
        return graph.run(_last(graph, graph(f"Global{name}", x), 4))
    attributes = window(op, op.kernel_size) | {"ceil_mode": int(op.round_mode is RoundMode.CEIL)}
    return graph.run(_last(graph, graph(name, x, **attributes), 4))


@st.composite
def dilated_pools(draw: Draw, name: str) -> Call:
    kernel = [draw(st.integers(1, 3)) for _ in range(2)]
    dilation = [draw(st.integers(1, 2)) for _ in range(2)]
    pads = tuple(draw(st.integers(0, (kernel[i // 2] - 1) // 2)) for i in range(4))
    counts = {"count_include_pad": draw(st.booleans())} if name.startswith("Avg") else {}
    op = OPERATORS[name](
        kernel_size=tuple(kernel), strides=(draw(st.integers(1, 3)), draw(st.integers(1, 3))), pad_mode=PadMode.PAD,
        pad=pads, dilation=tuple(dilation), **counts,
    )  # fmt: skip
    size = [(kernel[i] - 1) * dilation[i] + 1 + draw(st.integers(0, 5)) for i in range(2)]
    return Call(op, (normal(draw, (draw(st.integers(1, 2)), *size, draw(st.integers(1, 9)))),))


@compared("AvgPoolExtended", "MaxPoolExtended", strategy=dilated_pools)
def dilated_pool(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, x = Graph(), _first(inputs[0])
    if op.name.startswith("Avg"):
        attributes = window(op, op.kernel_size) | {"count_include_pad": int(op.count_include_pad)}
        return graph.run(_last(graph, graph("AveragePool", x, **attributes), 4))
    return graph.run(_last(graph, graph("MaxPool", x, **window(op, op.kernel_size)), 4))


def _inside(call: Call) -> bool:
    """Excludes regions outside of the image, which onnxruntime does not support."""
    return bool(len(call.inputs[1])) and bool(
        np.all((call.inputs[1][:, 0] >= 0) & (call.inputs[1][:, 0] < len(call.inputs[0])))
    )


@compared("ROIPooling", strategy=lambda name: regions.regions().filter(_inside))
def region_pooling(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph = Graph()
    shape = {"pooled_shape": [op.pooled_h, op.pooled_w], "spatial_scale": op.scale}
    return graph.run(_last(graph, graph("MaxRoiPool", _first(inputs[0]), inputs[1], **shape), 4))


# ---- normalization ----


@compared(
    "FusedBatchNorm",
    "ChannelsLastInstanceNorm",
    "InstanceNorm",
    strategy=lambda name: only(images.image_normalizations(), name),
)
def image_normalization(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, *parameters) = Graph(), inputs
    if op.name == "InstanceNorm":
        return graph.run(graph("InstanceNormalization", x, *parameters, epsilon=op.epsilon))
    name = "BatchNormalization" if op.name == "FusedBatchNorm" else "InstanceNormalization"
    return graph.run(_last(graph, graph(name, _first(x), *parameters, epsilon=op.epsilon), 4))


@st.composite
def channels(draw: Draw, name: str) -> Call:
    count = draw(st.integers(1, 9))
    x = normal(draw, (draw(st.integers(1, 2)), *draw(shapes(1, 2, 1, 6)), count))
    if name == "BatchNorm":
        operands = (x, normal(draw, (count,), 0.1, 0.9), normal(draw, (count,), 0.3, 2))
        return Call(OPERATORS[name](epsilon=1e-3), operands, (1, 2), 3e-5)
    groups = draw(st.integers(1, 4))
    x = normal(draw, (2, groups * count, *draw(shapes(1, 2, 2, 6))))
    affine = draw(st.booleans())
    op = OPERATORS[name](num_groups=groups, epsilon=1e-2, affine=affine)
    return Call(op, (x, *(normal(draw, (groups * count,)) for _ in range(2 * affine))), (1, 2) if affine else (), 3e-5)


@compared("BatchNorm", "GroupNormFusion", strategy=channels)
def by_channels(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, *parameters) = Graph(21), inputs
    if op.name == "BatchNorm":
        ones = np.ones_like(parameters[0])
        y = graph("BatchNormalization", _first(x), ones, 0 * ones, *parameters, epsilon=op.epsilon)
        return graph.run(_last(graph, y, x.ndim))
    wide = parameters or [np.full(x.shape[1], value, np.float32) for value in (1, 0)]
    return graph.run(graph("GroupNormalization", x, *wide, epsilon=op.epsilon, num_groups=op.num_groups))


@compared("LayerNormFusion", "L2NormalizeFusion", "RmsNorm", strategy=lambda name: only(calls.normalizations(), name))
def normalization(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, *parameters) = Graph(23), inputs
    if op.name == "LayerNormFusion":
        return graph.run(graph("LayerNormalization", x, *parameters, axis=op.begin_norm_axis, epsilon=op.epsilon))
    if op.name == "RmsNorm":
        axes = np.arange(op.axis % x.ndim, x.ndim)
        mean = graph("ReduceMean", graph("Mul", x, x), axes)
        y = graph("Div", x, graph("Sqrt", graph("Add", mean, op.epsilon)))
        return graph.run(graph("Mul", y, parameters[0]))
    norm = graph("ReduceSumSquare", x, np.array(op.axis), keepdims=1)
    return graph.run(graph("Div", x, graph("Sqrt", graph("Max", norm, op.epsilon))))


@st.composite
def norms(draw: Draw, name: str) -> Call:
    if name == "LRN":
        op = OPERATORS[name](
            depth_radius=draw(st.integers(0, 4)), bias=1.5, alpha=0.2, beta=draw(st.sampled_from((0.5, 0.75)))
        )
        return Call(op, (normal(draw, draw(shapes(4, 4, 1, 7))),), (), 3e-5)
    x = normal(draw, draw(shapes(1, 4, 1, 5)))
    return Call(OPERATORS[name](axis=draw(st.integers(-x.ndim, x.ndim - 1)), p=draw(st.integers(1, 2))), (x,))


@compared("LRN", "LpNormalization", strategy=norms)
def norm(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    if op.name == "LpNormalization":
        return graph.run(graph("LpNormalization", x, axis=op.axis, p=op.p))
    size = 2 * op.depth_radius + 1
    y = graph("LRN", _first(x), size=size, alpha=op.alpha * size, beta=op.beta, bias=op.bias)
    return graph.run(_last(graph, y, 4))


# ---- resizing ----

_COORDINATES = {
    CoordinateTransformMode.ASYMMETRIC: "asymmetric",
    CoordinateTransformMode.ALIGN_CORNERS: "align_corners",
    CoordinateTransformMode.HALF_PIXEL: "half_pixel",
}
_NEAREST = {NearestMode.FLOOR: "floor", NearestMode.ROUND_HALF_UP: "round_prefer_ceil"}


@compared("Resize", strategy=lambda name: images.resizes())
def resize(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x,) = Graph(), inputs
    sizes = np.array([x.shape[0], x.shape[3], op.new_height, op.new_width])
    linear = op.method is ResizeMethod.LINEAR
    modes = {"mode": "linear" if linear else "nearest"} | (
        {} if linear else {"nearest_mode": _NEAREST[op.nearest_mode]}
    )
    mode = _COORDINATES[op.coordinate_transform_mode]
    y = graph("Resize", _first(x), None, None, sizes, coordinate_transformation_mode=mode, **modes)
    return graph.run(_last(graph, y, 4))


@st.composite
def crops(draw: Draw, name: str) -> Call:
    count, batch = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    x = normal(draw, (batch, draw(st.integers(2, 7)), draw(st.integers(2, 7)), draw(st.integers(1, 4))))
    places = np.array([draw(st.integers(0, batch - 1)) for _ in range(count)], np.int32)
    size = np.array([draw(st.integers(2, 6)) for _ in range(2)], np.int32)
    method = draw(st.sampled_from((ResizeMethod.LINEAR, ResizeMethod.NEAREST)))
    return Call(
        OPERATORS[name](method=method, extrapolation_value=-2.0),
        (x, normal(draw, (count, 4), -0.2, 1.2), places, size),
        (3,),
        1e-4,
    )


@compared("CropAndResize", strategy=crops)
def crop_and_resize(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, boxes, places, size) = Graph(), inputs
    mode = "bilinear" if op.method is ResizeMethod.LINEAR else "nearest"
    attributes = {"domain": "com.microsoft", "mode": mode, "extrapolation_value": op.extrapolation_value}
    y = graph("CropAndResize", _first(x), boxes, places, size, **attributes)
    return graph.run(_last(graph, y, 4))


_WAYS = {
    "coordinate_transformation_mode": tuple(_COORDINATES.values()),
    "nearest_mode": ("floor", "ceil", "round_prefer_floor"),
}


@st.composite
def resampled(draw: Draw, name: str) -> Call:
    x = normal(draw, (1, draw(st.integers(1, 3)), draw(st.integers(2, 6)), draw(st.integers(2, 6))))
    modes = {key: draw(st.sampled_from(values)) for key, values in _WAYS.items()}
    method = draw(st.sampled_from((ResizeMethod.LINEAR, ResizeMethod.NEAREST, ResizeMethod.CUBIC)))
    scales = np.array([1, 1, *(draw(st.sampled_from((0.5, 1.0, 1.5, 2.0, 3.0))) for _ in range(2))], np.float32)
    return Call(OPERATORS[name](method=method, **modes), (x, scales), (1,), 1e-4)


@compared("ResizeND", strategy=resampled)
def resize_any(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    modes = {key: getattr(op, key) for key in _WAYS if key != "nearest_mode" or op.method is ResizeMethod.NEAREST}
    mode = {ResizeMethod.LINEAR: "linear", ResizeMethod.NEAREST: "nearest", ResizeMethod.CUBIC: "cubic"}[op.method]
    x, scales = inputs
    lengths = scales * x.shape
    if op.coordinate_transformation_mode == "align_corners" and not np.array_equal(lengths, np.floor(lengths)):
        # onnxruntime uses the output size, the standard the length that the scale implies.
        return defined("Resize", x, None, scales, mode=mode, **modes)
    return run("Resize", x, None, scales, mode=mode, **modes)


@st.composite
def grids(draw: Draw, name: str) -> Call:
    batch = draw(st.integers(1, 2))
    x = normal(draw, (batch, *(draw(st.integers(2, 6)) for _ in range(3))))
    grid = normal(draw, (batch, draw(st.integers(1, 5)), draw(st.integers(1, 5)), 2), -1.3, 1.3)
    modes = {key: draw(st.integers(0, 2)) for key in ("interpolation_mode", "padding_mode")}
    return Call(OPERATORS[name](align_corners=draw(st.booleans()), **modes), (x, grid), (), 1e-4)


@compared("GridSampler", strategy=grids)
def grid_sample(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    mode = ("linear", "nearest", "cubic")[op.interpolation_mode]
    padding = ("zeros", "border", "reflection")[op.padding_mode]
    return run("GridSample", *inputs, mode=mode, padding_mode=padding, align_corners=int(op.align_corners))
