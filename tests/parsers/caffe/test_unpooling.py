"""Masks of maxima, and Upsample with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError

from . import formulas
from .helper import agree, compute, network, random, read


@pytest.mark.parametrize(
    ("kernel", "size", "given"), [(2, (8, 6), "scale: 2"), (2, (9, 7), "upsample_h: 9 upsample_w: 7"), (3, (7, 9), "upsample_h: 7 upsample_w: 9")]
)  # fmt: skip
def test_unpooling_with_the_mask_of_a_pooling(kernel: int, size: tuple[int, int], given: str, tmp_path: Path) -> None:
    x = np.maximum(random(2, 3, *size), 0)  # many equal maxima
    layers = f"""
layer {{ name: "pool" type: "Pooling" bottom: "x" top: "pool" top: "mask"
  pooling_param {{ kernel_size: {kernel} stride: {kernel} }} }}
layer {{ name: "other" type: "Power" bottom: "pool" top: "other" power_param {{ scale: 2 shift: 1 }} }}
layer {{ name: "y" type: "Upsample" bottom: "other" bottom: "mask" top: "y" upsample_param {{ {given} }} }}
"""
    pooled, index = formulas.max_pooling_with_indices(x, kernel)
    got = compute(tmp_path, network(layers, {"x": x}), {}, {"x": x})
    agree(got["y"], formulas.unpooling(2 * pooled + 1, index, *size))


def test_masks_are_for_upsampling_only(tmp_path: Path) -> None:
    x = random(1, 2, 4, 4)
    layer = 'layer { name: "pool" type: "Pooling" bottom: "x" top: "y" top: "mask" pooling_param { kernel_size: 2 stride: 2 } }'
    module = read(tmp_path, network(layer, {"x": x}))
    assert [value.name for value in module.main.outputs] == ["y"]
    assert "mask" in module.notes[0]
    with pytest.raises(ConversionError, match="only Upsample"):
        read(tmp_path, network(layer + 'layer { type: "TanH" bottom: "mask" top: "z" }', {"x": x}))
    with pytest.raises(ConversionError, match="adjacent windows"):
        read(tmp_path, network(layer.replace("stride: 2", "stride: 1"), {"x": x}))
