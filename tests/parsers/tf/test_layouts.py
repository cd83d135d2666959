"""Models in NCHW give the numbers of the same models in NHWC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.tf.protos import GraphDef
from tests.parsers.tf import archive
from tests.parsers.tf.graphs import Builder, parsed, results

FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)
LISTS = ("strides", "dilations", "ksize")
MODELS = ("conv2d_same", "conv2d_explicit", "conv2d_dynamic_batch", "depthwise", "batch_normv3", "batch_norm_training")
MODELS += ("conv2d_transpose_same", "bias_add", "conv3d", "pool3d", "conv3d_transpose")


def _first(rank: int) -> list[int]:
    """The order that moves the channels before the space."""
    return [0, rank - 1, *range(1, rank - 1)]


def channels_first(content: bytes) -> bytes:
    """The model with every image operator, input and size in NCHW."""
    graph = GraphDef()
    graph.ParseFromString(content)
    constants = {node.name: node for node in graph.node if node.op == "Const"}
    for node in graph.node:
        attributes = {entry.key: entry.value for entry in node.attr}
        if node.op == "Placeholder":
            dims = [dim.size for dim in attributes["shape"].shape.dim]
            for dim, axis in zip(attributes["shape"].shape.dim, _first(len(dims)), strict=True):
                dim.size = dims[axis]
        if "data_format" in attributes:
            attributes["data_format"].s = {b"NHWC": b"NCHW", b"NDHWC": b"NCDHW"}[attributes["data_format"].s]
            for name in LISTS:
                if name in attributes:
                    attributes[name].list.i[:] = [
                        attributes[name].list.i[axis] for axis in _first(len(attributes[name].list.i))
                    ]
            if "explicit_paddings" in attributes and attributes["explicit_paddings"].list.i:
                pairs = np.array(attributes["explicit_paddings"].list.i).reshape(4, 2)[list(FIRST)]
                attributes["explicit_paddings"].list.i[:] = pairs.ravel().tolist()
        if node.op in ("Conv2DBackpropInput", "Conv3DBackpropInputV2"):
            tensor = next(e.value.tensor for e in constants[node.input[0]].attr if e.key == "value")
            sizes = np.frombuffer(tensor.tensor_content, np.int32)
            tensor.tensor_content = sizes[_first(sizes.size)].tobytes()
    text: bytes = graph.SerializeToString()
    return text


@pytest.mark.parametrize("name", MODELS)
def test_same_numbers_as_channels_last(name: str, tmp_path: Path) -> None:
    recorded = archive.read(name)
    content = channels_first(recorded.content)
    module = parsed(content)
    assert module.layout is Format.NCHW or name == "bias_add"
    order = _first(recorded.inputs[0].ndim)
    got = results(content, tmp_path, {"x0": recorded.inputs[0].transpose(order)})
    for key, want in recorded.outputs.items():
        np.testing.assert_allclose(got[key], want.transpose(order), 1e-5, 1e-5, err_msg=key)


def _mixed(formats: list[bytes]) -> bytes:
    """Convolutions one after the other, each in its own format, with Transposes where they differ."""
    builder = Builder()
    builder.input("x", 1, 5, 6, 2)
    builder.constant("w", np.random.default_rng(1).standard_normal((3, 3, 2, 2)).astype(np.float32))
    builder.constant("first", np.array(FIRST, np.int32))
    builder.constant("last", np.array(LAST, np.int32))
    value, here = "x", b"NHWC"
    for number, wanted in enumerate(formats):
        if wanted != here:
            builder.node(f"t{number}", "Transpose", value, "first" if wanted == b"NCHW" else "last")
            value, here = f"t{number}", wanted
        builder.node(f"c{number}", "Conv2D", value, "w", strides=[1] * 4, padding=b"SAME", data_format=wanted)
        builder.node(f"r{number}", "Relu", f"c{number}")
        value = f"r{number}"
    if here == b"NCHW":
        builder.node("back", "Transpose", value, "last")
    return builder.content()


@pytest.mark.parametrize("pattern", ["last last last", "last first last", "first first last", "first last first"])
def test_formats_may_differ_within_a_model(pattern: str, tmp_path: Path) -> None:
    words = pattern.split()
    x = np.random.default_rng(2).standard_normal((1, 5, 6, 2)).astype(np.float32)
    (want,) = results(_mixed([b"NHWC"] * 3), tmp_path, {"x": x}).values()
    formats = [b"NCHW" if word == "first" else b"NHWC" for word in words]
    (got,) = results(_mixed(formats), tmp_path, {"x": x}).values()
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)


def test_an_input_keeps_its_layout() -> None:
    module = parsed(channels_first(archive.read("conv2d_same").content))
    assert module.main.inputs[0].shape == (1, 3, 7, 6)


def test_groups_of_a_transposed_convolution(tmp_path: Path) -> None:
    """The result has more channels than the weight makes: one part of them per group."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 4, 5, 6)).astype(np.float32)
    weight = rng.standard_normal((3, 3, 2, 6)).astype(np.float32)

    def transposed(
        channels: int, data: npt.NDArray[np.float32], kernel: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        builder = Builder()
        builder.input("x", *data.shape)
        builder.constant("sizes", np.array([1, 8, 10, channels], np.int32))
        builder.constant("w", kernel)
        builder.node("y", "Conv2DBackpropInput", "sizes", "w", "x", strides=[1, 2, 2, 1], padding=b"SAME")
        return results(builder.content(), tmp_path, {"x": data})["y"]

    parts = [slice(0, 3), slice(3, 6)]
    want = np.concatenate([transposed(2, x[..., part], weight[..., part]) for part in parts], -1)
    np.testing.assert_allclose(transposed(4, x, weight), want, 1e-5, 1e-5)
