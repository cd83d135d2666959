"""Layers of region-based detectors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError

from .helper import Array, check_layer, compute, network, one, opencv, random, run_layer

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


def proposed(scores: Array, codes: Array, info: Array, ratios: list[float], scales: list[float], most: int) -> Array:
    """The rows of the proposal layer, box by box; a base of 16, a stride of 8, at least 4 pixels, overlaps up to 0.6."""
    anchors = []
    for ratio in ratios:
        width = round(math.sqrt(256 / ratio))
        for scale in scales:
            anchors.append((width * scale, round(width * ratio) * scale))
    found = []
    for i, j, a in np.ndindex(*scores.shape[2:], len(anchors)):
        (width, height), code = anchors[a], codes[0, 4 * a : 4 * a + 4, i, j].astype(float)
        # The anchor's corners are whole pixels: its middle is half a pixel behind that of the base.
        x, y = 8 * j + 7.5 + 0.5 + code[0] * width, 8 * i + 7.5 + 0.5 + code[1] * height
        half = math.exp(code[2]) * width / 2, math.exp(code[3]) * height / 2
        box = np.array([x - half[0], y - half[1], x + half[0], y + half[1]])
        box = np.clip(box, 0, [info[0, 1] - 1, info[0, 0] - 1] * 2)
        if min(box[2] - box[0], box[3] - box[1]) + 1 >= 4 * info[0, 2]:
            found.append((float(scores[0, len(anchors) + a, i, j]), box))
    found.sort(key=lambda entry: -entry[0])
    kept: list[Array] = []
    for _, box in found[:50]:
        overlaps = []
        for other in kept:
            common = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2]) + 1
            inner = float(np.prod(common.clip(0)))
            areas = sum(float(np.prod(each[2:] - each[:2] + 1)) for each in (box, other))
            overlaps.append(inner / (areas - inner))
        if len(kept) < most and all(overlap <= 0.6 for overlap in overlaps):
            kept.append(box)
    return np.array([[0, *box] for box in kept], np.float32)


PROPOSAL = (
    "proposal_param { feat_stride: 8 base_size: 16 min_size: 4 ratio: 0.5 ratio: 1 ratio: 2 scale: 0.5 scale: 1.5 "
    "pre_nms_topn: 50 post_nms_topn: %d nms_thresh: 0.6 }"
)


def _scores(cells: tuple[int, int]) -> list[Array]:
    """Scores that all differ, codes, and an image that the anchors at its border stand out of."""
    chance = np.random.default_rng(8)
    count = 12 * cells[0] * cells[1]
    scores = ((chance.permutation(count) + 1) / count).reshape(1, 12, *cells).astype(np.float32)
    codes = (chance.standard_normal((1, 24, *cells)) * 0.3).astype(np.float32)
    return [scores, codes, np.array([[8 * cells[0], 8 * cells[1], 1.5]], np.float32)]


@pytest.mark.parametrize("most", [5, 60])
def test_proposals(most: int, tmp_path: Path) -> None:
    inputs = _scores((5, 7))
    want = proposed(*inputs, [0.5, 1, 2], [0.5, 1.5], most)
    assert (len(want) < most) == (most == 60)
    (got,) = run_layer(tmp_path, "Proposal", inputs, PROPOSAL % most)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-4)


def test_proposals_that_are_pooled(tmp_path: Path) -> None:
    """The layers behind follow the number of proposals, which is smaller than the most."""
    inputs = dict(zip(("scores", "codes", "info", "x"), [*_scores((5, 7)), random(1, 4, 5, 7)], strict=True))
    text = network(
        'layer { name: "rois" type: "Proposal" bottom: "scores" bottom: "codes" bottom: "info" top: "rois" %s }'
        'layer { name: "p" type: "ROIPooling" bottom: "x" bottom: "rois" top: "p"'
        " roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.125 } }"
        'layer { name: "y" type: "InnerProduct" bottom: "p" top: "y" inner_product_param { num_output: 3 } }'
        % (PROPOSAL % 60),
        inputs,
    )
    weights = [random(3, 16), random(3)]
    got = compute(tmp_path, text, {"y": weights}, inputs)["y"]
    rois = proposed(*_scores((5, 7)), [0.5, 1, 2], [0.5, 1.5], 60)
    parameters = "roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.125 }"
    (pools,) = run_layer(tmp_path, "ROIPooling", [inputs["x"], rois], parameters)
    np.testing.assert_allclose(got, pools.reshape(len(rois), -1) @ weights[0].T + weights[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("most", [5, 30])
def test_proposals_as_opencv(most: int, tmp_path: Path) -> None:
    """Which knows no least size, and gives the scores too."""
    inputs = _scores((4, 6))
    named = {f"x{index}": array for index, array in enumerate(inputs)}
    parameters = (PROPOSAL % most).replace("min_size: 4", "min_size: 0")
    rows, scores = opencv(one("Proposal", named, parameters, ["y0", "y1"]), {}, named, ["y0"])
    got = run_layer(tmp_path, "Proposal", inputs, parameters, tops=2)
    np.testing.assert_allclose(got[0], rows, rtol=1e-5, atol=2e-4)
    np.testing.assert_allclose(got[1], scores, rtol=1e-6)
