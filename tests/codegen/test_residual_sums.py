"""Generated C plans as the runtime does: a convolution and its sum are one step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mslite.codegen.lowering import lower_ms
from mslite.codegen.targets import TARGETS
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from tests.passes.builder import Builder, numbers

from . import modules
from .generated import Compiled, Reference, by_chance, difference, generate_core

PLAIN = replace(modules.convolution(4, 4), activation_type=ActivationType.NO_ACTIVATION)


def block(bias: bool = True, shown: bool = False) -> Module:
    """relu(conv(tanh(x)) + abs(x)); the residual is computed last. `shown`: the convolution's result is an output."""
    build = Builder()
    x = build.input(1, 9, 7, 4)
    tanh = build.call(Activation(activation_type=ActivationType.TANH), x)
    y = build.call(PLAIN, tanh, numbers(4, 3, 3, 4), *([numbers(4)] if bias else []))
    other = build.call(Activation(activation_type=ActivationType.RELU), x)
    total = build.call(AddFusion(activation_type=ActivationType.RELU6), other, y)
    return build.module(total, *([y] if shown else []))


def steps(path: Path, target: str) -> list[str]:
    return [step.operator for step in lower_ms(path, TARGETS[target]).steps]


@pytest.mark.parametrize("target", ["x86", "x86-avx2", "arm64", "cortex-m4", "cortex-m55"])
def test_they_are_one_step(target: str, tmp_path: Path) -> None:
    path = modules.write(block(), tmp_path)
    assert steps(path, target) == ["Activation", "Activation", "Conv2DAddFusion"]
    program = lower_ms(path, TARGETS[target])
    assert program.steps[-1].macs == 9 * 7 * 4 * 36
    apart = modules.write(block(shown=True), tmp_path, "apart")
    assert steps(apart, target) == ["Activation", "Conv2DFusion", "Activation", "AddFusion"]


@pytest.mark.parametrize("bias", [True, False])
def test_they_compute_the_bits_of_two(bias: bool, tmp_path: Path) -> None:
    path, apart = (modules.write(block(bias, shown), tmp_path, str(shown)) for shown in (False, True))
    core, other = generate_core(path), generate_core(apart)
    given = by_chance(core.program, 1)
    got = Compiled(core, tmp_path / "one").run(given)
    assert difference(Reference(path, core.program).run(given), got) == 0
    assert difference(Compiled(other, tmp_path / "two").run(given)[:1], got) == 0


def test_in_float16_too(tmp_path: Path) -> None:
    """Such models compute in float32, between casts."""
    module = block()
    for value in module.main.values():
        if not value.is_constant:
            value.dtype = DataType.FLOAT16
    found = steps(modules.write(module, tmp_path), "x86")
    assert found == ["Cast", "Activation", "Activation", "Conv2DAddFusion", "Cast"]
