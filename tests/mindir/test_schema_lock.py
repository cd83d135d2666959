"""The declarations against the golden schema and against the reference description of MindSpore Lite's format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mslite.converter.mindir.generator import schema
from mslite.converter.mindir.ops import OPERATORS_BY_ID, Attribute, enums
from mslite.converter.mindir.ops._declare import FIRST_CUSTOM_ID
from mslite.converter.mindir.ops.tables import TABLES

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "ops.fbs"
REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ms_schema.yaml"


def test_the_schema_is_the_golden_one() -> None:
    """The wire format is locked: this file changes only when MindSpore Lite's schema does."""
    assert schema.emit() == GOLDEN.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    if not REFERENCE.exists():
        pytest.skip("../shared/reference is not there")
    yaml = pytest.importorskip("yaml")
    loaded: dict[str, Any] = yaml.safe_load(REFERENCE.read_text(encoding="utf-8"))
    return loaded


def test_enums(reference: dict[str, Any]) -> None:
    declared = {enum.__name__: enum for enum in schema.wire_enums()}
    assert set(declared) == set(reference["enums"])
    for name, entry in reference["enums"].items():
        values = {key: v["value"] if isinstance(v, dict) else v for key, v in entry["values"].items()}
        assert {member.name: member.value for member in declared[name]} == values
        assert declared[name].wire_type() == entry["type"]


def test_union(reference: dict[str, Any]) -> None:
    members = {n: name for n, name in reference["unions"]["PrimitiveType"]["members"].items() if n}
    assert {n: cls.__name__ for n, cls in OPERATORS_BY_ID.items() if n < FIRST_CUSTOM_ID} == members


def _default(attribute: Attribute) -> Any:
    value = attribute.default
    return value.name if isinstance(value, enums.WireEnum) else value


def test_every_field_of_every_table(reference: dict[str, Any]) -> None:
    tables = {cls.__name__: cls.declaration.attributes for n, cls in OPERATORS_BY_ID.items() if n < FIRST_CUSTOM_ID}
    tables |= TABLES
    helpers = {"Primitive", "Vec", "Vec2D", "Attribute"}
    assert set(tables) == set(reference["tables"]) - helpers
    compared = 0
    for name, entry in reference["tables"].items():
        if name in helpers:
            continue
        attributes = {attribute.slot: attribute for attribute in tables[name]}
        assert set(attributes) == {field["id"] for field in entry["fields"]}, name
        for field in entry["fields"]:
            attribute = attributes[field["id"]]
            where = f"{name}.{field['name']}"
            assert attribute.wire_name == field["name"], where
            assert attribute.wire == field["type"], where
            assert _default(attribute) == field.get("default"), where
            compared += 1
    assert compared > 450
