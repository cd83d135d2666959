"""What PyTorch's exporters say of initializers: which are trained."""

from __future__ import annotations

import re
from collections.abc import Iterable

from onnx import GraphProto

_KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
_STATE = re.compile(r"(?!\d+$)\w+(\.\w+)*")


def said_parameters(graph: GraphProto) -> dict[str, bool]:
    """What torch.onnx.export(dynamo=True) says of initializers: which are parameters, and which buffers and constants."""
    return {
        value.name: entry.value == "PARAMETER"
        for value in (*graph.value_info, *graph.input)
        for entry in value.metadata_props
        if entry.key == _KIND
    }


def keeps_parameters_apart(producer: str, initializers: Iterable[str]) -> bool:
    """Whether parameters are initializers, and Constant nodes are none: as PyTorch writes them, unless they were frozen before."""
    return producer.startswith("pytorch") and any(map(is_state, initializers))


def is_state(name: str) -> bool:
    """Whether it is a name of PyTorch's parameters and buffers; those of constants that were computed have slashes or colons."""
    return _STATE.fullmatch(name) is not None
