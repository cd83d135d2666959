"""NCHW window operators, computed with onnxruntime's; soft NMS, computed with LiteRT's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from tests.kernels.random_calls import Call, Draw, normal

from .graph import Array, run
from .litert import run_litert
from .registry import compared


def _pair(draw: Draw, low: int, high: int) -> tuple[int, int]:
    return draw(st.integers(low, high)), draw(st.integers(low, high))


def _windows(
    draw: Draw, kernel: tuple[int, int], image: tuple[int, int]
) -> tuple[dict[str, tuple[int, ...]], list[int]]:
    """Attributes of windows, at least one of which fits, and the number of windows."""
    strides, dilations, pads = _pair(draw, 1, 2), _pair(draw, 1, 2), (*_pair(draw, 0, 1), *_pair(draw, 0, 1))
    spans = [image[i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1 for i in range(2)]
    return {"strides": strides, "dilations": dilations, "pads": pads}, [spans[i] // strides[i] + 1 for i in range(2)]


@st.composite
def blocks(draw: Draw, name: str) -> Call:
    block, image = _pair(draw, 1, 3), _pair(draw, 5, 9)
    attributes, counts = _windows(draw, block, image)
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)) * block[0] * block[1], counts[0] * counts[1])
    return Call(OPERATORS[name](**attributes), (normal(draw, shape), np.array(image), np.array(block)), (1, 2))


@compared("Col2Im", strategy=blocks)
def col2im(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("Col2Im", *inputs, strides=op.strides, dilations=op.dilations, pads=op.pads)


@st.composite
def deformed(draw: Draw, name: str) -> Call:
    kernel, image, group = _pair(draw, 1, 3), _pair(draw, 5, 7), draw(st.integers(1, 2))
    attributes, counts = _windows(draw, kernel, image)
    channels, outputs, offsets = 2 * group, group * draw(st.integers(1, 3)), draw(st.integers(1, 2))
    batch, taps = draw(st.integers(1, 2)), kernel[0] * kernel[1]
    operands = [normal(draw, (batch, channels, *image)), normal(draw, (outputs, channels // group, *kernel), -0.5, 0.5)]
    operands.append(normal(draw, (batch, 2 * offsets * taps, *counts)))
    if draw(st.booleans()):
        operands += [normal(draw, (outputs,)), normal(draw, (batch, offsets * taps, *counts), 0, 1)]
    return Call(OPERATORS[name](group=group, offset_group=offsets, **attributes), tuple(operands), (), 4e-5)


@compared("DeformConv", strategy=deformed)
def deform_conv(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    windows = {key: getattr(op, key) for key in ("strides", "dilations", "pads", "group", "offset_group")}
    return run("DeformConv", *inputs, kernel_shape=inputs[1].shape[2:], **windows)


@st.composite
def pools(draw: Draw, name: str) -> Call:
    kernel, image = (draw(st.integers(2, 3)), draw(st.integers(2, 3))), _pair(draw, 5, 8)
    attributes, _ = _windows(draw, kernel, image)
    op = OPERATORS[name](kernel_size=kernel, column_major=draw(st.booleans()), **attributes)
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *image)
    values = np.random.default_rng(draw(st.integers(0, 99))).permutation(int(np.prod(shape)))  # unique values
    return Call(op, (values.reshape(shape).astype(np.float32),))


@compared("MaxPoolWithIndices", strategy=pools)
def max_pool(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    windows = {"kernel_shape": op.kernel_size, "strides": op.strides, "dilations": op.dilations, "pads": op.pads}
    return run("MaxPool", inputs[0], outputs=2, storage_order=int(op.column_major), **windows)


@st.composite
def candidates(draw: Draw, name: str) -> Call:
    count = draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    corner = generator.uniform(0, 1, (count, 2))
    boxes = np.concatenate([corner, corner + generator.uniform(0.05, 0.6, (count, 2))], 1).astype(np.float32)
    scores = (generator.permutation(count) + 1) / count
    numbers = [draw(st.sampled_from(values)) for values in ((0.3, 0.6), (0.0, 0.35), (0.0, 0.5))]
    operands = [scores.astype(np.float32), np.array([draw(st.integers(1, count))], np.int32)]
    return Call(
        OPERATORS[name](hard_limit=True), (boxes, *operands, *(np.array([each], np.float32) for each in numbers))
    )


@compared("SoftNonMaxSuppression", strategy=candidates)
def soft_suppression(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    boxes, scores, *numbers = inputs
    operands = [boxes, scores, *(number.reshape(()) for number in numbers)]
    kinds = ("int32", "float32", "int32")
    indices, kept, count = run_litert("NON_MAX_SUPPRESSION_V5", operands, kinds, constant=(2, 3, 4, 5))
    return [indices[: int(count)], kept[: int(count)]]
