"""What the mapping table of the original's semantics reaches is built: shape rule, kernel, reference and cases of every
inference primitive, and a converter for every source operator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mslite import _native
from mslite.converter.mindir.ops import OPERATORS, OPERATORS_BY_ID
from mslite.converter.mindir.reference import CASES, REFERENCES
from mslite.converter.operator_pages.source_operators import converter_tables

SEMANTICS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ms_semantics.md"
COLUMNS = {"tflite": 2, "onnx": 3, "tensorflow": 4, "caffe": 5}

EXECUTOR = {"Call", "PartialFusion", "Switch", "SwitchLayer"}
"""Run by the runtime itself."""

DROPPED = {"Assert", "Dropout"}
"""Front ends leave them out: they do nothing when a model is used."""

NO_REFERENCE = {"QuantDTypeCast"}
"""Its meaning is in the records of its operands; tests/runtime/test_quant_dtype_cast.py has the numbers."""

ASIDE = {
    "onnx": {
        *("Int8Add", "Int8AveragePool", "Int8Conv", "Int8ConvRelu", "Int8Dequantize", "Int8FC", "Int8Quantize"),
        *("Int8Transpose", "ConvRelu", "Int8GivenTensorFill", "Int8GivenIntTensorFill"),  # Caffe2's, outside of ONNX
        *("AscendDequant", "AscendQuant", "Conv2dAdd", "FlashAttentionTik", "ForwardRasterize"),  # of one device
        "Custom",  # a container of what is not known
        *("BiasAdd", "FusedLayerNormAffineFunction", "adder_f", "broadcast_to"),  # of exporters, nowhere defined
        *("DynamicSlice", "GeLUFunction", "Lrn", "Splice", "logical_not"),  # written out before converters see them
    },
    "tensorflow": {"Assert", "Switch"},  # left out, and raised to If and While, before converters see them
    "tflite": set[str](),
    "caffe": {"Quant", "DeQuant"} | {"Elu"},  # of one device's tools; Caffe spells it ELU
}
"""Source operators that need no converter of their own."""


def rows() -> Iterator[list[str]]:
    """The cells of the mapping table's rows: number, primitive, front ends."""
    if not SEMANTICS.exists():
        pytest.skip("../shared/reference is not there")
    lines = SEMANTICS.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| # | primitive | TFLite"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def foreign(cell: str) -> list[str]:
    """The source operators of a cell; what stands in brackets is said of the name before it."""
    names = "".join(part.split(")")[-1] for part in cell.split("(")).split(",")
    return [name.strip() for name in names if name.strip() not in ("", "-")]


def test_every_inference_primitive_is_built() -> None:
    kernels = {operator for _, operator, _, _ in _native.kernels()}
    rules = {OPERATORS_BY_ID[number].__name__ for number in _native.shape_rules()}
    cases = {case.op.name for case in CASES}
    reached = [row[1] for row in rows() if any(foreign(row[column]) for column in COLUMNS.values())]
    assert len(reached) > 120
    missing = {}
    for name in reached:
        if name in EXECUTOR | DROPPED | {"Custom"} or OPERATORS[name].declaration.training:
            continue
        lacks = [
            what
            for what, there in (("rule", rules), ("kernel", kernels), ("reference", REFERENCES), ("cases", cases))
            if name not in there and not (name in NO_REFERENCE and what in ("reference", "cases"))
        ]
        if lacks:
            missing[name] = lacks
    assert missing == {}


@pytest.mark.parametrize("front_end", COLUMNS)
def test_every_source_operator_has_a_converter(front_end: str) -> None:
    known = set(converter_tables()[front_end]) | ASIDE[front_end]
    named = {name for row in rows() for name in foreign(row[COLUMNS[front_end]])}
    assert len(named) > 20
    assert sorted(named - known) == []
