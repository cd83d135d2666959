"""Each kind of rule about a node catches a file that breaks it, and not the one beside it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mslite.converter.mindir.ops.enums import (
    ActivationType,
    DataType,
    Format,
    ResizeMethod,
)
from mslite.converter.mindir.ops.tables import MetaGraph

from .files import fed, int8, ints, labels, model, stored, zeros
from .kinds import KINDS
from .rules import operator_rules

CONV: dict[str, Any] = {
    "kernel_size": (3, 3),
    "stride": (1, 1),
    "dilation": (1, 1),
    "pad_list": (0, 0, 0, 0),
    "group": 1,
}
IMAGE = fed(1, 8, 8, 4)
WEIGHT = zeros(6, 3, 3, 4)


def conv(**changes: object) -> MetaGraph:
    return model("Conv2DFusion", IMAGE, WEIGHT, **{**CONV, **changes})


BROKEN: dict[str, tuple[MetaGraph, MetaGraph]] = {
    "vector attribute=stride": (conv(stride=None), conv()),
    "vector attribute=pad_list": (conv(pad_list=(1, 1)), conv()),
    "allowed attribute=activation_type": (conv(activation_type=ActivationType.SIGMOID), conv(activation_type=ActivationType.RELU)),
    "bounds attribute=stride": (conv(stride=(0, 1)), conv()),
    "inputs numbers=[2, 3]": (model("Conv2DFusion", IMAGE, **CONV), conv()),
    "outputs numbers=[2]": (
        model("TopKFusion", fed(2, 5), ints(3), axis=-1),
        model("TopKFusion", fed(2, 5), ints(3), axis=-1, outputs=(fed(), fed())),
    ),
    "constant input=2": (
        model("Gather", fed(4, 5), ints(1), fed(1, dtype=DataType.INT32)),
        model("Gather", fed(4, 5), ints(1), ints(0)),
    ),
    "types input=1": (
        model("Transpose", fed(2, 3), stored([1, 0], "int64")),
        model("Transpose", fed(2, 3), ints(1, 0)),
    ),
    "casts source=INT64": (
        model("Cast", fed(2, dtype=DataType.INT64), ints(34), outputs=(fed(2, dtype=DataType.INT32),)),
        model("Cast", fed(2, dtype=DataType.INT64), ints(43)),
    ),
    "same_types inputs=[0, 1]": (
        model("AddFusion", fed(2), fed(2, dtype=DataType.INT32)),
        model("AddFusion", fed(2), fed(2)),
    ),
    "rank input=0": (model("Resize", fed(1, 8, 4), ints(4, 4)), model("Resize", IMAGE, ints(4, 4))),
    "elements input=1 rank_of=0": (
        model("SliceFusion", fed(2, 3), ints(0), ints(0, 1)),
        model("SliceFusion", fed(2, 3), ints(0, 0), ints(1, 1)),
    ),
    "elements input=2 numbers=[1]": (
        model("PadFusion", fed(2, 3), ints(0, 0, 1, 1), zeros(2)),
        model("PadFusion", fed(2, 3), ints(0, 0, 1, 1), zeros(1)),
    ),
    "numbers input=2": (
        model("Gather", fed(4, 5), ints(1), ints(-1)),
        model("Gather", fed(4, 5), ints(1), ints(1)),
    ),
    "layout input=0": (
        model("Resize", fed(1, 4, 8, 8, layout=Format.NCHW), ints(4, 4)),
        model("Resize", IMAGE, ints(4, 4)),
    ),
    "layout input=1": (
        model("Conv2DFusion", IMAGE, dataclasses.replace(WEIGHT, format=Format.NCHW), **CONV),
        conv(),
    ),
    "records inputs=[0] outputs=[0]": (
        model("Softmax", int8(2, 3, records=0), axis=(1,), outputs=(int8(2, 3),)),
        model("Softmax", int8(2, 3), axis=(1,), outputs=(int8(2, 3),)),
    ),
    "relation name=bias_is_told": (
        model("FullConnection", fed(2, 3), zeros(4, 3), has_bias=True),
        model("FullConnection", fed(2, 3), zeros(4, 3)),
    ),
    "never": (
        model("NonZero", fed(3, dtype=DataType.BOOL)),
        model("Abs", fed(3)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", BROKEN)
def test_a_kind_of_rule_catches_its_violation(rule: str) -> None:
    bad, good = BROKEN[rule]
    assert any(label.startswith(rule) for label in labels(bad))
    assert not any(label.startswith(rule) for label in labels(good))


def test_every_kind_has_an_example_and_a_row() -> None:
    assert {rule.split()[0] for rule in BROKEN} == set(KINDS)
    assert {rule.kind for rules in operator_rules().values() for rule in rules} == set(KINDS)


def test_a_condition_limits_a_rule() -> None:
    whole_image: dict[str, Any] = {"strides": (1, 1), "global_": True}
    assert "vector attribute=kernel_size length=2" in labels(model("AvgPoolFusion", IMAGE, strides=(1, 1)))
    assert labels(model("AvgPoolFusion", IMAGE, **whole_image)) == []
    cubic: dict[str, Any] = {"method": ResizeMethod.CUBIC, "exclude_outside": 1}
    assert "allowed attribute=exclude_outside values=[0]" in labels(model("Resize", IMAGE, ints(4, 4), **cubic))
    assert labels(model("Resize", IMAGE, ints(4, 4), exclude_outside=1)) == []


def test_a_rule_holds_for_its_versions() -> None:
    meta = model("MaxPoolFusion", IMAGE, global_=True)
    assert labels(meta, versions=["1.3", "1.5"])
    assert labels(meta, versions=["2.7"]) == []


def test_what_the_file_does_not_tell_breaks_no_rule() -> None:
    assert labels(model("Resize", fed(), ints(4, 4))) == []
    assert labels(model("Softmax", fed(-1, 3), axis=(1,))) == []


def test_custom_nodes_are_passed_over() -> None:
    assert labels(model("LSTMSequence", fed(3, 1, 4))) == []


def test_a_layout_flows_from_the_first_input() -> None:
    bad = model("AddFusion", stored([[[[1.0]]]], layout=Format.NCHW), fed(1, 8, 8, 4), outputs=(fed(1, 8, 8, 4),))
    resize = model("Resize", fed(1, 8, 8, 4), ints(4, 4))
    joined = _behind(bad, resize)
    assert "layout input=0 layouts=['NHWC']" in labels(joined)
    assert "layout input=0 layouts=['NHWC']" not in labels(_behind(model("Abs", IMAGE, outputs=(IMAGE,)), resize))


def _behind(first: MetaGraph, second: MetaGraph) -> MetaGraph:
    """The first model, and the node of the second on its result."""
    tensors = [*(first.allTensors or ()), *(second.allTensors or ())[1:]]
    offset = len(first.allTensors or ()) - 1
    (a,), (b,) = first.nodes or [], second.nodes or []
    move = {0: offset}
    number = lambda index: move.get(index, index + offset)  # noqa: E731
    b = dataclasses.replace(
        b, inputIndex=tuple(map(number, b.inputIndex or ())), outputIndex=tuple(map(number, b.outputIndex or ()))
    )
    graph = dataclasses.replace((first.subGraph or [])[0], nodeIndices=(0, 1), outputIndices=b.outputIndex)
    return dataclasses.replace(first, allTensors=tensors, nodes=[a, b], subGraph=[graph], outputIndex=b.outputIndex)
