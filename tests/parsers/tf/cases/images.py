"""Resizing and detection."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .registry import case, raw, rng

for method in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
    for mode, flags in (("plain", {}), ("corners", {"align_corners": True}), ("centers", {"half_pixel_centers": True})):

        def resized(x: Any, method: str = method, flags: Any = flags) -> Any:
            operator = getattr(raw, method)
            return operator(images=x, size=[9, 4], **flags), operator(images=x, size=[3, 13], **flags)

        case(f"{method[6:].lower()}_{mode}", (1, 5, 6, 2))(resized)
case("resize_computed", (1, 4, 5, 2), shapes=[(None, None, None, 2)])(
    lambda x: raw.ResizeBilinear(images=x, size=tf.shape(x)[1:3] * 2, half_pixel_centers=True)
)
BOXES = np.array([[0.1, 0.1, 0.8, 0.7], [0.5, 0.2, 0.9, 1.1], [0.0, 0.0, 1.0, 1.0]], np.float32)
case("crop_and_resize", (2, 6, 7, 3), BOXES)(
    lambda x, b: (
        tf.image.crop_and_resize(x, b, [0, 1, 0], [4, 3]),
        tf.image.crop_and_resize(x, b, [0, 1, 0], [3, 5], method="nearest", extrapolation_value=0.5),
    )
)
MANY = np.sort(rng("boxes").random((12, 2, 2)).astype(np.float32), 1).reshape(12, 4)
SCORES = rng("scores").random(12).astype(np.float32)
case("suppression", MANY, SCORES)(
    lambda b, s: (
        tf.image.non_max_suppression(b, s, 5, 0.3),
        raw.NonMaxSuppressionV2(boxes=b, scores=s, max_output_size=4, iou_threshold=0.4),
        raw.NonMaxSuppressionV3(boxes=b, scores=s, max_output_size=9, iou_threshold=0.4, score_threshold=0.3),
    )
)
case("suppression_padded", MANY, SCORES)(
    lambda b, s: tuple(
        raw.NonMaxSuppressionV4(
            boxes=b, scores=s, max_output_size=10, iou_threshold=0.3, score_threshold=0.4, pad_to_max_output_size=True
        )
    )
)
case("suppression_scores", MANY, SCORES)(
    lambda b, s: tuple(
        raw.NonMaxSuppressionV5(
            boxes=b, scores=s, max_output_size=10, iou_threshold=0.3, score_threshold=0.4, soft_nms_sigma=0.0
        )
    )
)
PICTURES = rng("pictures").random((2, 5, 4, 3)).astype(np.float32)
PICTURES[0, 0] = [[0.5, 0.5, 0.5], [0.7, 0.7, 0.2], [0.7, 0.2, 0.7], [0.0, 0.0, 0.0]]
OPEN = [(None, None, None, 3)]
case("hsv", PICTURES, shapes=OPEN)(lambda x: (tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x)))
case("adjust_hue", PICTURES, shapes=OPEN)(
    lambda x: (
        tf.image.adjust_hue(x, 0.3),
        tf.image.adjust_hue(x - 0.5, -0.45),
        raw.AdjustHue(images=x, delta=x[1, 1, 1, 1]),
    )
)
case("adjust_saturation", PICTURES, shapes=OPEN)(
    lambda x: (tf.image.adjust_saturation(x, 1.8), tf.image.adjust_saturation(x - 0.5, 0.4))
)
for corners in (False, True):

    def by_area(x: Any, corners: bool = corners) -> Any:
        return tuple(raw.ResizeArea(images=x, size=size, align_corners=corners) for size in ([2, 3], [7, 1], [12, 9]))

    case(f"resize_area_{'corners' if corners else 'plain'}", (2, 5, 6, 2), shapes=[(None, 5, 6, 2)])(by_area)
for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):

    def moved(x: Any, kernel: str = kernel) -> Any:
        return tuple(
            raw.ScaleAndTranslate(
                images=x, size=[4, 9], scale=[0.7, 1.4], translation=[0.4, -1.2], kernel_type=kernel, antialias=smooth
            )
            for smooth in (False, True)
        )

    case(f"scaled_{kernel}", (2, 7, 6, 2), shapes=[(None, 7, 6, 2)])(moved)
case("resize_antialias", (1, 9, 8, 2), shapes=[(None, 9, 8, 2)])(
    lambda x: (tf.image.resize(x, [4, 12], antialias=True), tf.image.resize(x, [3, 3], "bicubic", antialias=True))
)
case("patches_of_open_batch", (2, 6, 5, 2), shapes=[(None, 6, 5, 2)])(
    lambda x: tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
)
