"""What leaves the main graph: the nodes that nobody reads and that are results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .attributes import Attributes
from .functions import PASSING
from .model import Ref, SourceModel, SourceNode, damaged
from .numbering import in_numbered_order
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

_BETWEEN = frozenset(
    ["Enter", "LoopCond", "NextIteration", "RefEnter", "RefNextIteration", "RefSwitch", "Switch", "_SwitchN"]
)
"""Parts of TensorFlow 1 control flow that may be left without a reader."""

_PREDICATE = "pred_id"
"""How tf.cond of TensorFlow 1 calls its copy of the condition, which may be left without a reader."""

_FUNCTION_RESULT = re.compile(r"Identity(_\d+)?")
"""The names of the results of a function; variables that nobody needs are left as other Identity nodes of constants."""


def output_names(model: SourceModel) -> list[str]:
    """The nodes that nobody reads, by number if they have numbers, else in the file's order.

    Raises ConversionError when there are none.

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
    """Names of files and the like, which saving a model leaves behind."""
    return any(node.attributes[name].type == STRING for name in ("T", "dtype") if name in node.attributes)


def source_of(node: SourceNode, nodes: Mapping[str, SourceNode]) -> SourceNode:
    """The node whose value reaches this one unchanged."""
    seen: set[str] = set()
    while node.operator in PASSING and node.inputs and node.name not in seen:
        seen.add(node.name)
        node = nodes[node.inputs[0].node]
    return node


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
