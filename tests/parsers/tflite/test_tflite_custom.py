"""Custom operators that LiteRT provides: their options are FlexBuffers maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import Array, lowered, run_module, run_source

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options
from mslite.converter.parsers.tflite import parse

_CHANCE = np.random.default_rng(29)


def flexible(**values: Any) -> bytes:
    builder = flexbuffers.Builder()
    builder.MapFromElements(values)
    return bytes(builder.Finish())


def check(model: bytes, inputs: list[Array], folder: Path, tolerance: float = 1e-5) -> None:
    path = folder / "model.tflite"
    path.write_bytes(model)
    found, expected = run_module(lowered(parse(path)), inputs), run_source(model, inputs)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        scale = float(np.abs(theirs).max()) if theirs.size else 1.0
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(scale, 1.0))


@pytest.mark.parametrize(("squared", "window", "stride"), [(True, 480, 160), (False, 256, 256), (True, 31, 10)])
def test_spectrogram(squared: bool, window: int, stride: int, tmp_path: Path) -> None:
    x = _CHANCE.uniform(-1, 1, (1000, 2)).astype(np.float32)
    custom = flexible(window_size=window, stride=stride, magnitude_squared=squared)
    check(single("CUSTOM:AudioSpectrogram", [x], custom=custom), [x], tmp_path)


def test_mel_cepstrum(tmp_path: Path) -> None:
    x = _CHANCE.uniform(0, 9, (1, 5, 257)).astype(np.float32)
    custom = flexible(
        upper_frequency_limit=4000.0, lower_frequency_limit=20.0, filterbank_channel_count=40, dct_coefficient_count=13
    )
    rate = np.array([16000], np.int32)
    check(single("CUSTOM:Mfcc", [x, rate], constant=(1,), custom=custom), [x], tmp_path)


@pytest.mark.parametrize(("shape", "size"), [((3, 64), 64), ((2, 5, 48), 16), ((1, 2), 2), ((4, 3), 1)])
def test_hadamard_rotation(shape: tuple[int, ...], size: int, tmp_path: Path) -> None:
    """Beside the definition: entries of the matrix are 1 or -1 by the bits that their row and column share."""
    x = _CHANCE.standard_normal(shape).astype(np.float32)
    custom = flexible(hadamard_size=size, random_binary_vector=[1] * size)
    path = tmp_path / "model.tflite"
    path.write_bytes(single("CUSTOM:aeq.hadamard_rotation", [x], custom=custom))
    (found,) = run_module(lowered(parse(path)), [x])
    matrix = [[(-1) ** (row & column).bit_count() for column in range(size)] for row in range(size)]
    wanted = x.reshape(-1, size) @ np.array(matrix) / np.sqrt(size)
    np.testing.assert_allclose(found, wanted.reshape(shape), rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [0, 3, 8, 1 << 20])
def test_hadamard_rotations_that_do_not_fit(size: int, tmp_path: Path) -> None:
    x = np.ones((2, 12), np.float32)
    path = tmp_path / "model.tflite"
    path.write_bytes(single("CUSTOM:aeq.hadamard_rotation", [x], custom=flexible(hadamard_size=size)))
    with pytest.raises(ConversionError, match="hadamard_size"):
        parse(path)


def detection(regular: bool, count: int = 40, classes: int = 5) -> tuple[list[Array], bytes]:
    """Encoded boxes, scores of the background and of the classes, anchors; the options."""
    boxes = _CHANCE.normal(0, 1, (1, count, 4)).astype(np.float32)
    scores = _CHANCE.uniform(0, 1, (1, count, classes + 1)).astype(np.float32)
    middle, size = _CHANCE.uniform(0, 1, (count, 2)), _CHANCE.uniform(0.1, 0.5, (count, 2))
    anchors = np.concatenate([middle, size], 1).astype(np.float32)
    custom = flexible(
        max_detections=10,
        max_classes_per_detection=1,
        detections_per_class=4,
        num_classes=classes,
        nms_score_threshold=0.4,
        nms_iou_threshold=0.5,
        y_scale=10.0,
        x_scale=10.0,
        h_scale=5.0,
        w_scale=5.0,
        use_regular_nms=regular,
    )
    return [boxes, scores, anchors], custom


@pytest.mark.parametrize("regular", [False, True])
def test_detection(regular: bool, tmp_path: Path) -> None:
    inputs, custom = detection(regular)
    outputs = ("float32",) * 4
    model = single("CUSTOM:TFLite_Detection_PostProcess", inputs, constant=(2,), outputs=outputs, custom=custom)
    check(model, inputs[:2], tmp_path)


def test_quantized_detection(tmp_path: Path) -> None:
    """As the detectors for small machines have it: unsigned bytes in, float values out."""
    inputs, custom = detection(False)
    quant = [(0.05, 128), (1 / 256, 0), (0.01, 0)]
    stored = [
        np.clip(np.round(array / scale) + point, 0, 255).astype(np.uint8)
        for array, (scale, point) in zip(inputs, quant, strict=True)
    ]
    tensors = [Tensor(f"in{i}", stored[i].shape, "uint8", None, quant[i]) for i in range(2)]
    tensors.append(Tensor("anchors", data=stored[2], quant=quant[2]))
    tensors += [Tensor(name) for name in ("boxes", "classes", "scores", "count")]
    node = Operator("CUSTOM:TFLite_Detection_PostProcess", [0, 1, 2], [3, 4, 5, 6], custom=custom)
    model = build(Graph(tensors, [0, 1], [3, 4, 5, 6], [node]))
    source = tmp_path / "model.tflite"
    source.write_bytes(model)
    session = mslite.Model()
    session.build_from_file(convert(Options(source, tmp_path / "model")).files[0], mslite.ModelType.MINDIR_LITE)
    found = [tensor.get_data_to_numpy() for tensor in session.predict(stored[:2])]
    for ours, theirs in zip(found, run_source(model, stored[:2]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
