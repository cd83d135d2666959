"""Layers of region-based detectors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError

from .helper import Array, check_layer, one, opencv, random, run_layer

REGIONS = np.array(
    [[0, 0, 0, 160, 140], [0, 17, 33, 60, 70], [0, 100, 20, 99, 150], [0, 150, 130, 400, 300]], np.float32
)


def pooled(x: Array, rois: Array, scale: float, outputs: int, group: int) -> Array:
    """The loops of R-FCN's layer."""
    y = np.zeros((len(rois), outputs, group, group), np.float32)

    def span(start: float, end: float, index: int, size: int) -> slice:
        low = math.floor(end * index + start)
        return slice(min(max(low, 0), size), min(max(math.ceil(end * (index + 1) + start), 0), size))

    for row, (_, x1, y1, x2, y2) in enumerate(rois.tolist()):
        left, top = (math.floor(edge + 0.5) * scale for edge in (x1, y1))
        right, bottom = ((math.floor(edge + 0.5) + 1) * scale for edge in (x2, y2))
        high, wide = max(bottom - top, 0.1) / group, max(right - left, 0.1) / group
        for c, i, j in np.ndindex(outputs, group, group):
            plane = x[0, (c * group + i) * group + j]
            part = plane[span(top, high, i, x.shape[2]), span(left, wide, j, x.shape[3])]
            y[row, c, i, j] = part.mean() if part.size else 0
    return y


@pytest.mark.parametrize(("outputs", "group"), [(3, 2), (1, 3), (2, 1)])
@pytest.mark.parametrize("scale", [0.0625, 0.1])
def test_position_sensitive_pooling(outputs: int, group: int, scale: float, tmp_path: Path) -> None:
    x = random(1, outputs * group * group, 9, 11)
    parameters = f"psroi_pooling_param {{ spatial_scale: {scale} output_dim: {outputs} group_size: {group} }}"
    check_layer(tmp_path, pooled(x, REGIONS, scale, outputs, group), "PSROIPooling", [x, REGIONS], parameters)


def test_position_sensitive_pooling_as_opencv(tmp_path: Path) -> None:
    x = random(1, 12, 9, 11)
    parameters = "psroi_pooling_param { spatial_scale: 0.0625 output_dim: 3 group_size: 2 }"
    named = {"x0": x, "x1": REGIONS}
    (want,) = opencv(one("PSROIPooling", named, parameters, ["y0"]), {}, named, ["y0"])
    (got,) = run_layer(tmp_path, "PSROIPooling", [x, REGIONS], parameters)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_channels_that_do_not_fit(tmp_path: Path) -> None:
    parameters = "psroi_pooling_param { spatial_scale: 0.0625 output_dim: 3 group_size: 3 }"
    with pytest.raises(ConversionError, match="12 channels are not 3 for each of 3 x 3 bins"):
        run_layer(tmp_path, "PSROIPooling", [random(1, 12, 9, 11), REGIONS], parameters)
