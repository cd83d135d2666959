"""Inputs of the main graph: its Placeholders."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker
from mslite.converter.input_shapes import check_shape, unknown_input
from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.naming import Blocked

from .attributes import Attributes
from .call import Call
from .elementwise import BINARY, SHIFTS
from .functions import PASSING
from .model import Ref, SourceGraph, SourceNode
from .name_order import in_numbered_order
from .registry import tf_operator
from .scope import Scope
from .session import Session
from .topological_order import needed

_SCALAR_IS_SCALAR = 24
"""From this version of the graph format on, a Placeholder of shape [] is a scalar; before, its shape is unknown."""

_SCALAR_OPERANDS = {"If": 0, "StatelessIf": 0, "RefSwitch": 1, "Switch": 1}
"""Operators with a condition -> index of that operand."""


def _default_is_input(session: Session, node: SourceNode) -> bool:
    """Returns whether a PlaceholderWithDefault becomes an input instead of its default: if it is in `--inputShape`, or
    if the model has no other inputs."""
    if node.name in session.input_shapes:
        return True
    nodes = session.model.graph.nodes.values()
    return not any(other.operator in ("Placeholder", "PlaceholderV2") for other in nodes)


_UNUSED = "unused_control_flow_input"
"""Prefix of names of placeholders that TensorFlow adds when it lowers a loop."""


def input_nodes(session: Session, in_file_order: bool) -> list[SourceNode]:
    """Returns the input nodes, in the order of the file or sorted by the numbers in their names."""
    nodes = session.model.graph.nodes
    names = [
        node.name
        for node in nodes.values()
        if (node.operator in ("Placeholder", "PlaceholderV2") and not node.name.startswith(_UNUSED))
        or (node.operator == "PlaceholderWithDefault" and _default_is_input(session, node))
    ]
    return [nodes[name] for name in (names if in_file_order else in_numbered_order(names))]


def graph_input(session: Session, node: SourceNode) -> Value:
    """Returns the value of a Placeholder. Raises Blocked for an unsupported type or an unknown rank."""
    attributes = Attributes(node)
    dtype = attributes.type("dtype")
    if dtype in (DataType.STRING, DataType.TENSOR_LIST, DataType.UNKNOWN):
        raise Blocked(f"inputs of type {dtype.name.lower()} are unsupported", "Move text processing out of the model")
    dims = attributes.shape_attribute("shape")
    if dims is None and attributes.has_attribute("_output_shapes"):
        dims = next(iter(attributes.shapes("_output_shapes")), None)
    wanted = session.input_shapes.get(node.name)
    if wanted is not None:
        dims = _given(session, node.name, dims, tuple(wanted))
    if dims is None and _takes_scalar(session.model.graph, node):
        dims = ()
    if dims is None:
        raise Blocked(
            "the file does not have the number of dimensions of this input", f"Set --inputShape={node.name}:<sizes>"
        )
    shape: Shape = tuple(session.inference.new_symbol() if dim < 0 else dim for dim in dims)
    return Value(node.name, dtype, shape, format=Format.NHWC if len(shape) == 4 else Format.NCHW)


def _takes_scalar(graph: SourceGraph, node: SourceNode) -> bool:
    """Returns whether a value of unknown rank may be a scalar: all readers broadcast it or use it as a condition."""
    open_names, seen = [node.name], {node.name}
    while open_names:
        name = open_names.pop()
        for reader in graph.nodes.values():
            for position, ref in enumerate(reader.inputs):
                if ref.node != name:
                    continue
                if reader.operator in PASSING or reader.operator in ("Cast", "LogicalNot"):
                    if reader.name not in seen:
                        seen.add(reader.name)
                        open_names.append(reader.name)
                elif _SCALAR_OPERANDS.get(reader.operator, position) != position or (
                    reader.operator not in BINARY
                    and reader.operator not in SHIFTS
                    and reader.operator not in _SCALAR_OPERANDS
                ):
                    return False
    return True


def _given(session: Session, name: str, dims: Shape | None, wanted: Shape) -> Shape:
    """Returns the dimensions of `--inputShape`, checked against the file; in old files, [] is an unknown shape."""
    unknown = dims is None or (dims == () and session.model.producer < _SCALAR_IS_SCALAR)
    if not unknown and dims is not None:
        check_shape(session.model.name, name, [size if size >= 0 else -2 for size in dims], wanted)
    return wanted


def bind_inputs(session: Session, scope: Scope, results: Sequence[Ref], in_file_order: bool) -> None:
    """Creates the graph's inputs, in the order of the file or sorted by number. An unsupported input is only reported
    if a result depends on it.

    Raises ConversionError for a name in `--inputShape` that is not an input.
    """
    nodes, used = input_nodes(session, in_file_order), needed(session.model.graph, results)
    names = [node.name for node in nodes]
    for name in session.input_shapes:
        if name not in names:
            raise unknown_input(session.model.name, name, names)
    for node in nodes:
        try:
            value = graph_input(session, node)
        except Blocked as blocked:
            if node.name in used:
                blocker = Blocker(node.name, node.operator, blocked.reason, blocked.remedy, blocked.attribute)
                session.blockers.append(blocker)
            scope.fail(node.name)
            continue
        scope.graph.inputs.append(value)
        scope.preset(Ref(node.name), value)


@tf_operator("Placeholder", "PlaceholderV2")
def placeholder(call: Call) -> Value:
    """Raises Blocked: Placeholders of the main graph are bound before, and functions must not have any."""
    raise call.block("a Placeholder in a function is unsupported")


@tf_operator("PlaceholderWithDefault")
def placeholder_with_default(call: Call) -> Value:
    return call.input(0)
