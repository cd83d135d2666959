"""Constants of generated projects lie where their kernels may read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.tables import QuantParam
from tests.passes.builder import Builder

from . import modules
from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core
from .networks import Network

_CHECKED = Settings(options=("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"))


def _products() -> Module:
    """Two products whose weights have 20 and 28 bytes: packed, neither ends on a boundary of 8."""
    draw = np.random.default_rng(3)
    build = Builder()
    x = build.input(2, 4, dtype=np.int8)
    x.quant = (QuantParam(scale=0.05, zeroPoint=-3),)
    for layer, (units, channels) in enumerate(((5, 4), (7, 5), (3, 7))):
        weight = constant(f"w{layer}", draw.integers(-127, 128, (units, channels)).astype(np.int8))
        weight.quant = tuple(QuantParam(scale=0.002 * (k + 1)) for k in range(units))
        bias = constant(f"b{layer}", draw.integers(-99, 99, units).astype(np.int32))
        bias.quant = tuple(QuantParam(scale=0.0001 * (k + 1)) for k in range(units))
        y = Value(f"y{layer}", DataType.INT8, (2, units), quant=(QuantParam(scale=0.1, zeroPoint=layer),))
        operator = MatMulFusion(transpose_b=True)
        build.graph.nodes.append(
            Node(operator, f"product{layer}", (x, weight, bias), (y,), quant_type=QuantType.QUANT_ALL)
        )
        x = y
    return build.module(x)


def test_packed_weights_are_aligned_one_behind_the_other(tmp_path: Path) -> None:
    path = modules.write(_products(), tmp_path)
    core = generate_core(path, "x86", _CHECKED)
    assert sum(bool(step.packed) for step in core.program.steps) == 3
    compiled = Compiled(core, tmp_path / "project", _CHECKED)
    inputs = by_chance(core.program, 0)
    assert difference(Reference(path, core.program).run(inputs), compiled.run(inputs)) == 0


@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m55"])
def test_channels_beside_fours_cost_no_more_than_others(tmp_path: Path, target: str) -> None:
    """Weights, biases, five bytes for each channel that has a scale, and 2 %."""
    network = Network(1, 8, 8, 3)
    network.convolution(22, (3, 3))
    network.convolution(21, (3, 3))
    network.convolution(19, (1, 1))
    network.average()
    network.dense(10, relu=False)
    model = tmp_path / "model.tflite"
    model.write_bytes(network.bytes())
    core = generate([Source(model)], GenerateSettings(target_named(target), tmp_path / "project")).cores[0]
    weights = 22 * 27 + 21 * 9 * 22 + 19 * 21 + 10 * 19
    channels, scales = 22 + 21 + 19 + 10, 22 + 21 + 19 + 1
    least = weights + 4 * channels + 5 * scales
    assert least <= core.constants_size <= 1.02 * least
