"""Normalizations."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.normalization import LRN, L2NormalizeFusion

from .call import Call
from .registry import tflite_operator

_L2_EPSILON = 1e-6
"""TensorFlow Lite divides by max(norm, 1e-6); MindIR bounds the square of the norm."""


@tflite_operator("L2_NORMALIZATION")
def l2_normalization(call: Call) -> Value:
    return call.activated(call.emit(L2NormalizeFusion(axis=(-1,), epsilon=_L2_EPSILON**2), call.input(0)))


@tflite_operator("LOCAL_RESPONSE_NORMALIZATION")
def local_response(call: Call) -> Value:
    options = call.options
    op = LRN(
        depth_radius=options.integer("radius"),
        bias=options.real("bias"),
        alpha=options.real("alpha"),
        beta=options.real("beta"),
        norm_region="ACROSS_CHANNELS",
    )
    return call.emit(op, call.input(0))
