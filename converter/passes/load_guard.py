"""Marks files with quantized nodes that MindSpore Lite would misread, so that it refuses to load them.

Its runtimes select a kernel by the first float or int8 input. A convolution with int16 activations and int8 weights
would get the int8 kernel, which reads out of bounds without an error; so would a convolution, or a fully connected
layer, after DynamicQuant, whose quantization parameters are computed at run time. No field of the schema can prevent
this. Therefore a Custom node (a `Bitcast` that changes nothing) is inserted, which every version refuses to load.
"""

from __future__ import annotations

from mslite.converter.compatibility.check import kernel_type
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import DynamicQuant
from mslite.converter.mindir.ops.rearrange import Bitcast
from mslite.converter.passes.context import Context

_SUFFIX = "_misread_mark"


def add_load_guards(module: Module, context: Context) -> None:
    """Inserts the Custom node before the first node of each graph that would be misread."""
    if context.settings.target is not None or context.settings.keep_layout:
        return
    for graph in module.graphs:
        _mark(graph)


def _mark(graph: Graph) -> None:
    found = next((node for node in graph.nodes if _is_misread(node)), None)
    if found is None or any(node.name.endswith(_SUFFIX) for node in graph.nodes):
        return
    first = found.inputs[0].producer
    node = first if first is not None and isinstance(first.op, DynamicQuant) else found
    value = node.inputs[0]
    marked = Value(f"{value.name}_marked", value.dtype, value.shape, format=value.format, quant=value.quant)
    mark = Node(Bitcast(data_type=int(value.dtype)), f"{node.name}{_SUFFIX}", (value,), (marked,))
    graph.insert_before(node, mark)
    node.set_inputs([marked, *node.inputs[1:]])


def _is_misread(node: Node) -> bool:
    if not node.inputs or node.op.declaration.is_custom:
        return False
    x = node.inputs[0]
    if x.dtype is DataType.INT16:
        return kernel_type(node) is DataType.INT8
    return x.producer is not None and isinstance(x.producer.op, DynamicQuant) and node.op.name != "MatMulFusion"
