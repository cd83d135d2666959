"""The float graph before FULL_QUANT: the same function, in operators that integers can follow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.arithmetic import DivFusion
from mslite.converter.mindir.ops.enums import ActivationType, Format, PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion
from mslite.converter.mindir.verifier import verify
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.settings import quantizer_settings
from mslite.quantizer.transforms.prepare import prepare
from tests.quantizer.networks import convolution, node, node_of, real, run, samples, sqnr, weight


def pooled(pool: AvgPoolFusion, size: int, activation: ActivationType = ActivationType.SIGMOID) -> Module:
    """Convolution with a built-in activation → pooling → division by a constant."""
    draw = np.random.default_rng(0)
    x, a = real("x", 1, 6, 6, 3), real("a", 1, 6, 6, 24)
    p, y = real("p", 1, size, size, 24), real("y", 1, size, size, 24)
    divisor = constant("divisor", np.linspace(0.5, 2, 24).astype(np.float32))
    nodes = [
        node(convolution((3, 24), activation=activation), "conv", [x, weight(draw, "w", 24, 3, 3, 3)], a),
        node(pool, "pool", [a], p),
        node(DivFusion(), "divide", [p, divisor], y),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def average(kernel: int, whole: bool = False, **rest: PadMode) -> AvgPoolFusion:
    return AvgPoolFusion(
        format=Format.NHWC, kernel_size=(kernel, kernel), strides=(1, 1), pad=(0, 0, 0, 0),
        pad_mode=rest.get("pad_mode", PadMode.VALID), round_mode=RoundMode.FLOOR, global_=whole,
    )  # fmt: skip


@pytest.mark.nonconforming("activations of every kind behind convolutions")
@pytest.mark.parametrize(
    ("pool", "size", "is_mean"),
    [(average(6, whole=True), 1, True), (average(6), 1, True), (average(3), 4, False)],
)
def test_the_function_stays(pool: AvgPoolFusion, size: int, is_mean: bool, tmp_path: Path) -> None:
    module = pooled(pool, size)
    copy = copy_module(module)
    prepare(copy)
    verify(copy)
    assert [item.op.name for item in copy.main.nodes] == [
        "Conv2DFusion", "Activation", "ReduceFusion" if is_mean else "AvgPoolFusion", "MulFusion",
    ]  # fmt: skip
    sample = samples(module, 1)[0]
    assert np.allclose(run(module, sample, tmp_path)[0], run(copy, sample, tmp_path)[0], rtol=1e-5, atol=1e-6)


def test_clamps_stay_inside() -> None:
    for kind in (ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6):
        module = pooled(average(3), 4, kind)
        prepare(module)
        assert [item.op.name for item in module.main.nodes][:2] == ["Conv2DFusion", "AvgPoolFusion"]


def test_a_division_by_zero_stays() -> None:
    module = pooled(average(3), 4)
    divide = node_of(module, "divide")
    divide.set_inputs([divide.inputs[0], constant("zero", np.zeros(24, np.float32))])
    prepare(module)
    assert divide.op.name == "DivFusion"


def test_a_mean_has_its_own_scale(tmp_path: Path) -> None:
    """Few large values among many small ones: pooling in the scale of its input would leave a handful of steps."""
    module = pooled(average(6, whole=True), 1, ActivationType.RELU)
    data = [[np.where(np.arange(108).reshape(1, 6, 6, 3) == 40, 50.0, sample[0]).astype(np.float32)]
            for sample in samples(module, 8)]  # fmt: skip
    copy = copy_module(module)
    settings = quantizer_settings({"common_quant_param": {"quant_type": "FULL_QUANT"}})
    quantize(copy, settings, data)
    mean = node_of(copy, "pool")
    assert mean.op.name == "ReduceFusion"
    assert mean.output.quant[0].scale < mean.inputs[0].quant[0].scale / 5
    assert sqnr(run(module, data[0], tmp_path)[0], run(copy, data[0], tmp_path)[0]) > 25
