"""Infers data types and shapes of a module with the C shape rules. Dynamic dimensions are symbols (negative
numbers)."""

from __future__ import annotations

from collections.abc import Callable

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, Node, Value, is_symbol
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch, SwitchLayer
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.quantized import NARROW, is_quantized
from mslite.converter.mindir.stand_in import is_stand_in
from mslite.converter.passes import native_rules
from mslite.converter.passes.context import Context
from mslite.converter.passes.custom_shapes import infer_custom
from mslite.converter.passes.layout.permutation import Perm, channels_last, inverse, permuted
from mslite.converter.passes.layout.table import is_channels_last_only
from mslite.converter.unexpected_errors import unexpected_errors_at_node

_CLOSURES = (PartialFusion, Switch, SwitchLayer)
_MAX_ROUNDS = 4


def infer_shapes(module: Module, context: Context) -> None:
    """Sets data type and shape of all values. Raises ConversionError with one blocker for each node that fails."""
    for graph in module.graphs:
        for value in graph.inputs:
            if value.shape is not None and any(SYMBOL_LIMIT < size < 0 for size in value.shape):
                value.shape = tuple(size if size >= 0 else context.new_symbol() for size in value.shape)
    for _ in range(_MAX_ROUNDS):
        inference = _Inference(module, context)
        for index in range(len(module.graphs)):
            inference.graph(index)
        if not inference.widened:
            break
    if inference.blockers:
        raise ConversionError("shapes cannot be inferred", inference.blockers, ReturnCode.SHAPE_ERROR)


class _Inference:
    """One pass over all graphs; subgraphs are visited when they are called."""

    def __init__(self, module: Module, context: Context) -> None:
        self._module = module
        self._context = context
        self._started: set[int] = set()
        self.blockers: list[Blocker] = []
        self.widened = False
        """Whether a subgraph is called with other shapes than assumed, so that dimensions of its inputs became
        dynamic."""

    def graph(self, index: int) -> None:
        if index in self._started:
            return
        self._started.add(index)
        graph = self._module.graphs[index]
        told = set(graph.inputs)
        for node in graph.nodes:
            if is_stand_in(node):  # an unsupported node: the source may declare its output shapes
                told.update(value for value in node.outputs if value.shape is not None)
                continue
            if not all(value in told or value.is_constant for value in node.inputs):
                continue
            blocker = self._node(node)
            if blocker is None:
                told.update(node.outputs)
            else:
                self.blockers.append(blocker)

    def _node(self, node: Node) -> Blocker | None:
        if isinstance(node.op, PartialFusion):
            return self._bind(node, node.op.sub_graph_index)
        if isinstance(node.op, _CLOSURES):
            return None
        if isinstance(node.op, Call):
            return self._call(node)
        with unexpected_errors_at_node(node.name, node.source.partition(" '")[0] or node.op.name):
            return infer_node(node, self._context)

    def _bind(self, node: Node, index: int) -> Blocker | None:
        """Gives the subgraph's inputs the types and shapes of the arguments; dimensions that differ between calls
        become symbols."""
        if not 0 <= index < len(self._module.graphs) or len(self._module.graphs[index].inputs) != len(node.inputs):
            return Blocker(
                node.name, "PartialFusion", "its subgraph does not exist or has other inputs", "Export the model again"
            )
        for argument, value in zip(node.inputs, self._module.graphs[index].inputs, strict=True):
            if value.dtype is DataType.UNKNOWN:
                value.dtype = argument.dtype
            if value.shape is None:
                if value not in self._context.inputs_of_unknown_rank:
                    value.shape = argument.shape
            elif argument in self._context.inputs_of_unknown_rank or (
                argument.shape is not None and len(argument.shape) != len(value.shape)
            ):
                self._context.inputs_of_unknown_rank.add(value)
                value.shape = None
                self.widened = True
            elif argument.shape is not None:
                merged = tuple(
                    mine if mine == theirs or is_symbol(mine) else self._context.new_symbol()
                    for mine, theirs in zip(value.shape, argument.shape, strict=True)
                )
                self.widened |= merged != value.shape
                value.shape = merged
        return None

    def _call(self, node: Node) -> Blocker | None:
        callees = _callees(node.inputs[0])
        if not callees or any(not 0 <= index < len(self._module.graphs) for index in callees):
            return Blocker(node.name, "Call", "it calls a subgraph that does not exist", "Export the model again")
        for index in callees:
            self.graph(index)
        for position, value in enumerate(node.outputs):
            results = [
                self._module.graphs[i].outputs[position]
                for i in callees
                if position < len(self._module.graphs[i].outputs)
            ]
            known = [result for result in results if result.dtype is not DataType.UNKNOWN]
            if known:
                value.dtype = known[0].dtype
            shapes = [result.shape for result in known if result.shape is not None]
            if any(result in self._context.inputs_of_unknown_rank for result in results):
                self.widened |= value.shape is not None
                self._context.inputs_of_unknown_rank.add(value)
                value.shape = None
            elif shapes and all(len(shape) == len(shapes[0]) for shape in shapes):
                value.shape = tuple(
                    sizes[0] if len(set(sizes)) == 1 else self._context.new_symbol()
                    for sizes in zip(*shapes, strict=True)
                )
        return None


def _callees(closure: Value) -> list[int]:
    """Returns the indices of the subgraphs that a closure may run."""
    node = closure.producer
    if node is None:
        return []
    if isinstance(node.op, PartialFusion):
        return [node.op.sub_graph_index]
    return [index for value in node.inputs[1:] for index in _callees(value)]


def infer_node(node: Node, context: Context) -> Blocker | None:
    """Sets data type and shape of a node's outputs with the shape rules. Returns a blocker if the node is invalid,
    else None."""
    if isinstance(node.op, Custom):
        return infer_custom(node, context)
    on_integers = node.quant_type is QuantType.QUANT_ALL
    facts = [
        native_rules.NativeTensorFacts(DataType.FLOAT32, value.shape)
        if _stands_for_reals(value, node.quant_type)
        else native_rules.NativeTensorFacts(value.dtype, value.shape, context.known.get(value), value.data, value.quant)
        for value in node.inputs
    ]
    channels_first = context.layout is Format.NCHW and is_channels_last_only(node)
    if channels_first:
        facts[0] = _permuted(facts[0], channels_last)
    try:
        results, context.next_symbol = native_rules.infer(node.op, facts, len(node.outputs), context.next_symbol)
    except native_rules.NativeRuleError as error:
        remedy = "Check the model, or give its input shapes with --inputShape"
        if error.missing:
            remedy = f"this form of {node.op.name} is not supported in this version"
        return Blocker(node.name, node.source.partition(" '")[0] or node.op.name, str(error), remedy)
    if channels_first:
        results[0] = _permuted(results[0], lambda rank: inverse(channels_last(rank)))
    for value, result in zip(node.outputs, results, strict=True):
        value.shape = result.shape
        if not (on_integers and is_quantized(value)):
            value.dtype = result.dtype
        if result.known is not None:
            context.known[value] = result.known
        else:
            context.known.pop(value, None)
    return None


def _stands_for_reals(value: Value, kind: QuantType) -> bool:
    """Returns whether a node of this kind reads the stored integers of an input as float values."""
    if kind is QuantType.QUANT_DYNAMIC:
        return value.dtype in NARROW
    return bool(value.quant) and (kind is QuantType.QUANT_ALL or (kind is QuantType.QUANT_WEIGHT and value.is_constant))


def _permuted(facts: native_rules.NativeTensorFacts, order: Callable[[int], Perm]) -> native_rules.NativeTensorFacts:
    """Returns the type and shape of a tensor with its dimensions in another order."""
    if facts.shape is None or len(facts.shape) < 3:
        return facts
    return native_rules.NativeTensorFacts(
        facts.dtype, permuted(facts.shape, order(len(facts.shape))), quant=facts.quant
    )
