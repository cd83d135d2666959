"""The text form prints and parses back."""

from __future__ import annotations

import random

import numpy as np
import pytest
from comparison import assert_same_module
from hypothesis import given, settings
from strategies import modules

from mslite.converter.mindir.graph import Encoding, Graph, Module, Value, constant
from mslite.converter.mindir.ops.enums import DataType, WeightQuantCompressType
from mslite.converter.mindir.text import to_text
from mslite.converter.mindir.text_parser import TextError, parse


@settings(max_examples=150, deadline=None)
@given(modules())
def test_any_module_survives(module: Module) -> None:
    back = parse(to_text(module, with_data=True))
    assert_same_module(module, back)
    assert back.version == module.version
    assert [[repr(n.op) for n in g.nodes] for g in back.graphs] == [
        [repr(n.op) for n in g.nodes] for g in module.graphs
    ]


def test_values_of_one_name_shared_values_and_stored_bytes() -> None:
    shared = constant("twin", np.float32([1.1, np.nan, -0.0, np.inf]))
    packed = Value(
        "twin", DataType.INT8, (100,), raw=b"\x01\x02", encoding=Encoding(WeightQuantCompressType.FSE, False, (0.5,))
    )
    module = Module([Graph("a", [], [shared, packed]), Graph("b", [], [shared])], outputs=[shared])
    text = to_text(module, with_data=True)
    back = parse(text)
    assert_same_module(module, back)
    assert back.graphs[1].outputs[0] is back.graphs[0].outputs[0] is back.outputs[0]  # type: ignore[index]
    assert "%twin#2" in text


def test_big_constants_are_shown_by_digest_and_refused_by_the_parser() -> None:
    module = Module([Graph("g", [], [constant("w", np.arange(1000))])])
    text = to_text(module)
    assert "digest" in text
    assert " 8000" in text
    assert len(text) < 300
    with pytest.raises(TextError, match=r"line 3.*print it with data"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'module'"),
        ('module "" framework 0\ngraph "g" {\n  output %x\n}', "line 3: %x is not declared"),
        ('module "" framework 0\ngraph "g" {\n  node "n" NoSuchOp()\n}', "no operator 'NoSuchOp'"),
        ('module "" framework 0\ngraph "g" {\n  node "n" Conv2DFusion() {axis = 3}\n}', "no attribute 'axis'"),
        ('module "" framework 0\ngraph "g" {\n  const %x: FLOAT32[3] = [1, 2]\n}', "invalid value"),
        ('module "" framework 0\n§', "line 2"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(TextError, match=message):
        parse(text)


def test_damaged_text_gives_one_kind_of_error() -> None:
    value = Value("x", DataType.FLOAT32, (1, 2))
    good = to_text(Module([Graph("g", [value], [value, constant("c", np.arange(40.0))])]), with_data=True)
    chance = random.Random(3)
    for _ in range(2000):
        at = chance.randrange(len(good))
        broken = good[:at] + chance.choice(["", "[", '"', "9" * 30, "}", "%", "-"]) + good[at + chance.randrange(4) :]
        try:
            parse(broken)
        except TextError:
            continue
