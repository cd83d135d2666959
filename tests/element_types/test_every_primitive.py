"""Every primitive of MindSpore Lite's schema: its shape rule, its kernel, and the cases that run it, or why it has none.

`python -m tests.element_types primitives` prints the list.
"""

from __future__ import annotations

from mslite import _native
from mslite.converter.mindir.ops import OPERATORS_BY_ID
from mslite.converter.mindir.ops._declare import FIRST_CUSTOM_ID
from mslite.converter.mindir.reference import CASES

PRIMITIVES = {number: cls.__name__ for number, cls in OPERATORS_BY_ID.items() if number < FIRST_CUSTOM_ID}
"""Those of `ms_schema.yaml`, as `tests/mindir/test_schema_lock.py` proves where that file is there."""

EXECUTED = {
    "PartialFusion": "binds a subgraph; tests/runtime/control_flow_test.cc",
    "Switch": "chooses a subgraph; tests/runtime/control_flow_test.cc",
    "SwitchLayer": "chooses a subgraph by number; tests/runtime/control_flow_test.cc",
    "Call": "runs a subgraph; tests/runtime/control_flow_test.cc",
    "Custom": "stands for operators with names: ours, and those of plug-ins; tests/runtime/registry_test.cc",
}
"""What the executor runs, not a kernel of its own."""

NOT_INFERENCE = {
    "GenOP": "any operator of an obfuscated file, which is refused",
    "AllGather": "exchanges tensors between machines",
    "ReduceScatter": "exchanges tensors between machines",
    "FlattenGrad": "a gradient",
    "LSTMGradData": "a gradient",
    "LSTMGradWeight": "a gradient",
    "Assign": "writes a weight, in training",
    "AssignAdd": "counts steps, in training",
}
"""Primitives without a kernel, which are refused by name when they would have to run."""

WITHOUT_CASE = {"QuantDTypeCast": "needs records; tests/runtime/test_quant_dtype_cast.py"}
"""Kernels that a case of plain types cannot run."""


def facts() -> dict[str, tuple[bool, int, int]]:
    """Primitive -> whether it has a shape rule, how many kernels, and how many cases run them."""
    rules, kernels = set(_native.shape_rules()), [operator for _, operator, _, _ in _native.kernels()]
    cases = [case.op.name for case in CASES]
    return {name: (number in rules, kernels.count(name), cases.count(name)) for number, name in PRIMITIVES.items()}


def test_every_inference_primitive_has_rule_kernel_and_cases() -> None:
    found = facts()
    lacking = {
        name: have
        for name, have in found.items()
        if name not in EXECUTED | NOT_INFERENCE and not (have[0] and have[1] and (have[2] or name in WITHOUT_CASE))
    }
    assert lacking == {}, "(shape rule, kernels, cases)"


def test_the_rest_is_said_truly() -> None:
    """A primitive that has got a kernel leaves the lists."""
    found = facts()
    assert {name for name in EXECUTED | NOT_INFERENCE if found[name][1]} == set()
    assert len(PRIMITIVES) == 221
    assert len(PRIMITIVES) - len(NOT_INFERENCE) == 213
