"""GroupNorm spelled with InstanceNorm, which is recognized before the layout pass: operators, numbers, a refusal."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.normalization import InstanceNorm
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.layout import unify_layout
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules import CHANNELS_FIRST
from tests.passes.builder import assert_close, integers, numbers, operators, run
from tests.passes.test_layout import Source

SETTINGS = Settings(source_layout=Format.NCHW, input_format=Format.NCHW)
N = SYMBOL_LIMIT - 5


def group_norm(rows: tuple[int, ...] = (2, 3, 40), image: bool = True, shared: bool = False, batch: int = 2) -> Module:
    """torch.nn.GroupNorm(3, 6) on [batch, 6, 5, 4], as it is exported."""
    b = Source()
    x = b.input(batch, 6, 5, 4)
    y = b.typed(Reshape(), rows, x, integers(0, *rows[1:]))
    row = (*rows, 1) if image else rows
    if image:
        y = b.typed(Reshape(), row, y, integers(0, 0, -1, 1))
    groups = rows[1]
    y = norm = b.typed(InstanceNorm(epsilon=1e-3), row, y, numbers(groups), numbers(groups, seed=1))
    if image:
        y = b.typed(Reshape(), rows, y, integers(0, *rows[1:]))
    y = b.typed(Reshape(), (batch, 6, 5, 4), y, integers(-1, 6, 5, 4))
    y = b.typed(MulFusion(), (batch, 6, 5, 4), y, numbers(6, 1, 1, seed=2))
    y = b.typed(AddFusion(), (batch, 6, 5, 4), y, numbers(6, 1, 1, seed=3))
    return b.module(y, norm) if shared else b.module(y)


def fuse(module: Module) -> Context:
    context = Context(SETTINGS, Format.NCHW)
    apply_rules(CHANNELS_FIRST, module, context)
    return context


@pytest.mark.parametrize("image", [True, False])
@pytest.mark.parametrize("batch", [2, N])
def test_operators_that_remain(image: bool, batch: int) -> None:
    module = group_norm(rows=(batch, 3, 40), image=image, batch=batch)
    fuse(module)
    assert operators(module) == ["GroupNormFusion"]


@pytest.mark.parametrize("image", [True, False])
def test_numbers_stay(image: bool) -> None:
    results = []
    for fused in (False, True):
        module = group_norm(image=image)
        if fused:
            fuse(module)
        context = Context(SETTINGS, Format.NCHW)
        unify_layout(module, context)
        infer_shapes(module, context)
        results.append(run(module))
    assert np.abs(results[0][0]).max() > 0.1
    assert_close(results[1], results[0])


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (group_norm(shared=True), "used elsewhere"),
        (group_norm(rows=(2, 4, 30)), "not groups of several channels"),
        (group_norm(rows=(1, 3, 80)), "not groups of several channels"),
    ],
)
def test_refusal_names_its_reason(module: Module, reason: str) -> None:
    before = operators(module)
    context = fuse(module)
    assert operators(module) == before
    assert any(reason in text for rule, _, text in context.refusals if rule == "GroupNormFusion")
