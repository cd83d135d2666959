"""Operators as FlatBuffers."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from strategies import operators

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.serialization import MindirFormatError, primitive_bytes, read_primitive, to_custom

CUSTOM = [cls for cls in OPERATORS.values() if (cls.declaration.custom_type or "").startswith("mslite.")]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_defaults_survive(name: str) -> None:
    op = OPERATORS[name]()
    assert read_primitive(primitive_bytes(op)) == op


@settings(max_examples=300, deadline=None)
@given(operators())
def test_any_attributes_survive(op: Operator) -> None:
    back = read_primitive(primitive_bytes(op))
    assert type(back) is type(op)
    # Vec2D rows without data and empty text of our own operators have one spelling on the wire.
    assert primitive_bytes(back) == primitive_bytes(op)
    assert repr(back) == repr(op)


def test_absent_and_empty_vectors_differ() -> None:
    assert read_primitive(primitive_bytes(Conv2DFusion(pad_list=()))) == Conv2DFusion(pad_list=())
    assert Conv2DFusion(pad_list=()) != Conv2DFusion()


def test_our_operators_are_custom_nodes_with_little_endian_attributes() -> None:
    assert CUSTOM
    widths = {"bool": "<?", "int": "<i", "long": "<q", "float": "<f"}
    checked = 0
    for cls in CUSTOM:
        for attribute in cls.declaration.attributes:
            if attribute.wire not in widths:
                continue
            value = 1 - int(attribute.default) if attribute.wire == "bool" else attribute.default + 3
            node = to_custom(cls(**{attribute.name: value}))
            assert node.type == cls.declaration.custom_type
            assert node.attr == ((attribute.wire_name, struct.pack(widths[attribute.wire], value)),)
            checked += 1
    assert checked > 5


@pytest.mark.parametrize(
    "attr",
    [(("no_such_attribute", b"\0" * 8),), (("axis", b"\0"),)],
    ids=["unknown", "wrong size"],
)
def test_broken_attributes_of_our_operators_are_refused(attr: tuple[tuple[str, bytes], ...]) -> None:
    cls = next(cls for cls in CUSTOM if any(a.wire_name == "axis" for a in cls.declaration.attributes))
    with pytest.raises(MindirFormatError, match="attribute"):
        read_primitive(primitive_bytes(Custom(type=cls.declaration.custom_type, attr=attr)))


def test_foreign_custom_nodes_stay_as_they_are() -> None:
    node = Custom(type="Vendor", attr=((None, b"\x00\xff"), ("a", None)))
    assert read_primitive(primitive_bytes(node)) == node


def test_types_that_mindspore_lite_knows_are_written_in_full_and_kept_when_spelled_otherwise() -> None:
    (cls,) = (c for c in OPERATORS.values() if c.declaration.custom_type == "GridSampler")
    node = to_custom(cls())
    assert [name for name, _ in node.attr or ()] == [a.wire_name for a in cls.declaration.attributes]
    assert read_primitive(primitive_bytes(cls())) == cls()
    other = Custom(type="GridSampler", attr=(("0", b"\0" * 8), ("1", b"\0" * 8), ("2", b"\0")))
    assert read_primitive(primitive_bytes(other)) == other


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OverflowError):
        primitive_bytes(Conv2DFusion(kernel_size=(1 << 64,)))


def test_damaged_buffers_give_one_kind_of_error() -> None:
    good = primitive_bytes(Conv2DFusion(kernel_size=(3, 3), pad_list=(1, 1, 1, 1), group=2))
    chance = random.Random(1)
    refused = 0
    for _ in range(3000):
        broken = bytearray(good[: chance.randrange(len(good) + 1)] if chance.random() < 0.2 else good)
        for _ in range(chance.randrange(4)):
            if broken:
                broken[chance.randrange(len(broken))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        try:
            read_primitive(bytes(broken))
        except MindirFormatError:
            refused += 1
    assert refused > 300
