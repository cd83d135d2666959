"""Extends the converter with parsers of nodes and of whole files, passes and custom operators (docs/extending.md).

    from mslite.converter.registry import FmkType, TensorType, custom, custom_operator, node_parser

    @node_parser(FmkType.ONNX, "com.example.Maxout")
    def parse_maxout(node):
        return custom("Maxout", pieces=node.attribute("pieces"))

    @custom_operator("Maxout")
    def maxout_shape(inputs, attributes):
        (x,) = inputs
        return TensorType(x.dtype, (*x.shape[:-1], x.shape[-1] // attributes.integer("pieces")))

These names are a stable API. Registrations of a plug-in file (`plugin_path` of [registry]) are valid for one
conversion; registrations of a program are valid for all of its conversions.
"""

from mslite.converter.errors import ConversionError
from mslite.converter.frameworks import FmkType
from mslite.converter.mindir import ops
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.registry.builder import GraphBuilder
from mslite.converter.registry.entries import PassPosition
from mslite.converter.registry.model_parser import ConverterParameters, ModelParser, ModelParserRegistry, model_parser
from mslite.converter.registry.node_parser import ForeignNode, NodeParser, NodeParserRegistry, node_parser
from mslite.converter.registry.operators import (
    CustomAttributes,
    CustomOperatorRegistry,
    DynamicDimension,
    TensorType,
    custom,
    custom_operator,
    same_as_input,
)
from mslite.converter.registry.passes import PassBase, PassRegistry, scheduled_pass
from mslite.converter.registry.plugins import ConverterContext

__all__ = [
    "ConversionError",
    "ConverterContext",
    "ConverterParameters",
    "Custom",
    "CustomAttributes",
    "CustomOperatorRegistry",
    "DataType",
    "DynamicDimension",
    "FmkType",
    "ForeignNode",
    "Format",
    "Graph",
    "GraphBuilder",
    "ModelParser",
    "ModelParserRegistry",
    "Module",
    "Node",
    "NodeParser",
    "NodeParserRegistry",
    "PassBase",
    "PassPosition",
    "PassRegistry",
    "TensorType",
    "Value",
    "constant",
    "custom",
    "custom_operator",
    "model_parser",
    "node_parser",
    "ops",
    "same_as_input",
    "scheduled_pass",
]
