"""An ONNX model that is ready for import."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx
from onnx import GraphProto, ModelProto, TensorProto

from mslite.converter.errors import ConversionError, ReturnCode

from .tensors import TensorReader
from .unexpanded import Unexpanded

DOMAINS = {"ai.onnx": ""}
"""Other names of a domain."""


@dataclass
class SourceModel:
    """A checked ONNX model with expanded functions and inferred types."""

    name: str
    skeleton: ModelProto
    graph: GraphProto
    """The main graph. Functions are expanded; large initializers are only in `initializers`."""
    initializers: dict[str, TensorProto]
    opsets: dict[str, int]
    reader: TensorReader
    producer: str = ""
    types: dict[str, onnx.TypeProto] = field(default_factory=dict)
    """Inferred types of the values of all graphs."""
    unexpanded: Unexpanded = field(default_factory=Unexpanded)
    parameters: dict[str, bool] = field(default_factory=dict)
    """Initializer -> whether it is trained. Only initializers with this information from the exporter."""
    reused_normalizations: frozenset[str] = frozenset()
    """Initializers that are parameters of one layer that is applied several times, if the exporter recorded it."""
    keeps_parameters: bool = False
    """Whether all parameters are initializers, and no Constant node is one."""


def graph_error(name: str, message: str) -> ConversionError:
    return ConversionError(f"{name}: {message}", code=ReturnCode.GRAPH_FILE_ERROR)
