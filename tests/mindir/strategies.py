"""Hypothesis strategies: random operators and modules, made from the schema."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import OPERATORS, Attribute, Operator
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.ops.tables import QuantParam

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def attribute_values(attribute: Attribute) -> st.SearchStrategy[Any]:
    if attribute.enum:
        return st.sampled_from(list(attribute.enum))
    longs = st.lists(INT64, max_size=4).map(tuple)
    by_wire: dict[str, st.SearchStrategy[Any]] = {
        "bool": st.booleans(),
        "int": INT32,
        "long": INT64,
        "float": FLOAT32,
        "string": st.none() | NAMES,
        "[long]": st.none() | longs,
        "[int]": st.none() | st.lists(INT32, max_size=4).map(tuple),
        "[float]": st.none() | st.lists(FLOAT32, max_size=4).map(tuple),
        "Vec2D": st.none() | st.lists(st.none() | longs, max_size=3).map(tuple),
        "[Attribute]": st.none() | st.lists(st.tuples(st.none() | NAMES, st.none() | st.binary(max_size=4))).map(tuple),
    }
    return by_wire[attribute.wire]


@st.composite
def operators(draw: st.DrawFn) -> Operator:
    cls = OPERATORS[draw(st.sampled_from(sorted(OPERATORS)))]
    return cls(**{a.name: draw(attribute_values(a)) for a in cls.declaration.attributes})


DTYPES = st.sampled_from([np.float32, np.float16, np.int8, np.int32, np.int64, np.bool_, np.float64])
DIMS = st.integers(0, 5) | st.integers(SYMBOL_LIMIT - 3, SYMBOL_LIMIT)


@st.composite
def activations(draw: st.DrawFn, name: str) -> Value:
    shape = draw(st.none() | st.lists(DIMS, max_size=4).map(tuple))
    value = Value(name, draw(st.sampled_from([DataType.FLOAT32, DataType.INT8, DataType.BOOL])), shape)
    value.format = draw(st.sampled_from(list(Format)))
    if draw(st.booleans()):
        value.quant = (QuantParam(scale=draw(st.floats(1e-9, 10)), zeroPoint=draw(INT32)),)
    return value


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Modules with a valid structure (but any number of operands)."""
    graphs = []
    for number in range(draw(st.integers(1, 2))):
        graph = Graph(draw(NAMES.filter(lambda name: not name.startswith("subgraph_"))) or f"g{number}")
        graph.inputs = [draw(activations(f"{number}.in{i}")) for i in range(draw(st.integers(1, 2)))]
        available = list(graph.inputs)
        for index in range(draw(st.integers(1, 4))):
            if draw(st.booleans()):
                array = draw(hnp.arrays(draw(DTYPES), hnp.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=5)))
                available.append(constant(f"{number}.const {index}", array))
            inputs = draw(st.lists(st.sampled_from(available), max_size=3))
            outputs = tuple(draw(activations(f"{number}.n{index}:{k}")) for k in range(draw(st.integers(1, 2))))
            quant_type = draw(st.sampled_from(list(QuantType)))
            op = draw(operators())
            declared = op.declaration.inputs
            if not any(operand.repeated for operand in declared):  # constants after the last operand are ignored
                inputs = inputs[: len(declared)]
            graph.nodes.append(Node(op, f'{number} node "{index}"', tuple(inputs), outputs, quant_type))
            available += outputs
        graph.outputs = draw(st.lists(st.sampled_from(available), min_size=1, max_size=2))
        graphs.append(graph)
    return Module(graphs, draw(NAMES), draw(st.sampled_from(["", "MindSpore Lite 2.2.0"])), draw(st.integers(0, 6)))
