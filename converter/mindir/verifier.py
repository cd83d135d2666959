"""Verifies modules. Runs after each pass with MSLITE_VERIFY=1, and before a file is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .graph import Graph, Module, Node, Value, is_symbol, numpy_type
from .ops.control_flow import PartialFusion
from .ops.enums import DataType

MAX_RANK = 8


class VerificationError(Exception):
    """An invalid module; `violations` lists all violations."""

    def __init__(self, violations: list[str], stage: str = "") -> None:
        where = f" after {stage}" if stage else ""
        super().__init__("\n".join([f"the graph is not valid{where}:", *(f"  {line}" for line in violations)]))
        self.violations = tuple(violations)


def verify(module: Module, stage: str = "") -> None:
    """Verifies a module. Raises VerificationError with all violations; `stage` is the name of the last pass."""
    violations = list(_violations(module))
    if violations:
        raise VerificationError(violations, stage)


def _violations(module: Module) -> Iterator[str]:
    if not module.graphs:
        yield "the module has no graph"
        return
    if not module.main.outputs:
        yield "the main graph has no output"
    yield from _use_links(module)
    node_names = Counter(node.name for graph in module.graphs for node in graph.nodes)
    yield from (f"{number} nodes are named '{name}'" for name, number in node_names.items() if number > 1)
    for index, graph in enumerate(module.graphs):
        where = f"graph '{graph.name}': "
        yield from (where + text for text in _graph(graph))
        for node in graph.nodes:
            yield from (f"{where}{node.op.name} '{node.name}': {text}" for text in _operands(node))
            if isinstance(node.op, PartialFusion):
                target = node.op.sub_graph_index
                if not 0 <= target < len(module.graphs):
                    yield f"{where}PartialFusion '{node.name}' calls graph {target} of {len(module.graphs)}"
                elif target == index:
                    yield f"{where}PartialFusion '{node.name}' calls its own graph"


def _use_links(module: Module) -> Iterator[str]:
    """Yields differences between the inputs of nodes and the users of values."""
    nodes = {id(node): node for graph in module.graphs for node in graph.nodes}
    uses = Counter((id(value), id(node)) for node in nodes.values() for value in node.inputs)
    values = {id(value): value for graph in module.graphs for value in graph.values()}
    recorded: Counter[tuple[int, int]] = Counter()
    for value in values.values():
        for node in value.users:
            recorded[id(value), id(node)] += 1
            if id(node) not in nodes:
                yield f"value '{value.name}' has the user '{node.name}', which is in no graph"
        if value.producer is not None:
            if id(value.producer) not in nodes:
                yield f"value '{value.name}' is produced by '{value.producer.name}', which is in no graph"
            elif all(output is not value for output in value.producer.outputs):
                yield f"value '{value.name}' names '{value.producer.name}' as its producer, which does not produce it"
    for value_id, node_id in uses.keys() | {key for key in recorded if key[1] in nodes}:
        if uses[value_id, node_id] != recorded[value_id, node_id]:
            yield (
                f"node '{nodes[node_id].name}' reads value '{values[value_id].name}' {uses[value_id, node_id]} times, "
                f"recorded are {recorded[value_id, node_id]}"
            )


def _graph(graph: Graph) -> Iterator[str]:
    names = Counter(value.name for value in graph.values())
    yield from (f"{number} values are named '{name}'" for name, number in names.items() if number > 1)
    available = {id(value) for value in graph.inputs}
    if len(available) < len(graph.inputs):
        yield "the same value is an input twice"
    for value in graph.inputs:
        if value.producer is not None:
            yield f"input '{value.name}' is produced by '{value.producer.name}'"
        if value.data is not None:
            yield f"input '{value.name}' is a constant"
        if value.dtype == DataType.UNKNOWN:
            yield f"input '{value.name}' has no element type"
    for node in graph.nodes:
        for value in node.inputs:
            if not value.is_constant and id(value) not in available:
                yield f"{node.op.name} '{node.name}' reads '{value.name}', which is not produced before it"
        for value in node.outputs:
            if value.producer is not node:
                yield f"output '{value.name}' of '{node.name}' does not name it as its producer"
            if id(value) in available:
                yield f"value '{value.name}' is produced twice or is a graph input, again by '{node.name}'"
            if value.data is not None:
                yield f"output '{value.name}' of '{node.name}' is a constant"
            available.add(id(value))
    for value in graph.outputs:
        if not value.is_constant and id(value) not in available:
            yield f"output '{value.name}' is not produced"
    for value in graph.values():
        yield from (f"value '{value.name}': {text}" for text in _value(value))


def _value(value: Value) -> Iterator[str]:
    if value.shape is not None:
        if len(value.shape) > MAX_RANK:
            yield f"it has {len(value.shape)} dimensions; at most {MAX_RANK} are allowed"
        for dim in value.shape:
            if dim < 0 and not is_symbol(dim):
                yield f"dimension {dim} is neither a size nor a symbol"
    if value.data is None:
        return
    if value.raw is not None:
        yield "it has both an array and stored bytes"
    if value.data.shape != value.shape:
        yield f"its array has the shape {value.data.shape}, not {value.shape}"
    try:
        expected = numpy_type(value.dtype)
    except ValueError:
        yield f"it has an array, which {value.dtype.name} cannot have"
        return
    if value.data.dtype.newbyteorder("=") != expected:
        yield f"its array has the type {value.data.dtype}, not {expected}"


def _operands(node: Node) -> Iterator[str]:
    declaration = node.op.declaration
    for kind, values, operands in (
        ("inputs", node.inputs, declaration.inputs),
        ("outputs", node.outputs, declaration.outputs),
    ):
        least = sum(not operand.optional and not operand.repeated for operand in operands)
        most = None if any(operand.repeated for operand in operands) else len(operands)
        if len(values) < least or (most is not None and len(values) > most):
            bounds = f"at least {least}" if most is None else str(least) if most == least else f"{least} to {most}"
            yield f"it has {len(values)} {kind}; {bounds} are declared"
    if len({id(value) for value in node.outputs}) < len(node.outputs):
        yield "the same value is an output twice"
