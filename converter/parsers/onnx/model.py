"""An ONNX model as the importer walks it."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx
from onnx import GraphProto, ModelProto, TensorProto

from mslite.converter.errors import ConversionError, ReturnCode

from .tensors import TensorReader
from .unexpanded import Unexpanded

DOMAINS = {"ai.onnx": ""}
"""Other spellings of a domain."""


@dataclass
class SourceModel:
    """An ONNX model ready to be walked."""

    name: str
    skeleton: ModelProto
    graph: GraphProto
    """The main graph of it; functions are expanded, large initializers are only in `initializers`."""
    initializers: dict[str, TensorProto]
    opsets: dict[str, int]
    reader: TensorReader
    producer: str = ""
    types: dict[str, onnx.TypeProto] = field(default_factory=dict)
    """What type inference found, for the values of every graph."""
    unexpanded: Unexpanded = field(default_factory=Unexpanded)
    parameters: dict[str, bool] = field(default_factory=dict)
    """Of initializers, where the exporter says it: whether they are trained."""
    applied_again: frozenset[str] = frozenset()
    """Of initializers, where the exporter says it: parameters of one layer that is applied several times."""
    keeps_parameters: bool = False
    """Whether parameters are initializers, and Constant nodes are none."""


def graph_error(name: str, message: str) -> ConversionError:
    return ConversionError(f"{name}: {message}", code=ReturnCode.GRAPH_FILE_ERROR)
