"""Structural equality of modules, for tests."""

from __future__ import annotations

from mslite.converter.mindir.compatibility_fields import (
    stored_format,
    stored_type,
    valid_quant_params,
    with_required_fields,
)
from mslite.converter.mindir.graph import Module, Value, is_symbol
from mslite.converter.mindir.serialization import primitive_bytes


def assert_same_module(left: Module, right: Module, symbols: bool = True) -> None:
    """Compares everything except object identity and names for readers; without `symbols`, all unknown dimensions are equal."""
    assert (left.name, left.framework) == (right.name, right.framework)
    assert len(left.graphs) == len(right.graphs)
    paired: dict[int, Value] = {}

    def same_value(one: Value, other: Value) -> None:
        if id(one) in paired:
            assert paired[id(one)] is other
            return
        paired[id(one)] = other
        assert (one.name, stored_type(one)) == (other.name, stored_type(other))
        if one.dtype is stored_type(one):
            assert valid_quant_params(one) == valid_quant_params(other)
        is_input = one in left.main.inputs
        assert stored_format(one, is_input) == stored_format(other, is_input)
        shapes = [value.shape for value in (one, other)]
        if not symbols:
            shapes = [s if s is None else tuple(-1 if is_symbol(dim) else dim for dim in s) for s in shapes]
        assert shapes[0] == shapes[1]
        assert (one.data is None) == (other.data is None)
        if one.data is not None and other.data is not None:
            assert one.data.dtype == other.data.dtype
            assert one.data.tobytes() == other.data.tobytes()
        assert bytes(one.raw or b"") == bytes(other.raw or b"")
        assert one.encoding == other.encoding
        assert len(one.users) == len(other.users)

    for one, other in zip(left.graphs, right.graphs, strict=True):
        assert one.name == other.name
        for a, b in ((one.inputs, other.inputs), (one.outputs, other.outputs)):
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                same_value(x, y)
        assert len(one.nodes) == len(other.nodes)
        for n, m in zip(one.nodes, other.nodes, strict=True):
            assert (n.name, n.op.name, n.quant_type) == (m.name, m.op.name, m.quant_type)
            # As it is stored: a default such as 1e-5 is not exact in float32.
            assert primitive_bytes(with_required_fields(n)) == primitive_bytes(with_required_fields(m))
            for x, y in zip((*n.inputs, *n.outputs), (*m.inputs, *m.outputs), strict=True):
                same_value(x, y)
