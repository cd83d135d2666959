"""Checks of 2.7's loader. The table lists the rules by name; `file_rules.py` has the others."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType

from .file_rules import Found, file_rule, known_indices, length, name_of
from .view import View

_LISTS = ("TensorListFromTensor", "TensorListGetItem", "TensorListReserve", "TensorListSetItem", "TensorListStack")


@file_rule
def graph_outputs_are_made(view: View) -> Found:
    """An output of a subgraph is the output of one of its nodes, an input, or a constant with data."""
    for each in view.graphs:
        made = {index for node in each.nodes for index in node.node.outputIndex or ()}
        for index in known_indices(view, each.graph.outputIndices):
            stored = length(view.tensors[index]) or view.tensors[index].externalData
            if index not in made and index not in (each.graph.inputIndices or ()) and not stored:
                yield name_of(view, index), "nothing makes this output"


@file_rule
def graph_outputs_are_no_inputs(view: View) -> Found:
    """The outputs are not the same list as the inputs."""
    if view.meta.inputIndex and view.meta.inputIndex == view.meta.outputIndex:
        yield "model", "its outputs are its inputs"


@file_rule
def ends_belong_to_graphs(view: View) -> Found:
    """Inputs and outputs of the model are inputs and outputs of subgraphs."""
    starts = {index for each in view.graphs for index in each.graph.inputIndices or ()}
    ends = {index for each in view.graphs for index in each.graph.outputIndices or ()}
    for what, indices, known in (("input", view.meta.inputIndex, starts), ("output", view.meta.outputIndex, ends)):
        for index in known_indices(view, indices):
            if index not in known:
                yield name_of(view, index), f"no subgraph has this {what}"


@file_rule
def one_output_is_the_only_one(view: View) -> Found:
    """If the model has one output, the main graph has one."""
    count = len(view.graphs[0].graph.outputIndices or ()) if view.graphs else 0
    if len(view.meta.outputIndex or ()) == 1 and count != 1:
        yield "model", f"it has one output, its main graph {count}"


@file_rule
def fed_types_are_numbers(view: View) -> Found:
    """Inputs of the model have numeric or string data types."""
    for index in known_indices(view, view.meta.inputIndex):
        kind = view.tensors[index].dataType
        if not DataType.BOOL <= kind <= DataType.COMPLEX128 and kind != DataType.STRING:
            yield name_of(view, index), f"an input is of type {kind}"


@file_rule
def outputs_of_a_node_differ(view: View) -> Found:
    """No tensor is written by two nodes."""
    for node in view.nodes:
        indices = node.node.outputIndex or ()
        if len(set(indices)) < len(indices):
            yield node.name, "it writes a tensor twice"


@file_rule
def partial_is_of_another_graph(view: View) -> Found:
    """No PartialFusion is in the subgraph that it calls."""
    for each in view.graphs:
        for node in each.nodes:
            if view.target(node) is each.graph:
                yield node.name, "it calls its own graph"


@file_rule
def lists_stay_among_list_nodes(view: View) -> Found:
    """Only operators on lists, and PartialFusion, read and write lists."""
    for node in view.nodes:
        if node.operator not in (*_LISTS, "PartialFusion"):
            for operand in (*node.inputs, *node.outputs):
                if operand.dtype is DataType.TENSOR_LIST:
                    yield node.name, f"{operand.name} is a list"
