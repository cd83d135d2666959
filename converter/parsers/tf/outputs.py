"""Finds the outputs of the main graph: nodes without readers that are results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .attributes import Attributes
from .functions import PASSING
from .model import Ref, SourceModel, SourceNode, damaged
from .name_order import in_numbered_order
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
"""Operators that are not outputs of a model, although no node reads them."""

_BETWEEN = frozenset(
    ["Enter", "LoopCond", "NextIteration", "RefEnter", "RefNextIteration", "RefSwitch", "Switch", "_SwitchN"]
)
"""Operators of TensorFlow 1 control flow that may have no readers."""

_PREDICATE = "pred_id"
"""Name of the condition's copy in tf.cond of TensorFlow 1, which may have no readers."""

_FUNCTION_RESULT = re.compile(r"Identity(_\d+)?")
"""Names of the results of a function; Identity nodes of constants with other names are unused variables."""


def output_names(model: SourceModel) -> list[str]:
    """Returns the nodes without readers, sorted by the numbers in their names, else in the order of the file.

    Raises ConversionError if there are none.

    Nodes with only side effects (assertions, summaries), constants, and operators of control flow are not outputs.
    Nodes that are control inputs, and unused loop variables, are only outputs if there are no others.
    """
    nodes = model.graph.nodes
    read = {ref.node for node in nodes.values() for ref in node.inputs}
    waited_for = {name for node in nodes.values() for name in node.controls if node.operator not in _EFFECTS}
    candidates = [node for node in nodes.values() if node.name not in read and _may_be_output(node, nodes)]
    useful = [node for node in candidates if node.name not in waited_for and node.operator not in ("Exit", "RefExit")]
    outputs = [node.name for node in useful or candidates]
    if not outputs:
        raise damaged(model.name, "the graph has no outputs: all nodes are read by other nodes")
    return in_numbered_order(outputs)


def _may_be_output(node: SourceNode, nodes: Mapping[str, SourceNode]) -> bool:
    if node.operator in _EFFECTS or node.operator in _BETWEEN or _is_text(node):
        return False
    if node.operator not in PASSING or not node.inputs or _FUNCTION_RESULT.fullmatch(node.name):
        return True
    if nodes[node.inputs[0].node].operator in _BETWEEN or node.name.rpartition("/")[2] == _PREDICATE:
        return False
    return source_of(node, nodes).operator != "Const"


def _is_text(node: SourceNode) -> bool:
    """Returns whether a node has strings, such as file names, which are left after a model is saved."""
    return any(node.attributes[name].type == STRING for name in ("T", "dtype") if name in node.attributes)


def source_of(node: SourceNode, nodes: Mapping[str, SourceNode]) -> SourceNode:
    """Returns the node that computes the value, before nodes that pass it on."""
    seen: set[str] = set()
    while node.operator in PASSING and node.inputs and node.name not in seen:
        seen.add(node.name)
        node = nodes[node.inputs[0].node]
    return node


def results_of(model: SourceModel, names: Sequence[str]) -> list[Ref]:
    """Returns all outputs of these nodes, as far as the file has their number; else the first. Raises
    ConversionError."""
    refs: list[Ref] = []
    for name in names:
        if name not in model.graph.nodes:
            raise damaged(model.name, f"the output '{name}' does not exist")
        refs.extend(Ref(name, number) for number in range(output_count(model.graph.nodes[name])))
    return refs


_COUNTS = {"TopKV2": 2, "TopK": 2, "Unique": 2, "NonMaxSuppressionV4": 2, "CombinedNonMaxSuppression": 4}
_COUNTS |= {"NonMaxSuppressionV5": 3, "UniqueV2": 2, "ListDiff": 2, "UniqueWithCounts": 3}
_COUNT_ATTRIBUTES = {"Split": "num_split", "SplitV": "num_split", "Unpack": "num"}
_LIST_ATTRIBUTES = dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall"), "Tout")
_LIST_ATTRIBUTES |= {"StatefulPartitionedCall": "Tout", "While": "T", "StatelessWhile": "T", "IdentityN": "T"}


def output_count(node: SourceNode) -> int:
    """Returns the number of results of a node without readers."""
    if node.operator in _COUNT_ATTRIBUTES:
        return max(1, min(4096, Attributes(node).integer(_COUNT_ATTRIBUTES[node.operator], 1)))
    if node.operator in _LIST_ATTRIBUTES and _LIST_ATTRIBUTES[node.operator] in node.attributes:
        return max(1, len(node.attributes[_LIST_ATTRIBUTES[node.operator]].list.type))
    return _COUNTS.get(node.operator, 1)
