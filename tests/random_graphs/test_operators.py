"""Every operator that the converter takes is in random graphs, or in a list that says why it is not."""

from __future__ import annotations

import inspect

import onnx.defs
import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime, which computes what is right, is not installed")

from mslite.converter.parsers.onnx.expansion.registry import EXPANDERS, MICROSOFT
from mslite.converter.parsers.onnx.registry import registered_operators

from .left_out import BY_REASON
from .operators import OPERATORS

LEFT_OUT = {name: reason for reason, names in BY_REASON.items() for name in names.split()}


def in_graphs(name: str, domain: str) -> bool:
    """Whether an entry of the table says that it adds this operator."""
    return f"{domain}.{name}" in OPERATORS or (name in OPERATORS and (not domain or not _standard(name)))


def _standard(name: str) -> bool:
    return onnx.defs.has(name)


def test_operators_that_the_converter_takes_are_in_graphs() -> None:
    names = {("", name) for name in registered_operators()}
    names |= {(MICROSOFT, name) for name in registered_operators(MICROSOFT)}
    names |= {("" if domain == "ai.onnx" else domain, name) for domain, name in EXPANDERS}
    missing = {_shown(domain, name) for domain, name in names if not in_graphs(name, domain)}
    assert sorted(missing - LEFT_OUT.keys()) == []


def test_operators_of_the_standard_are_in_graphs() -> None:
    schemas = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain and not schema.deprecated}
    missing = {name for name in schemas if not in_graphs(name, "")}
    assert sorted(missing - LEFT_OUT.keys()) == []


def test_what_is_left_out_is_not_in_graphs() -> None:
    held = {name for name in LEFT_OUT if in_graphs(*reversed(_parts(name)))}
    assert sorted(held) == []


def test_patterns_explain_themselves() -> None:
    """What is no operator says in its docstring what it is."""
    domains = ("", "com.microsoft")
    for name, entry in OPERATORS.items():
        known = onnx.defs.has(name) or any((domain, name) in EXPANDERS for domain in domains)
        known = known or name.startswith((MICROSOFT, "ai.onnx.ml")) or name in registered_operators(MICROSOFT)
        assert known or " " in name or inspect.getdoc(entry.add), name


def _shown(domain: str, name: str) -> str:
    return f"{domain}.{name}" if domain else name


def _parts(shown: str) -> tuple[str, str]:
    domain, _, name = shown.rpartition(".")
    return domain, name
