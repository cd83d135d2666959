"""Which operators each backend computes, from the tables in `delegate/` and from what their tests have seen."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from mslite.converter.mindir.quantized import MOVES
from mslite.converter.mindir.reference import CASES
from mslite.converter.operator_pages.cases import has_known_outputs
from mslite.converter.operator_pages.number_types import QUANTIZES
from mslite.converter.tflite_writer import WRITERS

_ROOT = Path(__file__).resolve().parents[2]

DELEGATES = {"OpenCL": "opencl", "OpenVINO": "openvino", "NNAPI": "nnapi", "NNRT": "nnrt", "Core ML": "coreml"}
"""Backend -> its folder in `delegate/`."""


@cache
def planned_operators(backend: str) -> frozenset[str]:
    """The operators in the tables of a backend: `{MSLITE_OP_Abs, WhyNotUnary, PlanAbs}` or `{MSLITE_OP_Abs, PlanUnary}`."""
    sources = (_ROOT / "delegate" / DELEGATES[backend] / "operators").glob("*.cc")
    entry = re.compile(r"\{MSLITE_OP_(\w+),\s*(?:Plan|WhyNot)\w*")
    return frozenset(name for path in sources for name in entry.findall(path.read_text(encoding="utf-8")))


def operators_in_tests(backend: str) -> frozenset[str]:
    """The operators that a backend took in the test of all reference cases; none if the backend has no such test."""
    path = _ROOT / f"tests/delegate/{DELEGATES[backend]}_operators.txt"
    return frozenset(path.read_text(encoding="utf-8").split()) if path.exists() else frozenset()


@cache
def folds_known_outputs(backend: str) -> bool:
    """Whether a backend makes constants of integers that follow from shapes."""
    sources = (_ROOT / "delegate" / DELEGATES[backend]).glob("*.cc")
    return any("IsKnown(" in path.read_text(encoding="utf-8") for path in sources)


@cache
def operators_with_known_outputs() -> frozenset[str]:
    """Operators whose output follows from shapes and constants, in some of the test cases."""
    return frozenset(case.op.name for case in CASES if has_known_outputs(case))


def delegate_cell(backend: str, operator: str) -> str:
    """`yes`, `part` if the backend only folds a known output, or `-`."""
    if operator in planned_operators(backend):
        return "yes"
    is_folded = folds_known_outputs(backend) and operator in operators_with_known_outputs()
    return "part" if is_folded else "-"


def ethosu_cell(operator: str) -> str:
    """`yes` if mslite can write the operator for vela, `part` if only next to nodes that compute, or `-`."""
    if operator not in WRITERS:
        return "-"
    return "part" if operator in MOVES | {QUANTIZES} else "yes"
