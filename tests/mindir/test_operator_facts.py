"""What docs/operators.md says of front ends, element types, instruction sets and generated C."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mslite import _native
from mslite.converter.mindir.generator import documentation
from mslite.converter.operator_facts import facts, front_ends, kernel_facts, reached, tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operators.md"


@pytest.fixture(scope="module")
def sources() -> dict[str, dict[str, list[str]]]:
    return front_ends()


@pytest.fixture(scope="module")
def kernels() -> dict[str, dict[str, list[str]]]:
    return kernel_facts()


@pytest.mark.parametrize(
    ("operator", "front_end", "foreign"),
    [
        ("Conv2DFusion", "onnx", "Conv"),
        ("Conv2DFusion", "tflite", "DEPTHWISE_CONV_2D"),
        ("Conv2DFusion", "tensorflow", "Conv2D"),
        ("Conv2DFusion", "caffe", "Convolution"),
        ("Conv2DFusion", "mindir", "Conv2D"),
        ("AddFusion", "mindir", "TensorAdd"),
        ("MatMulFusion", "onnx", "Einsum"),
        ("LSTMSequence", "onnx", "LSTM"),
    ],
)
def test_known_mappings(sources: dict[str, dict[str, list[str]]], operator: str, front_end: str, foreign: str) -> None:
    assert foreign in sources[operator][front_end]


def test_mappings_that_are_not(sources: dict[str, dict[str, list[str]]]) -> None:
    assert "Sub" not in sources["AddFusion"]["mindir"]
    assert "Identity" not in sources["Conv2DFusion"]["onnx"]
    assert "Conv" not in sources["Transpose"]["onnx"]  # only brings a weight into shape


def test_every_foreign_operator_of_tflite_reaches_something() -> None:
    aside = {
        "CALL",
        "STABLEHLO_COMPOSITE",
        "CALL_ONCE",
        "VAR_HANDLE",
        "READ_VARIABLE",
        "ASSIGN_VARIABLE",
        "DENSIFY",
        "NO_VALUE",
    }
    lost = [name for name, converter in tables()["tflite"].items() if not reached(converter, name)]
    assert set(lost) <= aside, "the source of these converters names no operator"


def test_kernels_and_their_types(kernels: dict[str, dict[str, list[str]]]) -> None:
    without_kernels = {"ReadVariable", "AssignVariable", "Switch", "SwitchLayer", "PartialFusion", "Call"}
    assert set(kernels) == {operator for _, operator, _, _ in _native.kernels()} | without_kernels
    assert {"float32", "int32"} <= set(kernels["AddFusion"]["types"])
    assert kernels["AddFusion"]["isas"] == ["scalar", "avx2", "avx512", "neon"]
    assert kernels["Acos"]["isas"] == ["scalar"]


def test_targets_of_generated_c(kernels: dict[str, dict[str, list[str]]]) -> None:
    assert kernels["Conv2DFusion"]["generated"] == ["x86*", "Arm*", "Cortex-M*"]
    assert kernels["Acos"]["generated"] == ["x86", "Arm", "Cortex-M"]
    assert kernels["NonZero"]["generated"] == [], "its shape is known at run time only"
    assert kernels["Switch"]["generated"] == ["x86", "Arm", "Cortex-M"]
    assert kernels["Range"]["generated"], "its shape follows from constants"
    assert kernels["QuantDTypeCast"]["generated"], "it has no case of plain types"


@pytest.fixture(scope="module")
def page() -> str:
    return documentation.emit(facts())


def test_the_page_is_the_committed_one(page: str) -> None:
    """`make operators` writes it again; the difference shows in review what a change does to operators."""
    assert page == PAGE.read_text(encoding="utf-8"), "run `make operators` and commit docs/operators.md"


def test_the_page_shows_them(page: str) -> None:
    (row,) = (line for line in page.splitlines() if line.startswith("| [Conv2DFusion]"))
    assert "ONNX " in row
    assert "float32" in row
    assert "scalar, avx2, avx512, neon" in row
    assert row.endswith("| Core ML, NNAPI, NNRT, OpenCL, OpenVINO | x86*, Arm*, Cortex-M* |")
    assert "\n| CONV_2D | [Conv2DFusion](#conv2dfusion)" in page
    assert re.search(r"^\| Gemm \| .*\[FullConnection\]|^\| Gemm \| .*\[MatMulFusion\]", page, re.MULTILINE)
    (row,) = (line for line in page.splitlines() if line.startswith("| [AllGather]"))
    assert "declared only" in row
