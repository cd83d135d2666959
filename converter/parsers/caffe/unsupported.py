"""Layers without a converter: layers that are dropped, and reasons why others are unsupported."""

from __future__ import annotations

from mslite.converter.parsers.naming import OR_PLUGIN, Blocked

from .call import Call

_TRAINING = "it is only for training and testing"

DROPPED = dict.fromkeys(
    (
        *("Accuracy", "ContrastiveLoss", "EuclideanLoss", "HingeLoss", "InfogainLoss", "MultinomialLogisticLoss"),
        *("SmoothL1Loss", "MultiBoxLoss", "DetectionEvaluate"),
    ),
    _TRAINING,
)
"""Type -> reason why the layer is dropped; blobs that only it reads become outputs."""

LOSSES = ("SoftmaxWithLoss", "SigmoidCrossEntropyLoss")
"""Loss layers that are converted to their activation; they also read labels."""

_DECODE = "Remove the layer: its bottom blobs become outputs, and your program decodes them"
_REASONS = {
    "Filter": ("the items that it selects depend on the data", "Remove the layer, and select items in your program"),
    "HDF5Output": ("it writes a file", "Remove the layer: its bottom blobs become outputs"),
    "RegionOutput": ("the layer type is unsupported", _DECODE),
    "DetectionOutputYolo": ("the layer type is unsupported", _DECODE),
    "YoloDetectionOutput": ("the layer type is unsupported", _DECODE),
    "Yolov3DetectionOutput": ("the layer type is unsupported", _DECODE),
    "SimplerNMS": ("the layer type is unsupported", _DECODE),
}


def explain(call: Call) -> Blocked:
    """Returns the exception for a layer without a converter."""
    kind = call.layer.type
    if kind == "Python":
        python = call.parameter("python")
        where = f"the class {python.layer} of the module {python.module}"
        return call.block(f"it runs Python code, {where}", "Replace it by Caffe's own layers, or remove it")
    if kind in _REASONS:
        return call.block(*_REASONS[kind])
    remedy = f"It is from a fork of Caffe; replace it by Caffe's own layers, remove it, {OR_PLUGIN}"
    return call.block("the layer type is unknown", remedy)
