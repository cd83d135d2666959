"""Finds operators of a SavedModel that access files, processes or the network. Loading a model may run them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mslite.converter.errors import Blocker
from mslite.converter.parsers.protobuf import Message

_ALWAYS = re.compile(
    r"(Eager)?PyFunc\w*|ReadFile|WriteFile|MatchingFiles|DebugIdentity\w*|DebugNumericSummary\w*|CreateSummary(File|Db)Writer"
    r"|LoadLibrary|LoadDataset\w*|SaveDataset\w*|\w*(Line|TFRecord|FixedLength|LMDB|Sql|CSV|WholeFile)\w*(Dataset|Reader)\w*"
    r"|Snapshot\w*Dataset\w*|DistributedSave|(Try)?Rpc\w*|Grpc\w*|DataService\w*|RegisterDataset\w*|XlaHostCompute|TRTEngineOp"
    r"|\w*TRTResource\w*|GenerateVocabRemapping|LoadAndRemapMatrix"
)
_WRITES = frozenset({"Save", "SaveV2", "SaveSlices", "MergeV2Checkpoints"})
"""All SavedModels have these operators, in functions and nodes that only run when the model is saved."""

_REASON = "it reads or writes files, or runs code, when the model is loaded"
_REMEDY = "Export the model without it, or freeze it to a GraphDef (.pb) yourself"
_INITIALIZERS = ("__saved_model_init_op", "saved_model_main_op", "legacy_init_op", "saved_model_init_op")


def unsafe_operators(saved_model: Message) -> list[Blocker]:
    """Returns a blocker for each node of a SavedModel that must not run when the model is loaded."""
    found: list[Blocker] = []
    for meta in saved_model.meta_graphs:
        graph = meta.graph_def
        functions = {function.signature.name: function for function in graph.library.function}
        at_loading = _behind(graph.node, _initializers(meta))
        called = {name for function in functions.values() for node in function.node_def for name in _calls(node)}
        called.update(name for node in graph.node if node.name in at_loading for name in _calls(node))
        for node in graph.node:
            if _reaches_out(node) or (node.op in _WRITES and node.name in at_loading):
                found.append(Blocker(node.name, node.op, _REASON, _REMEDY))
        for name, function in functions.items():
            saves = name.startswith("__inference__traced_save") and name not in called
            found.extend(
                Blocker(f"{name}/{node.name}", node.op, _REASON, _REMEDY)
                for node in function.node_def
                if _reaches_out(node) or (node.op in _WRITES and not saves)
            )
    return found


def unsafe_to_run(graph: Message) -> list[Blocker]:
    """Returns a blocker for each node of a GraphDef that must not run."""
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    wrong = [node for node in nodes if _reaches_out(node) or node.op in _WRITES]
    return [Blocker(node.name, node.op, "it reads or writes files, or runs code", _REMEDY) for node in wrong]


def _reaches_out(node: Message) -> bool:
    """Returns whether a node accesses files, processes or the network; printing does if it prints to a file."""
    if node.op == "PrintV2":
        return any(entry.key == "output_stream" and entry.value.s.startswith(b"file:") for entry in node.attr)
    return _ALWAYS.fullmatch(node.op) is not None


def _calls(node: Message) -> Iterator[str]:
    """Yields the names of the functions that a node calls."""
    yield node.op
    for entry in node.attr:
        yield entry.value.func.name
        yield from (function.name for function in entry.value.list.func)


def _initializers(meta: Message) -> set[str]:
    """Returns the nodes that run when the model is loaded."""
    names: set[str] = set()
    for entry in meta.collection_def:
        if entry.key in _INITIALIZERS:
            names.update(entry.value.node_list.value)
    for entry in meta.signature_def:
        if entry.key in _INITIALIZERS:
            names.update(output.value.name for output in entry.value.outputs)
    return {name.partition(":")[0] for name in names}


def _behind(nodes: Iterable[Message], wanted: set[str]) -> set[str]:
    """Returns the nodes with these names, and all nodes that they depend on."""
    reads = {node.name: [name.lstrip("^").partition(":")[0] for name in node.input] for node in nodes}
    work, seen = list(wanted), set[str]()
    while work:
        name = work.pop()
        if name not in seen:
            seen.add(name)
            work.extend(reads.get(name, ()))
    return seen
