"""Decompositions of box operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.passes.target.writer import Writer, decomposes

_INPUTS = 5


@decomposes("NonMaxSuppression")
def state_thresholds(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Adds a score threshold that accepts all scores; without one, MindSpore Lite uses 0."""
    missing = _INPUTS - len(node.inputs)
    if missing <= 0 or len(node.inputs) < _INPUTS - 2:
        return None
    defaults = [
        writer.const([0.0], name="iou_threshold"),
        writer.const([np.finfo(np.float32).min], name="score_threshold"),
    ]
    return (writer.emit(node.op, *node.inputs, *defaults[-missing:]),)
