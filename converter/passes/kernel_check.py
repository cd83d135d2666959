"""Checks that the runtime has a kernel for every node, so that an unsupported model fails during conversion."""

from __future__ import annotations

import functools

from mslite import _native
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes import native_rules

_REMEDY = (
    "Use other types or shapes for it, or provide a kernel (docs/extending.md); with --optimize=none it is not fused "
    "with others"
)

_EXEMPT = frozenset(
    {"Call", "PartialFusion", "Switch", "SwitchLayer", "Custom", "GenOP", "QuantDTypeCast", "Cast", "Bitcast",
     "ReadVariable", "AssignVariable", "Assert", "Depend"}
)  # fmt: skip
"""Operators that the runtime runs without a kernel, that convert types, or with a kernel of a plug-in."""

_MAX_RANK = 2
"""Largest rank of integer inputs that control a node, such as paddings."""

_SIZES = (1, 8, 64, 512)
"""Sizes that are tried for dynamic dimensions: a kernel that supports the node for one size supports it for others."""


def nodes_without_kernels(module: Module) -> list[Blocker]:
    """Returns the nodes without a portable kernel, for their own types and for wider ones between casts.

    Nodes with inputs of unknown rank, or with computed shapes, axes or paddings, are not checked, nor are gradients and
    optimizers."""
    return [
        Blocker(node.name, node.op.name, f"the runtime has no kernel for {_call(node)}", _REMEDY)
        for graph in module.graphs
        for node in graph.nodes
        if not (node.op.name in _EXEMPT or node.op.name in _quantized_only_operators() or node.op.declaration.training)
        and not _may_have_kernel(node)
    ]


@functools.cache
def _quantized_only_operators() -> frozenset[str]:
    """Returns the operators that exist for quantized tensors only, whose parameters are checked when they are
    created."""
    integers = set(_native.quantized_kernels())
    kernels = [(name, operator) for name, operator, _, _ in _native.kernels()]
    reals = {operator for name, operator in kernels if name not in integers}
    return frozenset(operator for _, operator in kernels if operator not in reals)


def _may_have_kernel(node: Node) -> bool:
    """Returns whether a node may have a kernel. Quantized nodes are checked as float nodes: the runtime can run them
    in float."""
    if any(value.shape is None or _steers(value) for value in node.inputs):
        return True
    types = [_meaning(value) for value in node.outputs]
    is_open = any(size < 0 for value in node.inputs for size in value.shape or ())
    for size in _SIZES if is_open else _SIZES[:1]:
        facts = [_facts(value, size) for value in node.inputs]
        try:
            native_rules.infer(node.op, facts, len(types), SYMBOL_LIMIT - 1)
        except native_rules.NativeRuleError:
            return True
        if native_rules.kernel_types(node.op, facts, types) is not None:
            return True
    return False


def _steers(value: Value) -> bool:
    """Returns whether an input may be a computed shape, axis, size or padding."""
    return (
        value.data is None and value.dtype in (DataType.INT32, DataType.INT64) and len(value.shape or ()) <= _MAX_RANK
    )


def _meaning(value: Value) -> DataType:
    return DataType.FLOAT32 if is_quantized(value) or value.quant else value.dtype


def _facts(value: Value, size: int) -> native_rules.NativeTensorFacts:
    """Returns the description of an input with `size` for its dynamic dimensions."""
    meaning = _meaning(value)
    data = value.data if meaning is value.dtype else None
    return native_rules.NativeTensorFacts(
        meaning, tuple(dim if dim >= 0 else size for dim in value.shape or ()), None, data
    )


def _call(node: Node) -> str:
    operands = ", ".join(_type(value) for value in node.inputs)
    return f"{node.op.name}({operands})"


def _type(value: Value) -> str:
    dims = "?" if value.shape is None else ",".join(str(size) if size >= 0 else "?" for size in value.shape)
    return f"{value.dtype.name.lower()}[{dims}]"
