"""Recurrent layers on stored integers give those of LiteRT's kernels, to the bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.integer_models import Tensor, compare, integers, loaded, reference, scales, zero_points
from tests.parsers.tflite.tflite_build import Graph, Operator, build

EXAMPLES = settings(max_examples=40, deadline=None)


@dataclass
class Tensors:
    """The tensors of a graph in the making, and the operands of its one operator (-1: absent)."""

    chance: np.random.Generator
    all: list[Tensor] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)

    def add(self, tensor: Tensor) -> int:
        self.all.append(tensor)
        return len(self.all) - 1

    def operand(self, tensor: Tensor | None) -> None:
        self.operands.append(-1 if tensor is None else self.add(tensor))

    def weight(self, there: bool, dtype: str, shape: tuple[int, ...], scale: float) -> None:
        """A constant of random integers; absent where it is not `there`."""
        if not there:
            self.operand(None)
            return
        low = {"int8": -127, "int16": -9000, "int32": -3000}[dtype]
        data = self.chance.integers(low, -low + 1, shape).astype(dtype)
        self.operand(Tensor(f"t{len(self.all)}", data=data, quant=(scale, 0)))


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("projected", [False, True])
@EXAMPLES
@given(data=st.data())
def test_lstm(time_major: bool, normalised: bool, projected: bool, data: st.DataObject) -> None:
    draw = data.draw
    batch, steps, size = draw(st.integers(1, 3)), draw(st.integers(2, 5)), draw(st.integers(1, 40))
    units = draw(st.integers(2, 20))
    outputs = draw(st.integers(1, 12)) if projected else units
    coupled, peepholes = draw(st.booleans()), draw(st.booleans()) and not projected
    x_quant = (draw(scales), draw(zero_points("int8")))
    state = (draw(st.floats(0.003, 0.02).map(lambda value: float(np.float32(value)))), draw(zero_points("int8")))
    hidden = (float(np.float32(draw(st.floats(0.003, 0.02)))), draw(zero_points("int8"))) if projected else state
    t = Tensors(np.random.default_rng(draw(st.integers(0, 999))))
    shape = (steps, batch, size) if time_major else (batch, steps, size)
    t.operand(Tensor("x", shape, "int8", quant=x_quant))
    weight_scales = iter(t.chance.uniform(0.002, 0.01, 30).astype(np.float32).tolist())
    for columns in (size, outputs):
        for gate in range(4):
            t.weight(gate > 0 or not coupled, "int8", (units, columns), next(weight_scales))
    for gate in range(3):
        t.weight(peepholes and (gate > 0 or not coupled), "int16", (units,), next(weight_scales) / 100)
    for gate in range(4):
        t.weight(gate > 0 or not coupled, "int32", (units,), next(weight_scales) / 100)
    t.weight(projected, "int8", (outputs, units), next(weight_scales))
    t.weight(projected and draw(st.booleans()), "int32", (outputs,), 0.0001)
    t.operand(Tensor("hidden", (batch, outputs), "int8", quant=state, variable=True))
    t.operand(Tensor("cell", (batch, units), "int16", quant=(2.0 ** -draw(st.integers(9, 15)), 0), variable=True))
    for gate in range(4):
        t.weight(normalised and (gate > 0 or not coupled), "int16", (units,), next(weight_scales) / 1000)
    between = [
        t.add(Tensor(f"between{gate}", (0,), "int16", quant=(float(np.float32(2.0**-12 * (1 + gate / 3))), 0)))
        for gate in range(4)
    ]
    between.append(t.add(Tensor("between_hidden", (0,), "int8", quant=hidden)))
    y = t.add(Tensor("y", (*shape[:2], outputs), "int8", quant=state))
    clips = draw(st.sampled_from([0.0, 0.5])), draw(st.sampled_from([0.0, 0.3]))
    options = {
        0: ("byte", 4), 1: ("float", clips[0]), 2: ("float", clips[1]), 3: ("bool", time_major), 4: ("bool", False)
    }  # fmt: skip
    operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", t.operands, [y], options, "UnidirectionalSequenceLSTMOptions")
    operator.intermediates = between
    compare(build(Graph(t.all, [0], [y], [operator])), [integers(draw(st.integers(0, 99)), "int8", shape)])


def _svdf(t: Tensors, batch: int, size: int, rank: int, units: int, memory: int, records: dict[str, float]) -> bytes:
    filters = units * rank
    t.operand(Tensor("x", (batch, size), "int8", quant=(records["x"], 5)))
    t.weight(True, "int8", (filters, size), records["feature"])
    t.weight(True, "int16", (filters, memory), records["time"])
    t.weight(t.chance.random() < 0.7, "int32", (units,), 0.001)
    t.operand(Tensor("state", (batch, filters * memory), "int16", quant=(records["state"], 0), variable=True))
    y = t.add(Tensor("y", (batch, units), "int8", quant=(records["y"], -7)))
    options = {0: ("int", rank), 1: ("byte", 1)}
    return build(Graph(t.all, [0], [y], [Operator("SVDF", t.operands, [y], options, "SVDFOptions")]))


@EXAMPLES
@given(data=st.data())
def test_svdf(data: st.DataObject) -> None:
    draw = data.draw
    t = Tensors(np.random.default_rng(draw(st.integers(0, 999))))
    batch, size, rank = draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(1, 3))
    records = {"x": 0.05, "feature": 0.01, "time": 0.00002, "state": draw(scales) / 100, "y": draw(scales)}
    content = _svdf(t, batch, size, rank, draw(st.integers(1, 9)), draw(st.integers(1, 8)), records)
    compare(content, [integers(draw(st.integers(0, 99)), "int8", (batch, size))])


def test_filters_remember_the_runs_before(tmp_path: Path) -> None:
    """The state of a streaming layer stays in integers from one run to the next."""
    t = Tensors(np.random.default_rng(5))
    records = {"x": 0.05, "feature": 0.01, "time": 0.00002, "state": 0.0004, "y": 0.02}
    content = _svdf(t, 2, 12, 2, 5, 4, records)
    x = integers(3, "int8", (2, 12))
    runner = loaded(content, tmp_path)
    for runs in (1, 2, 3):
        (mine,) = runner.predict([x])
        np.testing.assert_array_equal(mine.get_data_to_numpy(), reference(content, [x], runs)[0])
