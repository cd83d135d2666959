"""Layers without a converter: those that inference does not need, and why the others are refused."""

from __future__ import annotations

from mslite.converter.parsers.naming import OR_PLUGIN, Blocked

from .call import Call

_TRAINING = "it is for training and testing only"

DROPPED = dict.fromkeys(
    (
        *("Accuracy", "ContrastiveLoss", "EuclideanLoss", "HingeLoss", "InfogainLoss", "MultinomialLogisticLoss"),
        *("SmoothL1Loss", "MultiBoxLoss", "DetectionEvaluate"),
    ),
    _TRAINING,
)
"""Type -> why the layer is left out; what only it read becomes an output."""

LOSSES = ("SoftmaxWithLoss", "SigmoidCrossEntropyLoss")
"""Layers that become the function whose result they judge; they read labels too."""

_DECODE = "Take the layer out: its bottom blobs become outputs, and your program decodes them"
_REASONS = {
    "Filter": ("which items go on depends on data", "Take the layer out and select in your program"),
    "HDF5Output": ("it writes a file", "Take the layer out: its bottom blobs become outputs"),
    "RegionOutput": ("it is not built", _DECODE),
    "DetectionOutputYolo": ("it is not built", _DECODE),
    "YoloDetectionOutput": ("it is not built", _DECODE),
    "Yolov3DetectionOutput": ("it is not built", _DECODE),
    "SimplerNMS": ("it is not built", _DECODE),
}


def explain(call: Call) -> Blocked:
    """What is said of a layer that has no converter."""
    kind = call.layer.type
    if kind == "Python":
        python = call.parameter("python")
        where = f"the class {python.layer} of the module {python.module}"
        return call.block(f"it runs Python code, {where}", "Write it with Caffe's own layers, or take it out")
    if kind in _REASONS:
        return call.block(*_REASONS[kind])
    remedy = f"It belongs to a fork of Caffe; write it with Caffe's own layers, take it out, {OR_PLUGIN}"
    return call.block("the layer type is not known", remedy)
