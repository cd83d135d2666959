"""Small branches, loops and scans."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, ValueInfoProto, helper, numpy_helper

from ..builder import Builder
from ..evaluate import Rejected
from ..values import Value
from .elementwise import np_element
from .registry import operator

_STEPS = ("Tanh", "Relu", "Neg", "Abs", "Sigmoid", "Identity")


def chain(g: Builder, first: str, last: str, prefix: str, other: str | None = None) -> list[NodeProto]:
    """Chains a few functions from the name `first` to the name `last`."""
    nodes, name = [], first
    for index in range(g.integer(0, 2)):
        result = f"{prefix}_{index}"
        if other and g.maybe(3):
            nodes.append(helper.make_node(g.choose(("Add", "Sub", "Max")), [name, other], [result]))
        else:
            nodes.append(helper.make_node(g.choose(_STEPS), [name], [result]))
        name = result
    return [*nodes, helper.make_node("Identity", [name], [last])]


def info(name: str, dtype: str, shape: tuple[int | None, ...] | None = None) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, np_element(dtype), shape)


def branch(g: Builder, x: Value, prefix: str, other: str | None) -> GraphProto:
    result = f"{prefix}_out"
    return helper.make_graph(chain(g, x.name, result, prefix, other), prefix, [], [info(result, x.dtype)])


@operator("If")
def condition(g: Builder, name: str) -> None:
    x = g.pick(("float32",))
    if g.maybe():
        test = g.operand("bool", ())
    else:
        test = g.node("Greater", g.node("ReduceSum", x, keepdims=0), g.constant(g.choose((0.0, 1.0)), "float32"))
    tag = f"if{len(g.nodes)}"
    other = g.choose([v.name for v in g.values if v.dtype == x.dtype and v.shape == x.shape])
    g.node(name, test, then_branch=branch(g, x, f"{tag}_then", other), else_branch=branch(g, x, f"{tag}_else", None))


@operator("Loop")
def loop(g: Builder, name: str) -> None:
    x = g.pick(("float32", "int32", "int64"), where=lambda v: v.size < 500)
    tag = f"loop{len(g.nodes)}"
    step = numpy_helper.from_array(np.asarray(g.choose((1, 2)), x.dtype), f"{tag}_step")
    outer = g.choose([None, *(v.name for v in g.values if v.dtype == x.dtype and v.shape in ((), x.shape))])
    nodes = [
        helper.make_node("Identity", [f"{tag}_go"], [f"{tag}_still"]),
        helper.make_node(g.choose(("Add", "Sub", "Max")), [f"{tag}_x", f"{tag}_step"], [f"{tag}_sum"]),
        helper.make_node("Add", [f"{tag}_sum", outer], [f"{tag}_y"])
        if outer
        else helper.make_node("Neg", [f"{tag}_sum"], [f"{tag}_y"]),
    ]
    # Without shapes in the body, the rank of the carried value is unknown.
    shape = tuple(size if x.fixed(axis) else None for axis, size in enumerate(x.shape))
    carried = [info(f"{tag}_still", "bool", ()), info(f"{tag}_y", x.dtype, shape)]
    scanned = g.maybe()
    if scanned:
        nodes.append(helper.make_node("Identity", [f"{tag}_sum"], [f"{tag}_each"]))
        carried.append(info(f"{tag}_each", x.dtype, shape))
    inputs = [info(f"{tag}_i", "int64", ()), info(f"{tag}_go", "bool", ()), info(f"{tag}_x", x.dtype, shape)]
    body = helper.make_graph(nodes, tag, inputs, carried, [step])
    count = g.operand("int64", (), 1, 4)
    go = g.constant(True, "bool") if g.maybe() else None
    g.nodes_results(name, count, go, x, outputs=2 if scanned else 1, body=body)


@operator("Scan")
def scan(g: Builder, name: str) -> None:
    x = g.pick(("float32",), 1, 4, where=lambda v: 0 < v.size < 500)
    if not x.fixed_shape:
        raise Rejected("open sizes")
    axis = g.integer(0, x.rank - 1)
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    state = g.operand("float32", rest)
    tag = f"scan{len(g.nodes)}"
    nodes = [
        helper.make_node("Add", [f"{tag}_s", f"{tag}_x"], [f"{tag}_sum"]),
        helper.make_node(g.choose(_STEPS), [f"{tag}_sum"], [f"{tag}_t"]),
        helper.make_node(g.choose(_STEPS), [f"{tag}_sum"], [f"{tag}_y"]),
    ]
    body = helper.make_graph(
        nodes,
        tag,
        [info(f"{tag}_s", "float32", rest), info(f"{tag}_x", "float32", rest)],
        [info(f"{tag}_t", "float32", rest), info(f"{tag}_y", "float32", rest)],
    )
    direction = [g.integer(0, 1)] if g.maybe() else None
    out = [g.integer(0, len(rest))] if g.maybe() else None
    g.nodes_results(
        name,
        state,
        x,
        outputs=2,
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis] if axis or g.maybe() else None,
        scan_input_directions=direction,
        scan_output_axes=out,
    )
