"""Layers against OpenCV's reader of Caffe models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from .helper import Array, agree, compute, network, one, opencv, positive, random

IMAGE = (2, 6, 9, 11)


def check(
    folder: Path, kind: str, inputs: Sequence[Array], parameters: str, blobs: Sequence[Array] = (), tops: int = 1
) -> None:
    """One layer, all of its tops."""
    named = {f"x{index}": array for index, array in enumerate(inputs)}
    outputs = [f"y{index}" for index in range(tops)]
    text, weights = one(kind, named, parameters, outputs), {"y0": blobs} if blobs else {}
    got = compute(folder, text, weights, named)
    assert sorted(got) == outputs
    for name, wanted in zip(outputs, opencv(text, weights, named, outputs[:1])[:tops], strict=True):
        agree(got[name], wanted)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("AbsVal", ""),
        ("BNLL", ""),
        ("ELU", "elu_param { alpha: 0.7 }"),
        ("Exp", ""),
        ("Power", "power_param { power: 2 scale: 0.5 shift: 1.5 }"),
        ("Power", "power_param { scale: -2 shift: 0.25 }"),
        ("ReLU", ""),
        ("ReLU", "relu_param { negative_slope: 0.1 }"),
        ("ReLU6", ""),
        ("Sigmoid", ""),
        ("Softmax", ""),
        ("Softmax", "softmax_param { axis: -1 }"),
        ("TanH", ""),
        ("LRN", "lrn_param { local_size: 3 alpha: 0.4 beta: 0.6 }"),
        ("MVN", ""),
        ("MVN", "mvn_param { across_channels: true normalize_variance: false }"),
        ("Flatten", ""),
        ("Flatten", "flatten_param { axis: 2 }"),
        ("Flatten", "flatten_param { axis: 1 end_axis: 2 }"),
        ("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 11 } }"),
        ("Reshape", "reshape_param { shape { dim: 3 dim: 2 } axis: 1 num_axes: 1 }"),
        ("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"),
        ("Permute", "permute_param { order: 2 order: 0 order: 1 order: 3 }"),
        ("ShuffleChannel", "shuffle_channel_param { group: 3 }"),
        ("Interp", "interp_param { height: 17 width: 5 }"),
        ("Interp", "interp_param { zoom_factor: 2 }"),
    ],
)
def test_function(kind: str, parameters: str, tmp_path: Path) -> None:
    check(tmp_path, kind, [random(*IMAGE)], parameters)


@pytest.mark.parametrize("global_pooling", [False, True])
@pytest.mark.parametrize("pool", ["MAX", "AVE"])
@pytest.mark.parametrize(
    "window",
    [
        "kernel_size: 2 stride: 2",
        "kernel_size: 3 stride: 2",
        "kernel_size: 3 stride: 2 pad: 1",
        "kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0",
        "kernel_size: 3 stride: 3 pad: 2",
    ],
)
def test_pooling(window: str, pool: str, global_pooling: bool, tmp_path: Path) -> None:
    extent = "global_pooling: true" if global_pooling else window
    check(tmp_path, "Pooling", [random(*IMAGE)], f"pooling_param {{ pool: {pool} {extent} }}")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("parameters", "group", "kernel"),
    [
        ("kernel_size: 3", 1, (3, 3)),
        ("kernel_size: 3 pad: 1 stride: 2", 1, (3, 3)),
        ("kernel_h: 1 kernel_w: 5 pad_h: 0 pad_w: 2 stride_h: 2 stride_w: 1", 2, (1, 5)),
        ("kernel_size: 3 dilation: 2 pad: 2", 3, (3, 3)),
        ("kernel_size: 3 pad: 1", 6, (3, 3)),
        ("kernel_size: 1", 1, (1, 1)),
    ],
)
def test_convolution(parameters: str, group: int, kernel: tuple[int, int], bias: bool, tmp_path: Path) -> None:
    blobs = [random(12, 6 // group, *kernel, seed=1), random(12, seed=2)][: 2 if bias else 1]
    text = f"convolution_param {{ num_output: 12 {parameters} group: {group} bias_term: {str(bias).lower()} }}"
    check(tmp_path, "Convolution", [random(*IMAGE)], text, blobs)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("parameters", ["kernel_size: 3", "kernel_size: 4 stride: 2 pad: 1"])
def test_deconvolution(parameters: str, group: int, tmp_path: Path) -> None:
    size = int(parameters.split()[1])
    blobs = [random(6, 4 // group, size, size, seed=1), random(4, seed=2)]
    text = f"convolution_param {{ num_output: 4 {parameters} group: {group} }}"
    check(tmp_path, "Deconvolution", [random(*IMAGE)], text, blobs)


def test_inner_product(tmp_path: Path) -> None:
    blobs = [random(5, 6 * 99, seed=1), random(5, seed=2)]
    check(tmp_path, "InnerProduct", [random(*IMAGE)], "inner_product_param { num_output: 5 }", blobs)


@pytest.mark.parametrize("shared", [True, False])
def test_prelu(shared: bool, tmp_path: Path) -> None:
    blobs = [random(1 if shared else 6, seed=1)]
    check(tmp_path, "PReLU", [random(*IMAGE)], f"prelu_param {{ channel_shared: {str(shared).lower()} }}", blobs)


def test_batch_norm(tmp_path: Path) -> None:
    blobs = [random(6, seed=1), positive(6, seed=2), np.array([3.5], np.float32)]
    check(tmp_path, "BatchNorm", [random(*IMAGE)], "batch_norm_param { eps: 0.01 }", blobs)


def test_scale(tmp_path: Path) -> None:
    blobs = [random(6, seed=1), random(6, seed=2)]
    check(tmp_path, "Scale", [random(*IMAGE)], "scale_param { bias_term: true }", blobs)


@pytest.mark.parametrize("parameters", ["across_spatial: false channel_shared: false", "channel_shared: true"])
def test_normalize(parameters: str, tmp_path: Path) -> None:
    blobs = [random(1 if "true" in parameters else 6, seed=1)]
    check(tmp_path, "Normalize", [random(1, *IMAGE[1:])], f"norm_param {{ {parameters} }}", blobs)


@pytest.mark.parametrize("parameters", ["", "operation: PROD", "operation: MAX", "coeff: 0.5 coeff: -1 coeff: 2"])
def test_eltwise(parameters: str, tmp_path: Path) -> None:
    inputs = [random(*IMAGE, seed=seed) for seed in range(3)]
    check(tmp_path, "Eltwise", inputs, f"eltwise_param {{ {parameters} }}")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis: int, tmp_path: Path) -> None:
    inputs = [random(*IMAGE, seed=seed) for seed in range(3)]
    check(tmp_path, "Concat", inputs, f"concat_param {{ axis: {axis} }}")


@pytest.mark.parametrize("parameters", ["axis: 3 slice_point: 2 slice_point: 7", "slice_point: 1 slice_point: 4"])
def test_slice(parameters: str, tmp_path: Path) -> None:
    check(tmp_path, "Slice", [random(*IMAGE)], f"slice_param {{ {parameters} }}", tops=3)


@pytest.mark.parametrize("parameters", ["offset: 2", "axis: 1 offset: 1 offset: 0 offset: 3"])
def test_crop(parameters: str, tmp_path: Path) -> None:
    channels = 3 if "axis: 1" in parameters else 6
    check(tmp_path, "Crop", [random(*IMAGE), random(2, channels, 5, 4)], f"crop_param {{ {parameters} }}")


@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_roi_pooling(scale: float, tmp_path: Path) -> None:
    regions = np.array([[0, 0, 0, 8, 8], [0, 3, 2, 9, 7], [0, 1, 1, 20, 5]], np.float32)
    text = f"roi_pooling_param {{ pooled_h: 3 pooled_w: 2 spatial_scale: {scale} }}"
    check(tmp_path, "ROIPooling", [random(1, 4, 9, 11), regions], text)


@pytest.mark.parametrize(
    "parameters",
    [
        "min_size: 4 max_size: 9 aspect_ratio: 2 aspect_ratio: 3 flip: true clip: true variance: 0.1 variance: 0.1"
        " variance: 0.2 variance: 0.2",
        "min_size: 4 min_size: 6 aspect_ratio: 2 flip: false clip: false step: 8 variance: 0.1",
        "min_size: 4.5 max_size: 7.25 aspect_ratio: 2 clip: false step_h: 8 step_w: 6 offset: 0.25 variance: 0.1 variance: 0.1"
        " variance: 0.2 variance: 0.2",
    ],
)
def test_prior_box(parameters: str, tmp_path: Path) -> None:
    inputs = {"cells": random(1, 4, 5, 7), "image": random(1, 3, 40, 42)}
    text = one("PriorBox", inputs, f"prior_box_param {{ {parameters} }}")
    text += 'layer { name: "other" type: "TanH" bottom: "cells" top: "other" }'  # the boxes may be constant
    got = compute(tmp_path, text, {}, inputs)
    (wanted,) = opencv(text, {}, inputs, ["y"])
    agree(got["y"], wanted)


@pytest.mark.parametrize("code", ["CORNER", "CENTER_SIZE"])
@pytest.mark.parametrize("shared", [True, False])
def test_detection_output(code: str, shared: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    corner = rng.uniform(0, 0.6, (30, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(0.1, 0.4, (30, 2))], 1).astype(np.float32)
    priors = np.stack([boxes.ravel(), np.tile(np.float32([0.1, 0.1, 0.2, 0.2]), 30)])[None]
    scores = rng.dirichlet(np.ones(4) * 0.4, (1, 30)).astype(np.float32).reshape(1, -1)
    locations = random(1, 30 * 4 * (1 if shared else 4), seed=3)
    named = {"locations": locations, "scores": scores, "priors": priors}
    text = one(
        "DetectionOutput",
        named,
        f"detection_output_param {{ num_classes: 4 share_location: {str(shared).lower()} code_type: {code}"
        " background_label_id: 0 nms_param { nms_threshold: 0.45 top_k: 20 } keep_top_k: 15 confidence_threshold: 0.05 }",
    )
    got = compute(tmp_path, text, {}, named)["y"]
    (wanted,) = opencv(text, {}, named, ["y"])
    assert 3 < got.shape[2] <= 15
    agree(got, wanted)


def test_net_with_in_place_layers_and_several_outputs(tmp_path: Path) -> None:
    inputs = {"data": random(1, 3, 12, 13)}
    layers = """
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 8 kernel_size: 3 stride: 2 bias_term: false } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" }
layer { name: "split" type: "Split" bottom: "conv" top: "a" top: "b" }
layer { name: "pool" type: "Pooling" bottom: "a" top: "pool" pooling_param { kernel_size: 3 stride: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 4 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer { name: "up" type: "Deconvolution" bottom: "b" top: "up"
  convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false } }
"""
    weights = {
        "conv": [random(8, 3, 3, 3, seed=1)],
        "bn": [random(8, seed=2), positive(8, seed=3), np.array([1.7], np.float32)],
        "scale": [random(8, seed=4), random(8, seed=5)],
        "fc": [random(4, 8 * 2 * 3, seed=6), random(4, seed=7)],
        "up": [random(8, 2, 4, 4, seed=8)],
    }
    text = network(layers, inputs)
    got = compute(tmp_path, text, weights, inputs)
    assert list(got) == ["prob", "up"]
    for name, wanted in zip(("prob", "up"), opencv(text, weights, inputs, ["prob", "up"]), strict=True):
        agree(got[name], wanted)
