"""Message classes made from tables."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.parsers.protobuf import ProtobufError, UnknownField, declare, identifier, parse_binary, parse_text

MESSAGES = {
    "Outer": {
        "name": (1, "string = none"),
        "kind": (2, "Outer.Kind = SECOND"),
        "inner": (3, "repeated Outer.Inner"),
        "sizes": (4, "repeated int64 packed"),
        "factor": (5, "float = 0.5"),
        "self": (6, "Outer"),
    },
    "Outer.Inner": {"key": (1, "string"), "value": (2, "int32")},
    "Floats": {"data": (1, "repeated float packed")},
    "Bytes": {"data": (1, "repeated bytes")},
}
CLASSES = declare("test", MESSAGES, {"Outer.Kind": {"FIRST": 0, "SECOND": 1, "ALSO_SECOND": 1}})
Outer = CLASSES["Outer"]


def test_defaults_and_presence() -> None:
    message = Outer()
    assert (message.name, message.factor, identifier(message, "kind")) == ("none", 0.5, "SECOND")
    assert not message.HasField("factor")
    message.factor = 0.5
    assert parse_binary(Outer, message.SerializeToString()).HasField("factor")


def test_text_and_binary_round_trip() -> None:
    message = parse_text(Outer, b'name: "a" kind: FIRST inner { key: "k" value: -3 } sizes: [1, 2] self { factor: 2 }')
    again = parse_binary(Outer, message.SerializeToString())
    assert again == message
    assert (again.inner[0].value, list(again.sizes), again.self.factor) == (-3, [1, 2], 2)


def test_packed_numbers_as_bytes() -> None:
    numbers = CLASSES["Floats"](data=[1, 2.5])
    (content,) = parse_binary(CLASSES["Bytes"], numbers.SerializeToString()).data
    np.testing.assert_array_equal(np.frombuffer(content, "<f4"), [1, 2.5])


def test_two_declarations_of_one_package_do_not_clash() -> None:
    other = declare("test", {"Outer": {"name": (9, "bytes")}})["Outer"]
    assert other(name=b"x").SerializeToString() != Outer(name="x").SerializeToString()


def test_unknown_fields_of_a_text() -> None:
    with pytest.raises(UnknownField, match=r'line 12: .*no field named "mystery"'):
        parse_text(Outer, '\nname: "a"\nmystery { x: 1 }', first_line=10)
    assert parse_text(Outer, 'name: "a" mystery { x: 1 }', skip_unknown=True).name == "a"


@pytest.mark.parametrize("text", [b"\xff", b"name: 3", b"kind: THIRD", b"self { " * 5000, b"sizes: 1e30", b"}"])
def test_wrong_texts(text: bytes) -> None:
    with pytest.raises(ProtobufError) as caught:
        parse_text(Outer, text)
    assert 5 < len(str(caught.value)) < 500


def test_wrong_bytes() -> None:
    nested = b""
    for _ in range(2000):
        size = len(nested)
        length = b""
        while size > 127:
            length += bytes([size & 127 | 128])
            size >>= 7
        nested = b"\x32" + length + bytes([size]) + nested
    for content in (nested, b"\x0a\x05ab", b"\xff"):
        with pytest.raises(ProtobufError, match="damaged"):
            parse_binary(Outer, content)


@pytest.mark.parametrize("spelling", ["nothing", "repeated", "int32 twice"])
def test_wrong_tables(spelling: str) -> None:
    with pytest.raises(TypeError):
        declare("wrong", {"M": {"f": (1, spelling)}})
