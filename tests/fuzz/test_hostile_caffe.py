"""Hostile prototxt and caffemodel files: each pair gets one clear error or a result."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.parsers.caffe.helper import caffemodel

from .corpus import check_conversions
from .limits import SUCCESS
from .mutate import variant
from .mutate_caffe import mutate_text, mutate_weights

VARIANTS = 240

NETWORK = """name: "seed"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 12 dim: 12 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 1 } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" batch_norm_param { eps: 0.001 } }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { axis: 1 bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" relu_param { negative_slope: 0.1 } }
layer { name: "slice" type: "Slice" bottom: "conv" top: "a" top: "b" slice_param { axis: 1 slice_point: 1 } }
layer { name: "norm" type: "LRN" bottom: "conv" top: "norm" lrn_param { local_size: 3 alpha: 0.1 } }
layer { name: "pool" type: "Pooling" bottom: "norm" top: "pool"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }
layer { name: "up" type: "Deconvolution" bottom: "pool" top: "up"
  convolution_param { num_output: 1 kernel_size: 4 stride: 2 } }
layer { name: "crop" type: "Crop" bottom: "up" bottom: "a" top: "crop" crop_param { axis: 2 offset: 1 } }
layer { name: "sum" type: "Eltwise" bottom: "crop" bottom: "a" top: "sum" eltwise_param { coeff: 1 coeff: -1 } }
layer { name: "join" type: "Concat" bottom: "sum" bottom: "b" top: "join" concat_param { axis: 1 } }
layer { name: "permute" type: "Permute" bottom: "join" top: "permute"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "shape" type: "Reshape" bottom: "permute" top: "shape" reshape_param { shape { dim: 0 dim: -1 } axis: 0 } }
layer { name: "fc" type: "InnerProduct" bottom: "shape" top: "fc" inner_product_param { num_output: 4 axis: 1 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" softmax_param { axis: 1 } }
"""


def weights() -> bytes:
    rng = np.random.default_rng(1)

    def blob(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return rng.standard_normal(shape).astype(np.float32)

    return caffemodel(
        {
            "conv": [blob(4, 3, 3, 3), blob(4)],
            "bn": [blob(4), blob(4) ** 2, np.ones(1, np.float32)],
            "scale": [blob(4), blob(4)],
            "up": [blob(4, 1, 4, 4), blob(1)],
            "fc": [blob(4, 576), blob(4)],
        }
    )


def hostile_pairs(folder: Path) -> Iterator[Path]:
    """The prototxt files; each has its weights beside it. The text and the weights are spoilt in turn."""
    text, binary = NETWORK.encode(), weights()
    for number in range(VARIANTS):
        spoilt_text, spoilt_binary = text, binary
        if number % 3 == 2:
            spoilt_binary = variant(binary, number // 3, mutate_weights)
        elif number % 8 == 7:
            spoilt_text = variant(text, number, mutate_text)  # odd: damaged bytes
        else:
            spoilt_text = mutate_text(text, random.Random(number))
        path = folder / f"{number:04}.prototxt"
        path.write_bytes(spoilt_text)
        path.with_suffix(".caffemodel").write_bytes(spoilt_binary)
        yield path


def test_converter_survives_hostile_caffe_models(tmp_path: Path) -> None:
    good = tmp_path / "good.prototxt"
    good.write_text(NETWORK)
    good.with_suffix(".caffemodel").write_bytes(weights())
    assert check_conversions([good]) == {SUCCESS: 1}
    codes = check_conversions(hostile_pairs(tmp_path))
    assert codes[SUCCESS] < VARIANTS // 2, "too few files were refused"
