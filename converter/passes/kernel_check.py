"""Whether the runtime has a kernel for every node: what nobody can run is refused when it is converted, not when it is loaded."""

from __future__ import annotations

import functools

from mslite import _native
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes import native

_REMEDY = (
    "Use other types or shapes for it, or bring a kernel along (docs/extending.md); with --optimize=none it is not fused "
    "with others"
)

_EXEMPT = frozenset(
    {"Call", "PartialFusion", "Switch", "SwitchLayer", "Custom", "GenOP", "QuantDTypeCast", "Cast", "Bitcast",
     "ReadVariable", "AssignVariable", "Assert", "Depend"}
)  # fmt: skip
"""What the runtime itself does, is about types, or an app provides."""

_MOST_RANK = 2
"""Of such contents: paddings have two dimensions."""

_SIZES = (1, 8, 64, 512)
"""Of what is open: a kernel that takes the call in one of them takes it in others."""


def nodes_without_kernels(module: Module) -> list[Blocker]:
    """The nodes that no portable kernel takes, neither in their own types nor in wider ones between casts.

    Nodes whose ranks, or whose steering operands, only running tells are not judged; gradients and optimizers belong to
    training."""
    return [
        Blocker(node.name, node.op.name, f"no kernel of the runtime takes {_call(node)}", _REMEDY)
        for graph in module.graphs
        for node in graph.nodes
        if not (node.op.name in _EXEMPT or node.op.name in _on_integers_alone() or node.op.declaration.training)
        and not _may_have_kernel(node)
    ]


@functools.cache
def _on_integers_alone() -> frozenset[str]:
    """Operators that there are no float values for: their records are judged when they are made."""
    integers = set(_native.quantized_kernels())
    kernels = [(name, operator) for name, operator, _, _ in _native.kernels()]
    reals = {operator for name, operator in kernels if name not in integers}
    return frozenset(operator for _, operator in kernels if operator not in reals)


def _may_have_kernel(node: Node) -> bool:
    """Nodes on stored integers are judged as those on float values: the runtime computes them in these where it has to."""
    if any(value.shape is None or _steers(value) for value in node.inputs):
        return True
    types = [_meaning(value) for value in node.outputs]
    is_open = any(size < 0 for value in node.inputs for size in value.shape or ())
    for size in _SIZES if is_open else _SIZES[:1]:
        facts = [_facts(value, size) for value in node.inputs]
        try:
            native.infer(node.op, facts, len(types), SYMBOL_LIMIT - 1)
        except native.RuleError:
            return True
        if native.kernel_types(node.op, facts, types) is not None:
            return True
    return False


def _steers(value: Value) -> bool:
    """Whether contents that are not known yet may say what the node does: shapes, axes, sizes, paddings."""
    return (
        value.data is None and value.dtype in (DataType.INT32, DataType.INT64) and len(value.shape or ()) <= _MOST_RANK
    )


def _meaning(value: Value) -> DataType:
    return DataType.FLOAT32 if is_quantized(value) or value.quant else value.dtype


def _facts(value: Value, size: int) -> native.Facts:
    """What is known of an operand when what is open is `size`."""
    meaning = _meaning(value)
    data = value.data if meaning is value.dtype else None
    return native.Facts(meaning, tuple(dim if dim >= 0 else size for dim in value.shape or ()), None, data)


def _call(node: Node) -> str:
    operands = ", ".join(_type(value) for value in node.inputs)
    return f"{node.op.name}({operands})"


def _type(value: Value) -> str:
    dims = "?" if value.shape is None else ",".join(str(size) if size >= 0 else "?" for size in value.shape)
    return f"{value.dtype.name.lower()}[{dims}]"
