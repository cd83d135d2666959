"""Random calls of the operators of Caffe's detectors."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import detection, pooling

from .random_calls import Call, Draw, normal


@st.composite
def regions(draw: Draw) -> Call:
    """ROIPooling with regions inside, across and outside of the image, and with exchanged corners."""
    batch, height, width, channels = (draw(st.integers(1, high)) for high in (3, 12, 12, 7))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    count = draw(st.integers(0, 6))
    rows = np.concatenate([generator.integers(-1, batch + 1, (count, 1)), generator.uniform(-6, 18, (count, 4))], 1)
    op = pooling.ROIPooling(
        pooled_h=draw(st.integers(1, 5)),
        pooled_w=draw(st.integers(1, 5)),
        scale=draw(st.sampled_from((1.0, 0.5, 0.0625))),
    )
    return Call(op, (normal(draw, (batch, height, width, channels)), rows.astype(np.float32)))


@st.composite
def priors(draw: Draw) -> Call:
    """PriorBox with one to three sizes."""
    count = draw(st.integers(1, 3))
    small = sorted(draw(st.lists(st.integers(1, 60), min_size=count, max_size=count)))
    given = draw(st.booleans())
    op = detection.PriorBox(
        min_sizes=tuple(small),
        max_sizes=tuple(size + 7 for size in small) if draw(st.booleans()) else (),
        aspect_ratios=draw(st.sampled_from(((), (1.0,), (2.0,), (2.0, 0.5), (1.0, 3.0)))),
        variances=draw(st.sampled_from(((0.1,), (0.1, 0.1, 0.2, 0.2)))),
        image_size_h=64 if given else 0,
        image_size_w=80 if given else 0,
        step_h=8.0 if given else 0.0,
        step_w=16.0 if given else 0.0,
        clip=draw(st.booleans()),
        flip=draw(st.booleans()),
        offset=draw(st.sampled_from((0.0, 0.5))),
    )
    cells = normal(draw, (1, draw(st.integers(1, 6)), draw(st.integers(1, 6)), 2))
    return Call(op, (cells, normal(draw, (1, 40, 50, 3))))


@st.composite
def detector_outputs(draw: Draw) -> Call:
    """DetectionOutput with scores that all differ."""
    images, count, classes = draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    corner = generator.uniform(0, 1, (count, 2))
    boxes = np.concatenate([corner, corner + generator.uniform(0.05, 0.6, (count, 2))], 1)
    encoded, shared = draw(st.booleans()), draw(st.booleans())
    rows = (
        [boxes.ravel()] if encoded and draw(st.booleans()) else [boxes.ravel(), generator.uniform(0.1, 0.3, count * 4)]
    )
    locations = generator.standard_normal((images, count * (1 if shared else classes) * 4)) * 0.4
    scores = generator.permutation(images * count * classes).reshape(images, -1) / (images * count * classes)
    op = detection.DetectionOutput(
        num_classes=classes,
        share_location=shared,
        background_label=draw(st.integers(-1, 1)),
        code_type=draw(st.integers(1, 3)),
        variance_encoded_in_target=encoded,
        nms_threshold=draw(st.sampled_from((0.2, 0.45, 0.8))),
        nms_top_k=draw(st.integers(-1, 8)),
        nms_eta=draw(st.sampled_from((1.0, 0.8))),
        keep_top_k=draw(st.integers(-1, 9)),
        confidence_threshold=draw(st.sampled_from((-1.0, 0.3141, 2.0))),
    )
    inputs = (locations.astype(np.float32), scores.astype(np.float32), np.stack(rows)[None].astype(np.float32))
    return Call(op, inputs, (), 1e-4)
