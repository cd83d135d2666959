"""docs/operators.md and docs/operators_reference.md say what the build does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mslite import _native
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.operator_pages.backends import (
    DELEGATES,
    delegate_cell,
    folds_known_outputs,
    operators_in_tests,
    operators_with_known_outputs,
    planned_operators,
)
from mslite.converter.operator_pages.gradients import Training, training_facts
from mslite.converter.operator_pages.kernels import CONTROL_FLOW, VARIABLES, KernelFacts, kernel_facts
from mslite.converter.operator_pages.matrix import COLUMNS
from mslite.converter.operator_pages.number_types import float16_operators, int8_operators, quantized_operators
from mslite.converter.operator_pages.pages import pages
from mslite.converter.operator_pages.source_operators import converter_tables, named_operators, source_operators
from mslite.converter.training.gradients import RULES, RULES_OF_SEVERAL

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def sources() -> dict[str, dict[str, list[str]]]:
    return source_operators()


@pytest.fixture(scope="module")
def kernels() -> dict[str, KernelFacts]:
    return kernel_facts()


@pytest.fixture(scope="module")
def training(kernels: dict[str, KernelFacts]) -> Training:
    return training_facts(kernels)


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages()


# ---- source operators ----


@pytest.mark.parametrize(
    ("operator", "source_format", "source"),
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
def test_known_mappings(
    sources: dict[str, dict[str, list[str]]], operator: str, source_format: str, source: str
) -> None:
    assert source in sources[operator][source_format]


def test_mappings_that_are_not(sources: dict[str, dict[str, list[str]]]) -> None:
    assert "Sub" not in sources["AddFusion"]["mindir"]
    assert "Identity" not in sources["Conv2DFusion"]["onnx"]
    assert "Conv" not in sources["Transpose"]["onnx"]  # only changes the layout of a weight


def test_every_operator_of_tflite_becomes_something() -> None:
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
    lost = [name for name, converter in converter_tables()["tflite"].items() if not named_operators(converter, name)]
    assert set(lost) <= aside, "the source code of these converters names no operator"


# ---- the CPU and generated C ----


def test_kernels_and_their_types(kernels: dict[str, KernelFacts]) -> None:
    assert set(kernels) == {operator for _, operator, _, _ in _native.kernels()} | CONTROL_FLOW | VARIABLES
    assert {"float32", "int32"} <= set(kernels["AddFusion"].data_types)
    assert kernels["AddFusion"].instruction_sets == ("scalar", "avx2", "avx512", "neon")
    assert kernels["Acos"].instruction_sets == ("scalar",)


def test_generated_c(kernels: dict[str, KernelFacts]) -> None:
    assert kernels["Conv2DFusion"].optimized_targets == ("x86", "Arm", "Cortex-M")
    assert kernels["Acos"].optimized_targets == ()
    assert kernels["Acos"].generated == "yes"
    assert kernels["NonZero"].generated == "-", "its shape is known at run time only"
    assert kernels["Switch"].generated == "yes"
    assert kernels["Range"].generated in ("yes", "part"), "its shape follows from constants"
    assert kernels["QuantDTypeCast"].generated == "yes", "it has no case of plain types"


def test_float16() -> None:
    found = float16_operators()
    assert {"Conv2DFusion", "MatMulFusion", "Softmax", "AddFusion"} <= found, "kernels with float16 arithmetic"
    assert {"Concat", "Reshape", "Transpose"} <= found, "they only move elements"
    assert not {"Erf", "InstanceNorm"} & found


def test_int8() -> None:
    computed, quantized = int8_operators(), quantized_operators()
    assert quantized <= computed, "full quantization writes nodes that no kernel computes"
    assert {"Conv2DFusion", "AddFusion", "Softmax", "Concat"} <= quantized
    assert "DivFusion" in computed - quantized, "only in models that were quantized before conversion"
    assert "InstanceNorm" not in computed


# ---- backends ----


@pytest.mark.parametrize("backend", DELEGATES)
def test_tables_of_backends(backend: str) -> None:
    planned = planned_operators(backend)
    assert len(planned) >= 50
    assert planned <= OPERATORS.keys()
    assert {"Conv2DFusion", "AddFusion", "Softmax", "Concat"} <= planned


@pytest.mark.parametrize("backend", [name for name in DELEGATES if operators_in_tests(name)])
def test_what_backends_took_in_their_tests(backend: str) -> None:
    """`tests/delegate/test_operators.py` compares these lists with runs."""
    taken = operators_in_tests(backend)
    assert len(taken) > 60
    assert {name for name in taken if delegate_cell(backend, name) == "-"} == set()
    if folds_known_outputs(backend):
        assert taken - planned_operators(backend) == operators_with_known_outputs() & taken - planned_operators(backend)


# ---- training ----


def test_training(training: Training) -> None:
    rules = set(RULES) | set(RULES_OF_SEVERAL)
    constant = {"Ceil", "Floor", "Round", "Sign", "ConstantOfShape", "Fill", "OnesLike", "ZerosLike"}
    rewritten = {
        "BatchNorm",
        "FusedBatchNorm",
        "ScaleFusion",
        "LSTM",
        "GRU",
        "LSTMSequence",
        "GRUSequence",
        "RNNSequence",
    }
    assert training.differentiable == rules - constant | rewritten, "constant functions pass no gradient on"
    assert training.cell("Conv2DFusion") == training.cell("LayerNormFusion") == "weights"
    assert training.cell("Softmax") == "yes"
    assert training.cell("Adam") == "step"
    assert training.cell("ArgMaxFusion") == "-"


# ---- the pages ----


@pytest.mark.parametrize("name", ["operators.md", "operators_reference.md"])
def test_the_page_is_the_committed_one(written: dict[str, str], name: str) -> None:
    """`make operators` writes it again. The difference shows in review what a change does to operators."""
    assert written[name] == (DOCS / name).read_text(encoding="utf-8"), f"run `make operators` and commit docs/{name}"


def test_the_matrix(written: dict[str, str]) -> None:
    rows = re.findall(r"^\| \[(\w+)\] \|(.*)\|$", written["operators.md"].split("\n## Backends\n")[1], re.MULTILINE)
    cells = {name: dict(zip(COLUMNS, map(str.strip, row.split("|")), strict=True)) for name, row in rows}
    assert cells.keys() == OPERATORS.keys()
    assert set(cells["Conv2DFusion"].values()) == {"yes", "weights"}
    assert set(cells["AllGather"].values()) == {"-"}
    assert cells["BitwiseAnd"]["float32"] == "other"
    assert cells["Acos"]["float16"] == "part"


def test_links(written: dict[str, str]) -> None:
    index, reference = written["operators.md"], written["operators_reference.md"]
    headings = re.findall(r"^### (\w+)$", reference, re.MULTILINE)
    assert set(headings) == OPERATORS.keys()
    assert "\n| CONV_2D | [Conv2DFusion] |" in index
    assert re.search(r"^\| Gemm \| .*\[MatMulFusion\]", index, re.MULTILINE)
    used = set(re.findall(r"\[(\w+)\](?![(:])", index))
    defined = dict(re.findall(r"^\[(\w+)\]: operators_reference\.md#(\w+)$", index, re.MULTILINE))
    assert used == set(defined), "every operator has an address"
    assert {name.lower() for name in headings} >= set(defined.values())


def test_an_entry_of_the_reference(written: dict[str, str]) -> None:
    entry = written["operators_reference.md"].split("\n### Conv2DFusion\n")[1].split("\n### ")[0]
    assert "- id 35 (schema); layout: nhwc" in entry
    assert "`kernel_size` (1): [long]," in entry
    assert "- data types: float32" in entry
    assert "- ONNX: Conv" in entry
