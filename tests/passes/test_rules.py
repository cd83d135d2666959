"""Every rule: the operators it leaves, the numbers it computes, and what it refuses and why."""

from __future__ import annotations

import pytest

from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.cleanup import remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.rule import Rule, apply_rules
from mslite.converter.passes.rules import RULES
from tests.passes import (
    cases_convolution,
    cases_integer_products,
    cases_moves,
    cases_normalization,
    cases_products,
    cases_rectifiers,
    cases_spellings,
)
from tests.passes.builder import assert_close, operators, run, run_all
from tests.passes.case import Build

CASES = {
    **cases_convolution.CASES,
    **cases_products.CASES,
    **cases_integer_products.CASES,
    **cases_spellings.CASES,
    **cases_normalization.CASES,
    **cases_rectifiers.CASES,
    **cases_moves.CASES,
}
WITH_TESTS_OF_THEIR_OWN = {"GroupNormFusion", "StoredConvPadFusion"}
"""Rules for graphs that no kernel can run before the layout pass, and for integers: test_group_norm.py,
test_stored_padding.py."""
BY_NAME = {rule.name: rule for rule in RULES}
REWRITTEN = [
    pytest.param(BY_NAME[name], build, left, id=f"{name}-{index}")
    for name, case in CASES.items()
    for index, (build, left) in enumerate(case.rewritten)
]


def test_every_rule_has_cases_and_a_name_of_its_own() -> None:
    assert set(CASES) | WITH_TESTS_OF_THEIR_OWN == set(BY_NAME)
    assert len(BY_NAME) == len(RULES)


@pytest.mark.parametrize(("rule", "build", "left"), REWRITTEN)
def test_operators_that_remain(rule: Rule, build: Build, left: list[str]) -> None:
    module, context = build(), Context()
    apply_rules([rule], module, context)
    assert operators(module) == left
    assert context.applied[rule.name] >= 1
    verify(module)


@pytest.mark.parametrize(("rule", "build", "left"), REWRITTEN)
def test_numbers_stay(rule: Rule, build: Build, left: list[str]) -> None:
    want = run(build())
    module = build()
    apply_rules([rule], module, Context())
    infer_shapes(module, Context())
    assert_close(run(module), want)


@pytest.mark.parametrize(("rule", "build", "left"), REWRITTEN)
def test_a_name_stays_with_its_numbers(rule: Rule, build: Build, left: list[str]) -> None:
    """A value that has become another one has another name: `--verify` compares with the source by name."""
    want = {value.name: array for value, array in run_all(build()).items()}
    module = build()
    apply_rules([rule], module, Context())
    infer_shapes(module, Context())
    for value, array in run_all(module).items():
        if value.name in want:
            assert_close([array.reshape(-1)], [want[value.name].reshape(-1)])


@pytest.mark.parametrize("name", sorted(CASES))
def test_refusal_names_its_reason(name: str) -> None:
    module, context = CASES[name].refused(), Context()
    before = operators(module)
    apply_rules([BY_NAME[name]], module, context)
    assert operators(module) == before
    assert name not in context.applied
    assert any(CASES[name].reason in reason for rule, _, reason in context.refusals if rule == name)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_blacklisted_rule_does_nothing(name: str) -> None:
    from mslite.converter.passes.context import Settings

    build, _ = CASES[name].rewritten[0]
    module = build()
    before = operators(module)
    apply_rules([BY_NAME[name]], module, Context(Settings(disabled_fusions=frozenset({name}))))
    assert operators(module) == before


def test_canceled_transposes_leave_nothing() -> None:
    from mslite.converter.mindir.ops.rearrange import Transpose
    from mslite.converter.mindir.ops.unary import Neg
    from tests.passes.builder import Builder, integers

    b = Builder()
    y = b.call(Transpose(), b.input(2, 3, 4), integers(0, 2, 1))
    module = b.module(b.call(Neg(), b.call(Transpose(), y, integers(0, 2, 1))))
    apply_rules([BY_NAME["TransposeFusion"]], module, Context())
    remove_identities(module, Context())
    assert operators(module) == ["Neg"]
