"""The layout pass: converts NCHW graphs to NHWC with as few transposed elements as possible."""

from __future__ import annotations

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.passes.context import Context
from mslite.converter.passes.layout.apply import Rewriter
from mslite.converter.passes.layout.io_transposes import transpose_input, transpose_output
from mslite.converter.passes.layout.layouts import Layouts
from mslite.converter.passes.layout.permutation import channels_last, inverse
from mslite.converter.passes.layout.solve import Solution, propagate_layouts
from mslite.converter.passes.layout.table import layout_behavior


def unify_layout(module: Module, context: Context) -> None:
    """Converts all graphs to NHWC, and inputs and outputs to the requested layouts.

    Raises ConversionError if an operator that depends on the layout reads a value of unknown rank.
    """
    source = context.settings.source_layout
    for graph in module.graphs:
        is_main = graph is module.main
        if source is Format.NCHW:
            _require_ranks(graph)
            inputs = _flipped_inputs(graph, context) if is_main else set()
            outputs = _wanted(graph.outputs) if is_main and context.settings.output_format is Format.NHWC else set()
            _unify(graph, inputs, outputs)
        elif is_main:
            _flip_boundary(graph, context)
    context.layout = Format.NHWC


def _unify(graph: Graph, flipped_inputs: set[Value], flipped_outputs: set[Value]) -> None:
    layouts = Layouts(graph)
    for value in flipped_inputs | flipped_outputs:
        layouts.suggest(value, channels_last(4))
    propagate_layouts(graph, layouts)
    Rewriter(graph, layouts, Solution(graph, layouts, flipped_inputs, flipped_outputs)).run(flipped_outputs)


def _require_ranks(graph: Graph) -> None:
    blockers = [
        Blocker(node.name, node.op.name, "the rank of its input is unknown", "Give the shapes with --inputShape")
        for node in graph.nodes
        if node.inputs and node.inputs[0].shape is None and node.op.declaration.layout == "nhwc"
    ]
    if blockers:
        raise ConversionError("the layout cannot be determined", blockers, ReturnCode.SHAPE_ERROR)


def _wanted(values: list[Value]) -> set[Value]:
    return {value for value in values if value.rank == 4}


def _flipped_inputs(graph: Graph, context: Context) -> set[Value]:
    """Returns the 4-D inputs that become NHWC: all, unless NCHW is requested.

    MindSpore Lite regards a single input with a last dimension of 3 as NHWC already; mslite does the same unless NHWC
    is requested.
    """
    inputs = _wanted(graph.inputs)
    if context.settings.input_format is Format.NCHW:
        return set()
    if context.settings.input_format is Format.NHWC or len(graph.inputs) > 1:
        return inputs
    for value in [value for value in inputs if value.shape is not None and value.shape[3] == 3]:
        context.note(
            f"input '{value.name}' stays NCHW because its width is 3, as in MindSpore Lite; "
            "--inputDataFormat=NHWC converts it"
        )
        inputs.remove(value)
    return inputs


def _flip_boundary(graph: Graph, context: Context) -> None:
    """Inserts Transposes at inputs and outputs of an NHWC graph if they are requested as NCHW.

    Inputs and outputs of a `.ms` file may already be NCHW; these are not changed.
    """
    to_nchw = inverse(channels_last(4))
    if context.settings.input_format is Format.NCHW:
        for value in list(graph.inputs):
            if value.rank == 4 and value.format is not Format.NCHW:
                transpose_input(graph, value, to_nchw)
    if context.settings.output_format is Format.NCHW:
        for index, value in enumerate(graph.outputs):
            if value.rank == 4 and value.format is not Format.NCHW:
                graph.outputs[index] = transpose_output(graph, value, to_nchw)


__all__ = ["layout_behavior", "unify_layout"]
