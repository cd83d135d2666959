"""The global layout pass: NCHW graphs become NHWC with as few transpositions as possible."""

from __future__ import annotations

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.passes.context import Context
from mslite.converter.passes.layout.apply import Rewriter
from mslite.converter.passes.layout.boundary import transpose_input, transpose_output
from mslite.converter.passes.layout.layouts import Layouts
from mslite.converter.passes.layout.permutation import channels_last, inverse
from mslite.converter.passes.layout.solve import Solution, spread
from mslite.converter.passes.layout.table import behavior_of


def unify_layout(module: Module, context: Context) -> None:
    """Brings every graph to NHWC and its boundary to the wanted layouts.

    Raises ConversionError when a layout-sensitive operator reads a value of unknown rank.
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
    spread(graph, layouts)
    Rewriter(graph, layouts, Solution(graph, layouts, flipped_inputs, flipped_outputs)).run(flipped_outputs)


def _require_ranks(graph: Graph) -> None:
    blockers = [
        Blocker(node.name, node.op.name, "the rank of its input is not known", "Give the shapes with --inputShape")
        for node in graph.nodes
        if node.inputs and node.inputs[0].shape is None and node.op.declaration.layout == "nhwc"
    ]
    if blockers:
        raise ConversionError("the layout cannot be chosen", blockers, ReturnCode.SHAPE_ERROR)


def _wanted(values: list[Value]) -> set[Value]:
    return {value for value in values if value.rank == 4}


def _flipped_inputs(graph: Graph, context: Context) -> set[Value]:
    """The 4-D inputs that become NHWC: all, unless asked otherwise.

    MindSpore Lite takes a single input whose last dimension is 3 to be NHWC already; so do we where nobody asks for NHWC.
    """
    inputs = _wanted(graph.inputs)
    if context.settings.input_format is Format.NCHW:
        return set()
    if context.settings.input_format is Format.NHWC or len(graph.inputs) > 1:
        return inputs
    for value in [value for value in inputs if value.shape is not None and value.shape[3] == 3]:
        context.note(
            f"input '{value.name}' keeps the source's layout NCHW, because it is 3 wide, as in MindSpore Lite; "
            "--inputDataFormat=NHWC makes it NHWC"
        )
        inputs.remove(value)
    return inputs


def _flip_boundary(graph: Graph, context: Context) -> None:
    """An NHWC graph whose inputs or outputs are wanted as NCHW gets Transposes at its boundary only.

    A `.ms` file may hold some in NCHW already; these stay.
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


__all__ = ["behavior_of", "unify_layout"]
