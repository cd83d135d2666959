"""Patterns that exporters write around single operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.parsers.onnx import parse

from .helper import check, make_model, node, operators

RANDOM = np.random.default_rng(21)


def floats(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_rank_follows_from_a_computed_target_shape(tmp_path: Path) -> None:
    """Softmax of opset 11 needs the rank of a tensor that was reshaped to sizes of the input."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "first"], ["batch"]),
        node("Unsqueeze", ["batch"], ["batch1"], axes=[0]),
        node("Mul", ["batch1", "one"], ["batch2"]),
        node("Concat", ["batch2", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["heads"]),
        node("Transpose", ["heads"], ["moved"], perm=[0, 2, 1, 3]),
        node("Softmax", ["moved"], ["y"], axis=3),
    ]
    constants = {"first": np.array(0), "one": np.array([1]), "rest": np.array([-1, 2, 4])}
    x = floats(2, 5, 8)
    check(make_model(nodes, {"x": x}, ["y"], constants, 11, {"x": ["n", "t", 8]}), {"x": x}, tmp_path)


def test_rank_follows_from_expand(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Concat", ["two", "shape"], ["target"], axis=0),
        node("Expand", ["x", "target"], ["wide"]),
        node("LogSoftmax", ["wide"], ["y"], axis=2),
    ]
    x = floats(3, 4)
    check(make_model(nodes, {"x": x}, ["y"], {"two": np.array([2])}, 11, {"x": ["n", 4]}), {"x": x}, tmp_path)


def test_batch_norm_by_the_statistics_of_the_batch(tmp_path: Path) -> None:
    """Weight standardization: training mode over the weights, seen as one image with a channel per filter."""
    nodes = [
        node(
            "BatchNormalization", ["x", "scale", "bias", "mean", "var"], ["y", "m", "v"], training_mode=1, epsilon=1e-3
        )
    ]
    constants = {"scale": floats(5), "bias": floats(5), "mean": floats(5), "var": np.abs(floats(5))}
    x = floats(1, 5, 27)
    check(make_model(nodes, {"x": x}, ["y"], constants, 17), {"x": x}, tmp_path)


def test_padding_as_tensorflow_does_it_is_a_constant(tmp_path: Path) -> None:
    """Traced code: the padding before a convolution is computed in float32 from the size of its input."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        node("Shape", ["c"], ["shape"]),
        node("Gather", ["shape", "height"], ["size"]),
        node("Cast", ["size"], ["real"], to=1),
        node("Div", ["real", "stride"], ["cells"]),
        node("Ceil", ["cells"], ["outputs"]),
        node("Mul", ["outputs", "stride"], ["covered"]),
        node("Sub", ["covered", "real"], ["missing"]),
        node("Clip", ["missing", "zero", ""], ["end"]),
        node("Cast", ["end"], ["whole"], to=7),
        node("Reshape", ["whole", "vector"], ["row"]),
        node("Concat", ["zeros", "row", "row"], ["pads"], axis=0),
        node("Pad", ["c", "pads"], ["padded"]),
        node("Conv", ["padded", "v"], ["y"], strides=[2, 2]),
    ]
    constants = {
        "w": floats(4, 3, 3, 3), "v": floats(5, 4, 2, 2), "height": np.array(2), "vector": np.array([1]),
        "stride": np.float32(2), "zero": np.float32(0), "zeros": np.zeros(6, np.int64),
    }  # fmt: skip
    x = floats(1, 3, 7, 7)
    model = make_model(nodes, {"x": x}, ["y"], constants, 13)
    check(model, {"x": x}, tmp_path)
    assert operators(parse(model)).count("Shape") == 0
