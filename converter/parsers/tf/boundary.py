"""What enters and what leaves the main graph."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.naming import Blocked

from .attributes import Attributes
from .call import Call
from .elementwise import BINARY
from .functions import PASSING
from .importer import GraphImporter, Session
from .model import Ref, SourceGraph, SourceModel, SourceNode, damaged
from .registry import tf_operator
from .tensors import STRING

_EFFECTS = frozenset(
    [
        "Assert",
        "Assign",
        "AssignAdd",
        "AssignAddVariableOp",
        "AssignSub",
        "AssignSubVariableOp",
        "AssignVariableOp",
        "AudioSummary",
        "AudioSummaryV2",
        "Const",
        "ControlTrigger",
        "DestroyResourceOp",
        "HistogramSummary",
        "ImageSummary",
        "MergeSummary",
        "MergeV2Checkpoints",
        "NoOp",
        "Placeholder",
        "PlaceholderV2",
        "PlaceholderWithDefault",
        "Print",
        "PrintV2",
        "RestoreV2",
        "SaveV2",
        "ScalarSummary",
        "ShardedFilename",
        "StringFormat",
        "TensorArrayCloseV3",
        "TensorSummary",
        "TensorSummaryV2",
        "VarHandleOp",
        "VarIsInitializedOp",
        "Variable",
        "VariableV2",
        "WriteFile",
    ]
)
"""Operators that are no result of a model, although nobody reads them."""

_SCALAR_IS_SCALAR = 24
"""From this version of the graph format on, the shape [] of a Placeholder says that it is a scalar."""


_BETWEEN = frozenset(
    ["Enter", "LoopCond", "NextIteration", "RefEnter", "RefNextIteration", "RefSwitch", "Switch", "_SwitchN"]
)
"""Parts of TensorFlow 1 control flow that may be left without a reader."""

_PREDICATE = "pred_id"
"""How tf.cond of TensorFlow 1 calls its copy of the condition, which may be left without a reader."""

_FUNCTION_RESULT = re.compile(r"Identity(_\d+)?")
"""The names of the results of a function; variables that nobody needs are left as other Identity nodes of constants."""


def output_names(model: SourceModel) -> list[str]:
    """The nodes that nobody reads, in the file's order. Raises ConversionError when there are none.

    Left out are nodes that only act (assertions, summaries), constants, what control flow leaves behind, and, where there
    is anything else, nodes that others wait for and loop variables that nobody needs after the loop.
    """
    nodes = model.graph.nodes
    read = {ref.node for node in nodes.values() for ref in node.inputs}
    waited_for = {name for node in nodes.values() for name in node.controls if node.operator not in _EFFECTS}
    candidates = [node for node in nodes.values() if node.name not in read and _may_be_output(node, nodes)]
    useful = [node for node in candidates if node.name not in waited_for and node.operator not in ("Exit", "RefExit")]
    outputs = [node.name for node in useful or candidates]
    if not outputs:
        raise damaged(model.name, "the graph has no outputs: every node is read by another one")
    return outputs


def _may_be_output(node: SourceNode, nodes: Mapping[str, SourceNode]) -> bool:
    if node.operator in _EFFECTS or node.operator in _BETWEEN or _is_text(node):
        return False
    if node.operator not in PASSING or not node.inputs or _FUNCTION_RESULT.fullmatch(node.name):
        return True
    if nodes[node.inputs[0].node].operator in _BETWEEN or node.name.rpartition("/")[2] == _PREDICATE:
        return False
    return source_of(node, nodes).operator != "Const"


def _is_text(node: SourceNode) -> bool:
    """Names of files and the like, which saving a model leaves behind."""
    return any(node.attributes[name].type == STRING for name in ("T", "dtype") if name in node.attributes)


def source_of(node: SourceNode, nodes: Mapping[str, SourceNode]) -> SourceNode:
    """The node whose value reaches this one unchanged."""
    seen: set[str] = set()
    while node.operator in PASSING and node.inputs and node.name not in seen:
        seen.add(node.name)
        node = nodes[node.inputs[0].node]
    return node


def _default_is_input(model: SourceModel, input_shapes: object, node: SourceNode) -> bool:
    """A PlaceholderWithDefault is its default, unless it is asked for or the model had no input otherwise."""
    if node.name in (input_shapes or ()):  # type: ignore[operator]
        return True
    nodes = model.graph.nodes.values()
    return not any(other.operator in ("Placeholder", "PlaceholderV2") for other in nodes)


_UNUSED = "unused_control_flow_input"
"""TensorFlow's name of what it leaves behind where it lowered a loop."""


def input_nodes(session: Session) -> list[SourceNode]:
    """The nodes whose values the caller gives, in the file's order."""
    return [
        node
        for node in session.model.graph.nodes.values()
        if (node.operator in ("Placeholder", "PlaceholderV2") and not node.name.startswith(_UNUSED))
        or (node.operator == "PlaceholderWithDefault" and _default_is_input(session.model, session.input_shapes, node))
    ]


def graph_input(session: Session, node: SourceNode) -> Value:
    """The value of a Placeholder. Raises Blocked for one that cannot be."""
    attributes = Attributes(node)
    dtype = attributes.type("dtype")
    if dtype in (DataType.STRING, DataType.TENSOR_LIST, DataType.UNKNOWN):
        raise Blocked(f"inputs of type {dtype.name.lower()} are not supported", "Move text processing out of the model")
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
            "the file does not say how many dimensions this input has", f"Give --inputShape={node.name}:<sizes>"
        )
    shape: Shape = tuple(session.inference.new_symbol() if dim < 0 else dim for dim in dims)
    return Value(node.name, dtype, shape, format=Format.NHWC if len(shape) == 4 else Format.NCHW)


def _takes_scalar(graph: SourceGraph, node: SourceNode) -> bool:
    """True when a value of unknown rank may be a scalar: all its readers broadcast it, or branch by it."""
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
                    reader.operator not in BINARY and reader.operator not in _SCALAR_OPERANDS
                ):
                    return False
    return True


_SCALAR_OPERANDS = {"If": 0, "StatelessIf": 0, "RefSwitch": 1, "Switch": 1}
"""Which operand of these operators is a condition."""


def _given(session: Session, name: str, dims: Shape | None, wanted: Shape) -> Shape:
    """The dimensions of `--inputShape`. Old files say [] of any shape."""
    unknown = dims is None or (dims == () and session.model.producer < _SCALAR_IS_SCALAR)
    if not unknown and dims is not None and len(dims) != len(wanted):
        raise ConversionError(
            f"{session.model.name}: --inputShape gives '{name}' {len(wanted)} dimensions, the model has {len(dims)}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    return wanted


def bind_inputs(session: Session, importer: GraphImporter) -> None:
    """Makes the graph's inputs. Raises ConversionError for a name in `--inputShape` that is none."""
    nodes = input_nodes(session)
    names = [node.name for node in nodes]
    for name in session.input_shapes:
        if name not in names:
            raise ConversionError(
                f"{session.model.name}: --inputShape names '{name}', but the inputs of the model are {', '.join(names)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
    for node in nodes:
        try:
            value = graph_input(session, node)
        except Blocked as blocked:
            session.blockers.append(
                Blocker(node.name, node.operator, blocked.reason, blocked.remedy, blocked.attribute)
            )
            importer.fail(node.name)
            continue
        importer.graph.inputs.append(value)
        importer.preset(Ref(node.name), value)


@tf_operator("Placeholder", "PlaceholderV2")
def placeholder(call: Call) -> Value:
    """In a function there are none; those of the main graph are bound before."""
    raise call.block("an input inside of a function is not supported")


@tf_operator("PlaceholderWithDefault")
def placeholder_with_default(call: Call) -> Value:
    return call.input(0)


def results_of(model: SourceModel, names: Sequence[str]) -> list[Ref]:
    """All outputs of these nodes that can be told from the file; the first for any other operator."""
    refs: list[Ref] = []
    for name in names:
        if name not in model.graph.nodes:
            raise damaged(model.name, f"the output '{name}' is not there")
        refs.extend(Ref(name, number) for number in range(output_count(model.graph.nodes[name])))
    return refs


_COUNTS = {"TopKV2": 2, "TopK": 2, "Unique": 2, "NonMaxSuppressionV4": 2, "CombinedNonMaxSuppression": 4}
_COUNTS |= {"NonMaxSuppressionV5": 3, "UniqueV2": 2, "ListDiff": 2, "UniqueWithCounts": 3}
_COUNT_ATTRIBUTES = {"Split": "num_split", "SplitV": "num_split", "Unpack": "num"}
_LIST_ATTRIBUTES = dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall"), "Tout")
_LIST_ATTRIBUTES |= {"StatefulPartitionedCall": "Tout", "While": "T", "StatelessWhile": "T", "IdentityN": "T"}


def output_count(node: SourceNode) -> int:
    """How many results a node has whose results nobody reads."""
    if node.operator in _COUNT_ATTRIBUTES:
        return max(1, min(4096, Attributes(node).integer(_COUNT_ATTRIBUTES[node.operator], 1)))
    if node.operator in _LIST_ATTRIBUTES and _LIST_ATTRIBUTES[node.operator] in node.attributes:
        return max(1, len(node.attributes[_LIST_ATTRIBUTES[node.operator]].list.type))
    return _COUNTS.get(node.operator, 1)
