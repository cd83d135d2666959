"""Type and shape inference over a whole module, by the C shape rules. Unknown sizes are symbols."""

from __future__ import annotations

from collections.abc import Callable

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch, SwitchLayer
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.passes import native
from mslite.converter.passes.context import Context
from mslite.converter.passes.layout.permutation import Perm, channels_last, inverse, permuted
from mslite.converter.passes.layout.table import is_channels_last_only

_CLOSURES = (PartialFusion, Switch, SwitchLayer)


def freeze_inputs(module: Module, context: Context) -> None:
    """Gives the main graph's inputs the shapes of `--inputShape`.

    Raises ConversionError for a name that is no input, or a shape that contradicts the model.
    """
    wanted = dict(context.settings.input_shapes)
    for value in module.main.inputs:
        shape = wanted.pop(value.name, None)
        if shape is None:
            continue
        if value.shape is not None and len(value.shape) != len(shape):
            raise ConversionError(
                f"--inputShape: input '{value.name}' has {len(value.shape)} dimensions, {len(shape)} were given",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        for axis, (have, want) in enumerate(zip(value.shape or shape, shape, strict=True)):
            if have >= 0 and have != want and axis > 0 and not _may_change(value):
                context.note(f"input '{value.name}': dimension {axis} changes from {have} to {want}")
        value.shape = shape
    if wanted:
        names = ", ".join(f"'{value.name}'" for value in module.main.inputs)
        raise ConversionError(
            f"--inputShape names '{next(iter(wanted))}', which is no input of the model; its inputs are {names}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )


def _may_change(value: Value) -> bool:
    return value.shape is None or any(size < 0 for size in value.shape)


def infer_shapes(module: Module, context: Context) -> None:
    """Fills type and shape of every value. Raises ConversionError with one blocker per node that has no answer."""
    blockers: list[Blocker] = []
    for graph in reversed(module.graphs):
        for value in graph.inputs:
            if value.shape is not None and any(-(1 << 40) < size < 0 for size in value.shape):
                value.shape = tuple(size if size >= 0 else context.new_symbol() for size in value.shape)
        failed: set[Value] = set()
        for node in graph.nodes:
            if any(value in failed for value in node.inputs):
                failed.update(node.outputs)
                continue
            blocker = _infer_node(module, node, context)
            if blocker is not None:
                blockers.append(blocker)
                failed.update(node.outputs)
    if blockers:
        raise ConversionError("shapes cannot be inferred", blockers, ReturnCode.SHAPE_ERROR)


def _infer_node(module: Module, node: Node, context: Context) -> Blocker | None:
    if isinstance(node.op, _CLOSURES):
        return None
    if isinstance(node.op, Call):
        return _infer_call(module, node)
    facts = [
        native.Facts(value.dtype, value.shape, context.known.get(value), value.data, value.quant)
        for value in node.inputs
    ]
    channels_first = context.layout is Format.NCHW and is_channels_last_only(node)
    if channels_first:
        facts[0] = _permuted(facts[0], channels_last)
    try:
        results, context.next_symbol = native.infer(node.op, facts, len(node.outputs), context.next_symbol)
    except native.RuleError as error:
        remedy = "Check the model, or give its input shapes with --inputShape"
        if error.missing:
            remedy = f"{node.op.name} is not complete in this version"
        return Blocker(node.name, node.source.partition(" '")[0] or node.op.name, str(error), remedy)
    if channels_first:
        results[0] = _permuted(results[0], lambda rank: inverse(channels_last(rank)))
    for value, result in zip(node.outputs, results, strict=True):
        value.dtype, value.shape = result.dtype, result.shape
        if result.known is not None:
            context.known[value] = result.known
        else:
            context.known.pop(value, None)
    return None


def _permuted(facts: native.Facts, order: Callable[[int], Perm]) -> native.Facts:
    """The same tensor, only its shape, with its dimensions in another order."""
    if facts.shape is None or len(facts.shape) < 3:
        return facts
    return native.Facts(facts.dtype, permuted(facts.shape, order(len(facts.shape))), quant=facts.quant)


def _callee(closure: Value) -> int | None:
    """The sub-graph that a closure runs; of a Switch the last branch, as all agree in their results."""
    node = closure.producer
    while node is not None and not isinstance(node.op, PartialFusion):
        node = node.inputs[-1].producer
    return node.op.sub_graph_index if node is not None and isinstance(node.op, PartialFusion) else None


def _infer_call(module: Module, node: Node) -> Blocker | None:
    index = _callee(node.inputs[0])
    if index is None or not 0 <= index < len(module.graphs):
        return Blocker(node.name, "Call", "it calls a sub-graph that is not there", "Export the model again")
    graph: Graph = module.graphs[index]
    for value, result in zip(node.outputs, graph.outputs, strict=False):
        value.dtype = result.dtype
        if value.shape is None:
            value.shape = result.shape
    return None
