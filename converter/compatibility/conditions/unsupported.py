"""Operators that versions refuse or compute differently in all cases, and some further conditions."""

from __future__ import annotations

import numpy as np

from mslite.converter.compatibility.conditions._declare import condition, numbers
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.enums import DataType

_SCORES = 3
"""Rank of the scores of NonMaxSuppression: images, classes, boxes."""

_LISTS = "refuses lists without a declared element shape"

_REFUSED = {
    "Affine": "refuses its parameters",
    "Assert": "returns an output of another shape",
    "BatchToSpaceND": "cannot infer its shape",
    "EmbeddingLookupFusion": "reads other rows",
    "HashtableLookup": "reads outside of its keys",
    "LshProjection": "uses another hash function",
    "NonZero": "cannot infer its shape",
    "Rank": "returns the rank as float",
    "TensorListFromTensor": _LISTS,
    "TensorListGetItem": _LISTS,
    "TensorListReserve": _LISTS,
    "TensorListSetItem": _LISTS,
    "TensorListStack": _LISTS,
    "PriorBox": "returns the boxes in other dimensions",
    "ROIPooling": "refuses its parameters",
    "Splice": "returns frames without elements",
    "TensorArray": "crashes",
    "TensorArrayRead": "reads nothing",
    "TensorArrayWrite": "writes nothing",
}


def _refused(name: str, reason: str) -> None:
    @condition(name, until=Version.V2_0)
    def refuse(node: Node, kind: DataType, version: Version) -> str | None:
        return reason


for _name, _reason in _REFUSED.items():
    _refused(_name, _reason)


@condition("ExpFusion", until=Version.V2_0)
def powers_of_e(node: Node, kind: DataType, version: Version) -> str | None:
    is_plain = (getattr(node.op, "base", -1.0), getattr(node.op, "scale", 1.0), getattr(node.op, "shift", 0.0)) == (
        -1.0,
        1.0,
        0.0,
    )
    return None if is_plain or version is Version.V1_3 else "supports base e only"


@condition("ScatterNdUpdate SparseToDense", until=Version.V2_0)
def scattered(node: Node, kind: DataType, version: Version) -> str | None:
    return None if version is Version.V1_3 else "writes to other positions"


@condition("NonMaxSuppression", until=Version.V2_0)
def boxes(node: Node, kind: DataType, version: Version) -> str | None:
    """It applies the maximum to the boxes of all classes together, and uses a threshold of 0 if none is given."""
    shape = node.inputs[1].shape
    most = numbers(node, 2)
    if len(node.inputs) < _SCORES + 2:
        return "needs the maximum number of boxes and both thresholds"
    if shape is None or len(shape) != _SCORES or any(size < 0 for size in shape):
        return "needs known numbers of boxes and classes"
    images, classes, count = shape
    is_enough = most is not None and most[0] >= images * classes * count
    if version is Version.V2_0 and images * classes > 1:
        return "uses the first image and the first class only"
    return None if images * classes == 1 or is_enough else "applies the maximum number of boxes to all classes together"


@condition("DetectionPostProcess", until=Version.V2_0)
def classes_of_a_box(node: Node, kind: DataType, version: Version) -> str | None:
    is_many = getattr(node.op, "max_classes_per_detection", 1) > 1 and not getattr(node.op, "use_regular_nms", False)
    return "returns other detections if a box may have several classes" if is_many else None


@condition("ScatterNd", until=Version.V2_0)
def places_once(node: Node, kind: DataType, version: Version) -> str | None:
    """Elements for the same position are not added."""
    if version is not Version.V2_0:
        return None
    places = node.inputs[0].data
    is_once = places is not None and len(np.unique(places.reshape(-1, places.shape[-1]), axis=0)) == places[..., 0].size
    return None if is_once else "keeps the last of several elements for one position"
