"""Pools over many combinations of size, window, stride, padding and dilation, windows larger than the input among them, against
onnxruntime. Each test converts one model of many pools."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from mslite import onnx_backend

ort = pytest.importorskip("onnxruntime")

COUNT = 60


def windows(size: int, kernel: int, stride: int, before: int, after: int, dilation: int, ceil: int) -> int:
    """As the standard counts them."""
    room = size + before + after - (kernel - 1) * dilation - 1
    count = (-(-room // stride) if ceil else room // stride) + 1
    return min(count, -(-(size + before) // stride)) if ceil else count


def axes(draw: random.Random, rank: int, ceil: int) -> Iterator[tuple[int, ...]]:
    while rank:
        kernel, before, after = draw.choice((1, 2, 3, 4)), draw.choice((0, 0, 1, 2)), draw.choice((0, 0, 1, 2))
        axis = (draw.choice((1, 2, 3, 4, 7)), kernel, draw.choice((1, 2, 3, 5)), before, after, draw.choice((1, 1, 2)))
        if max(before, after) < kernel and windows(*axis, ceil) >= 1:
            rank -= 1
            yield axis


def pools(op: str, rank: int, is_open: bool, seed: int) -> tuple[ModelProto, dict[str, Any], list[str]]:
    """A model, what it is run on, and what each of its outputs is."""
    draw, values = random.Random(seed), np.random.default_rng(seed)
    nodes, inputs, feeds, texts = [], [], {}, []
    while len(nodes) < COUNT:
        ceil = draw.choice((0, 1, 1))
        size, kernel, stride, before, after, dilation = zip(*axes(draw, rank, ceil), strict=True)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        if op == "LpPool" and is_open and ceil and any(a + s > r for a, s, r in zip(after, stride, reach, strict=True)):
            continue  # whose padding depends on the size
        if size == (1, 1):
            continue  # its layouts are changed by Reshape, which MindSpore Lite takes for something else
        more = {"AveragePool": {"count_include_pad": draw.choice((0, 1))}, "LpPool": {"p": draw.choice((1, 2, 3))}}
        attributes = {"kernel_shape": kernel, "strides": stride, "pads": (*before, *after), "dilations": dilation}
        attributes |= {"ceil_mode": ceil, **more.get(op, {})}
        name = f"x{len(nodes)}"
        texts.append(f"{size} {attributes}")
        nodes.append(helper.make_node(op, [name], [f"y{len(nodes)}"], **attributes))
        dims = [f"{name}_{axis}" if is_open else extent for axis, extent in enumerate(size)]
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, *dims]))
        feeds[name] = values.standard_normal((1, 2, *size)).astype(np.float32)
    results = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [None] * (rank + 2)) for node in nodes]
    graph = helper.make_graph(nodes, "pools", inputs, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), feeds, texts


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_pools_beside_onnxruntime(op: str, rank: int, is_open: bool) -> None:
    if is_open and rank == 3:
        pytest.skip("3-D windows need fixed sizes")
    model, feeds, texts = pools(op, rank, is_open, rank)
    kernels = [next(one.ints[-1] for one in node.attribute if one.name == "kernel_shape") for node in model.graph.node]
    assert any(x.shape[-1] < kernel for x, kernel in zip(feeds.values(), kernels, strict=True))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    wanted = ort.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    for want, got, text in zip(wanted, onnx_backend.prepare(model).run(feeds), texts, strict=True):
        assert got.shape == want.shape, text
        # The maximum of nothing is the lowest number there, and minus infinity here and in PyTorch.
        want = np.where(want == np.finfo(np.float32).min, -np.inf, want)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=text)


def test_norms_whose_padding_depends_on_an_open_size_are_refused() -> None:
    node = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[2], strides=[3], ceil_mode=1)
    graph = helper.make_graph(
        [node],
        "pool",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, "n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, None])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    with pytest.raises(Exception, match="ceil_mode depends on an input size that is dynamic"):
        onnx_backend.prepare(model)
