"""Custom operators that mslite has an operator for. Their options are FlexBuffers maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.audio import AudioSpectrogram, Mfcc
from mslite.converter.mindir.ops.detection import DetectionPostProcess
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape

from .call import Call
from .registry import tflite_operator

_MISSING = object()


class _Map:
    """Reads single options. The buffer is untrusted, so it is never decoded as a whole."""

    def __init__(self, call: Call) -> None:
        self._call = call
        try:
            self._map = flexbuffers.GetRoot(bytearray(call.node.custom_options)).AsMap
            self._keys = {str(key.AsKey): index for index, key in enumerate(self._map.Keys) if index < 256}
        except Exception as error:  # the reader raises various exceptions for damaged bytes
            raise call.block(f"its options cannot be read: {type(error).__name__}") from None

    def get(self, name: str, kind: Callable[[Any], Any], default: Any = _MISSING) -> Any:
        if name not in self._keys:
            if default is _MISSING:
                raise self._call.block("is missing", attribute=name)
            return default
        try:
            return kind(self._map.Values[self._keys[name]])
        except Exception as error:
            raise self._call.block(f"cannot be read: {type(error).__name__}", attribute=name) from None


def _integer(item: Any) -> int:
    return int(item.AsInt)


def _real(item: Any) -> float:
    return float(item.AsFloat)


def _boolean(item: Any) -> bool:
    return bool(item.AsBool)


@tflite_operator("CUSTOM:TFLite_Detection_PostProcess")
def detection_post_process(call: Call) -> tuple[Value, ...]:
    """Converts TFLite_Detection_PostProcess: boxes, class scores and anchors to boxes, classes, scores and their
    count."""
    options = _Map(call)
    op = DetectionPostProcess(
        format=Format.NHWC,
        input_size=call.shape(0)[1] if call.rank(0) > 1 else 0,
        scale=tuple(options.get(f"{axis}_scale", _real) for axis in "hwxy"),
        nms_iou_threshold=options.get("nms_iou_threshold", _real),
        nms_score_threshold=options.get("nms_score_threshold", _real),
        max_detections=options.get("max_detections", _integer),
        detections_per_class=options.get("detections_per_class", _integer, 100),
        max_classes_per_detection=options.get("max_classes_per_detection", _integer),
        num_classes=options.get("num_classes", _integer),
        use_regular_nms=options.get("use_regular_nms", _boolean, False),
        out_quantized=options.get("_output_quantized", _boolean, False),
    )
    return call.emit_many(op, [call.input(0), call.input(1), call.weight(2)], 4)


@tflite_operator("CUSTOM:AudioSpectrogram")
def audio_spectrogram(call: Call) -> Value:
    options = _Map(call)
    op = AudioSpectrogram(
        window_size=options.get("window_size", _integer),
        stride=options.get("stride", _integer),
        mag_square=options.get("magnitude_squared", _boolean),
    )
    return call.emit(op, call.input(0))


@tflite_operator("CUSTOM:Mfcc")
def mfcc(call: Call) -> Value:
    options = _Map(call)
    op = Mfcc(
        freq_upper_limit=options.get("upper_frequency_limit", _real),
        freq_lower_limit=options.get("lower_frequency_limit", _real),
        filter_bank_channel_num=options.get("filterbank_channel_count", _integer),
        dct_coeff_num=options.get("dct_coefficient_count", _integer),
    )
    return call.emit(op, call.input(0), call.input(1))


_LARGEST_ROTATION = 1 << 12


@tflite_operator("CUSTOM:aeq.hadamard_rotation")
def hadamard_rotation(call: Call) -> Value:
    """Converts a Hadamard rotation: blocks of `hadamard_size` elements of the last dimension times H / sqrt(size).

    AI Edge Quantizer inserts it before matmuls with rotated weights. It also writes signs, which are all 1; LiteRT
    ignores them.
    """
    size = _Map(call).get("hadamard_size", _integer)
    if size < 1 or size & (size - 1) or size > _LARGEST_ROTATION:
        raise call.block(f"{size} is not a power of 2 up to {_LARGEST_ROTATION}", attribute="hadamard_size")
    shape = call.shape(0)
    if not shape or shape[-1] % size:
        raise call.block(
            f"the last dimension of the input {shape} is not a multiple of {size}", attribute="hadamard_size"
        )
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.kron(matrix, np.array([[1, 1], [1, -1]], np.float32))
    x = call.input(0)
    blocks = call.emit(Reshape(), x, call.ints((-1, size)))
    rotated = call.emit(MatMulFusion(), blocks, call.const(matrix / np.sqrt(np.float32(size))))
    return call.emit(Reshape(), rotated, call.emit(Shape(), x))
