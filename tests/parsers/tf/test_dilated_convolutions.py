"""Dilated convolutions of sequences of an open length, as TensorFlow writes them: the blocks' borders are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.parsers.tf.graphs import FLOAT, INT32, Builder, parsed, results

KERNEL, CHANNELS, WIDTH = 3, 2, 4
_WEIGHT = np.random.default_rng(0).standard_normal((1, KERNEL, CHANNELS, WIDTH)).astype(np.float32)


def _dilated(rate: int, before: int, after: int) -> bytes:
    """x [n, length, 2] → y; the length grows by `before` + `after`, and to a multiple of `rate`, which the crops remove."""
    builder = Builder()
    builder.input("x", -1, -1, CHANNELS)
    builder.constant("w", _WEIGHT)
    for name, value in (("zero", [0]), ("one", [1]), ("two", [2]), ("rate", [rate]), ("before", [before])):
        builder.constant(name, np.array(value, np.int32))
    for name, number in (("after", after), ("both", before + after), ("axis", 1), ("first", 0)):
        builder.constant(name, np.array([number] if name in ("after", "both") else number, np.int32))
    builder.node("shape", "Shape", "x", T=(FLOAT,), out_type=(INT32,))
    builder.node("length", "StridedSlice", "shape", "one", "two", "one", T=(INT32,), Index=(INT32,))
    builder.node("long", "AddV2", "length", "both", T=(INT32,))
    builder.node("over", "FloorMod", "long", "rate", T=(INT32,))
    builder.node("missing", "Sub", "rate", "over", T=(INT32,))
    builder.node("rest", "FloorMod", "missing", "rate", T=(INT32,))
    builder.node("end", "AddV2", "after", "rest", T=(INT32,))
    for name, start, stop in (("paddings", "before", "end"), ("crops", "zero", "rest")):
        builder.node(f"{name}_of_one", "ConcatV2", start, stop, "first", N=2, T=(INT32,), Tidx=(INT32,))
        builder.node(name, "Pack", f"{name}_of_one", N=1, axis=0, T=(INT32,))
    types = {"T": (FLOAT,), "Tblock_shape": (INT32,)}
    builder.node("blocks", "SpaceToBatchND", "x", "rate", "paddings", Tpaddings=(INT32,), **types)
    builder.node("wide", "ExpandDims", "blocks", "axis", T=(FLOAT,), Tdim=(INT32,))
    builder.node("conv", "Conv2D", "wide", "w", strides=[1, 1, 1, 1], padding=b"VALID", T=(FLOAT,))
    builder.node("narrow", "Squeeze", "conv", squeeze_dims=[1], T=(FLOAT,))
    builder.node("y", "BatchToSpaceND", "narrow", "rate", "crops", Tcrops=(INT32,), **types)
    return builder.content()


def _expected(x: npt.NDArray[np.float32], rate: int, before: int, after: int) -> npt.NDArray[np.float32]:
    wide = np.pad(x, ((0, 0), (before, after), (0, 0)))
    length = wide.shape[1] - (KERNEL - 1) * rate
    taps = [wide[:, tap * rate : tap * rate + length] @ _WEIGHT[0, tap] for tap in range(KERNEL)]
    return np.sum(taps, axis=0, dtype=np.float32)


@pytest.mark.parametrize("fusion", [True, False], ids=["one-convolution", "blocks"])
@pytest.mark.parametrize("length", [9, 10, 11])
@pytest.mark.parametrize(
    ("rate", "before", "after"), [(2, 4, 0), (3, 3, 3), (4, 0, 0)], ids=["causal", "same", "valid"]
)
def test_open_length(rate: int, before: int, after: int, length: int, fusion: bool, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((2, length, CHANNELS)).astype(np.float32)
    got = results(_dilated(rate, before, after), tmp_path, {"x": x}, fusion=fusion)["y"]
    np.testing.assert_allclose(got, _expected(x, rate, before, after), 1e-5, 1e-5)


def test_computed_borders_stay_operands() -> None:
    nodes = {node.op.name: node for node in parsed(_dilated(2, 4, 0)).main.nodes}
    assert [len(nodes[name].inputs) for name in ("SpaceToBatchND", "BatchToSpaceND")] == [3, 3]
