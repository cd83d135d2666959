"""The table is a table: what its vocabulary does not have is refused; genuine files follow its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType, QuantType

from .checker import violations
from .files import fed, ints, model
from .kernels import chosen_type, kernel_types
from .rules import TableError, _loaded, file_rules, operator_rules, parsed
from .view import VERSIONS, View, versions_after

SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
GENUINE = sorted(SHARED.glob("mindspore_ms*/*/model.ms"))
NOT_OURS = ("retinaface0924", "tinynet_om")
"""A file in the old format, and one for another device."""

ROW = {"kind": "vector", "attribute": "axis", "length": 1, "versions": "all", "effect": "refused", "read": "populate"}


def row(**changes: Any) -> dict[str, list[dict[str, Any]]]:
    return {"Softmax": [{**ROW, **changes}]}


def test_a_row_is_read() -> None:
    (rule,) = parsed(row(when={"types": ["INT8"]}), "here")["Softmax"]
    assert rule.kind == "vector"
    assert rule.arguments == {"attribute": "axis", "length": 1}
    assert rule.versions == frozenset(VERSIONS)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (row(kind="guess"), "no kind guess"),
        (row(color=1), "color is unknown"),
        (row(length="one"), "length is not"),
        (row(length=True), "length is not"),
        (row(attribute="axes"), "axes is unknown"),
        (row(versions=["1.4"]), r"1\.4 is unknown"),
        (row(versions="1.3"), "versions are a list"),
        (row(effect="sad"), "sad is unknown"),
        (row(read=""), "read is missing"),
        (row(when={"weather": 1}), "weather is unknown"),
        (row(when={"attributes": {"axes": 1}}), "axes is unknown"),
        (row(when={"types": ["FLOAT"], "inputs": [1]}), None),
        (row(when={"types": ["BYTE"]}), "BYTE is unknown"),
        ({"Softmaxx": [ROW]}, "no operator Softmaxx"),
        (
            {"Resize": [{**ROW, "kind": "allowed", "attribute": "method", "values": ["FAR"], "length": 1}]},
            "length is unknown",
        ),
        (
            {"Resize": [{"kind": "allowed", "attribute": "method", "values": ["FAR"], "versions": "all"}]},
            "FAR is unknown",
        ),
        ({"Resize": [{"kind": "relation", "name": "love", "versions": "all"}]}, "love is unknown"),
    ],
)
def test_what_the_vocabulary_does_not_have_is_refused(table: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert parsed(table, "here")
        return
    with pytest.raises(TableError, match=message):
        parsed(table, "here")


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("Abs: []\nNeg: []\nAbs: []\n")
    with pytest.raises(TableError, match="Abs stand twice"):
        _loaded(path)


def test_every_operator_with_a_kernel_has_rules_but_those_named() -> None:
    without = set(kernel_types()) - set(operator_rules())
    newer = {name for name in without if list(kernel_types()[name]) in (["2.7"], ["2.0", "2.7"])}
    texts = {name for name in without if name.startswith("Custom") or name in ("SkipGram", "RaggedRange", "Assert")}
    control = {"Call", "PartialFusion", "Switch", "TensorArray"}
    random = {"RandomStandardNormal", "UniformReal"}
    assert without - newer - texts - control - random - {"ScatterNdUpdate"} == set()
    assert not any(OPERATORS[name].declaration.training for name in kernel_types())


def test_rules_about_the_file_are_read() -> None:
    assert {rule.effect for rule in file_rules()} == {"refused", "crash", "silent"}


@pytest.mark.skipif(not GENUINE, reason="../shared/models is not there")
@pytest.mark.parametrize(
    "path", [p for p in GENUINE if p.parent.name not in NOT_OURS], ids=lambda path: path.parent.name
)
def test_genuine_files_follow_the_rules(path: Path) -> None:
    meta = read_ms(path)
    found = violations(
        meta, versions_after(meta.version), file=path.read_bytes(), kernels="_13" in path.parent.parent.name
    )
    assert [str(each) for each in found] == []


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("MindSpore Lite 1.3.0", ("1.3", "1.5", "2.0", "2.7")),
        ("MindSpore Lite 1.5.0", ("1.5", "2.0", "2.7")),
        ("MindSpore Lite 2.0.0", ("2.0", "2.7")),
        ("MindSpore Lite 2.7.0", ("2.7",)),
        ("MindSpore Lite 2.9.0", ("2.7",)),
        (None, ("1.3", "1.5", "2.0", "2.7")),
    ],
)
def test_a_file_is_for_its_version_and_later_ones(version: str | None, wanted: tuple[str, ...]) -> None:
    assert versions_after(version) == set(wanted)


def test_the_first_input_of_a_known_type_chooses_the_kernel() -> None:
    (gather,) = View(model("Gather", fed(4, dtype=DataType.INT64), ints(1), ints(0))).nodes
    assert [chosen_type(gather, version) for version in VERSIONS] == [DataType.INT32] * 4
    (bytes_,) = View(model("Gather", fed(4, dtype=DataType.UINT8), ints(1), ints(0))).nodes
    assert [chosen_type(bytes_, version) for version in VERSIONS] == [
        DataType.INT32,
        DataType.INT32,
        DataType.UINT8,
        DataType.UINT8,
    ]
    (where,) = View(model("Where", fed(4, dtype=DataType.BOOL), fed(4), fed(4))).nodes
    where.node.quantType = QuantType.QUANT_WEIGHT
    assert [chosen_type(where, version) for version in VERSIONS] == [
        DataType.FLOAT32,
        DataType.FLOAT32,
        DataType.BOOL,
        DataType.BOOL,
    ]


def test_a_missing_kernel_is_told_on_request() -> None:
    meta = model("AddFusion", fed(2, dtype=DataType.INT64), fed(2, dtype=DataType.INT64))
    assert [str(each) for each in violations(meta)] == []
    assert [each.reason for each in violations(meta, kernels=True)] == ["there is no kernel for INT64"] * 4
