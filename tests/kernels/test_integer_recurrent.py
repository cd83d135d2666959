"""Recurrent layers on stored integers give those of LiteRT's kernels, to the bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.kernels.integer_models import Tensor, compare, integers, loaded, reference, scales, zero_points
from tests.parsers.tflite.tflite_build import Graph, Operator, build

EXAMPLES = settings(
    max_examples=20, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)


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
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("projected", [False, True])
@EXAMPLES
@given(data=st.data())
def test_lstm(time_major: bool, normalized: bool, projected: bool, data: st.DataObject) -> None:
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
        t.weight(normalized and (gate > 0 or not coupled), "int16", (units,), next(weight_scales) / 1000)
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


@pytest.mark.parametrize("power", [-16, -8])
def test_cell_state_without_a_tangent_is_computed_in_float32(power: int, tmp_path: Path) -> None:
    """The converter writes such a scale where the cell state stays below 0.5; LiteRT's kernel leaves the tangent out."""
    t = Tensors(np.random.default_rng(0))
    t.operand(Tensor("x", (1, 3, 5), "int8", quant=(0.02, 0)))
    for columns in (5, 7):
        for _ in range(4):
            t.weight(True, "int8", (7, columns), 0.001)
    for _ in range(3):
        t.weight(False, "int16", (7,), 1.0)
    for _ in range(4):
        t.weight(True, "int32", (7,), 0.00002)
    for _ in range(2):
        t.weight(False, "int8", (7, 7), 1.0)
    t.operand(Tensor("hidden", (1, 7), "int8", quant=(0.004, 0), variable=True))
    t.operand(Tensor("cell", (1, 7), "int16", quant=(2.0**power, 0), variable=True))
    for _ in range(4):
        t.weight(False, "int16", (7,), 1.0)
    between = [t.add(Tensor(f"between{gate}", (0,))) for gate in range(4)]
    between.append(t.add(Tensor("between_hidden", (0,), "int8", quant=(0.004, 0))))
    y = t.add(Tensor("y", (1, 3, 7), "int8", quant=(0.004, 0)))
    options = {0: ("byte", 4), 3: ("bool", False)}
    operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", t.operands, [y], options, "UnidirectionalSequenceLSTMOptions")
    operator.intermediates = between
    x = integers(3, "int8", (1, 3, 5))
    got = loaded(build(Graph(t.all, [0], [y], [operator])), tmp_path).predict([x])[0].get_data_to_numpy()
    parts = [tensor.data.astype(np.float64) * float(tensor.quant[0]) for tensor in t.all if tensor.data is not None]
    hidden = cell = np.zeros(7)
    for step in x[0] * 0.02:
        sums = [parts[gate] @ step + parts[4 + gate] @ hidden + parts[8 + gate] for gate in range(4)]
        i, f, o = (1 / (1 + np.exp(-sums[gate])) for gate in (0, 1, 3))
        cell = f * cell + i * np.tanh(sums[2])
        hidden = o * np.tanh(cell)
    assert np.abs(got[0, -1] - hidden / 0.004).max() <= 2


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


def _full_kernel(
    t: Tensors, draw: st.DrawFn, shape: tuple[int, int], sizes: tuple[int, int, int], coupled: bool, normalized: bool
) -> None:
    """The operands of an LSTM's full kernel on stored integers; `sizes`: input, units, and what they are projected to."""
    size, units, outputs = sizes
    t.operand(Tensor("x", shape, "int8", quant=(draw(scales), draw(zero_points("int8")))))
    weight_scales = iter(t.chance.uniform(0.002, 0.01, 30).astype(np.float32).tolist())
    for columns in (size, outputs):
        for gate in range(4):
            t.weight(gate > 0 or not coupled, "int8", (units, columns), next(weight_scales))
    for _ in range(3):
        t.operand(None)
    for gate in range(4):
        t.weight(gate > 0 or not coupled, "int32", (units,), next(weight_scales) / 100)
    projected = outputs != units or normalized
    t.weight(projected, "int8", (outputs, units), next(weight_scales))
    t.weight(projected, "int32", (outputs,), 0.0001)
    state = (float(np.float32(draw(st.floats(0.003, 0.02)))), draw(zero_points("int8")))
    t.operand(Tensor("hidden", (shape[0], outputs), "int8", quant=state, variable=True))
    t.operand(Tensor("cell", (shape[0], units), "int16", quant=(2.0**-15, 0), variable=True))
    for gate in range(4):
        t.weight(normalized and (gate > 0 or not coupled), "int16", (units,), next(weight_scales) / 1000)
    t.add(Tensor("y", (shape[0], outputs), "int8", quant=state))


LSTM = {0: ("byte", 4), 1: ("float", 0.0), 2: ("float", 0.0), 3: ("byte", 0), 4: ("bool", False)}


@EXAMPLES
@given(data=st.data())
def test_lstm_of_the_full_kernel(data: st.DataObject) -> None:
    """The operator LSTM: one step, its states kept."""
    draw = data.draw
    batch, size, units = draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(2, 20))
    t = Tensors(np.random.default_rng(draw(st.integers(0, 999))))
    _full_kernel(t, draw, (batch, size), (size, units, units), draw(st.booleans()), False)
    y = len(t.all) - 1
    operator = Operator("LSTM", t.operands, [y], LSTM, "LSTMOptions")
    record = t.all[y].quant
    operator.intermediates = [t.add(Tensor(f"between{index}", (0,), "int8", quant=record)) for index in range(5)]
    compare(build(Graph(t.all, [0], [y], [operator])), [integers(draw(st.integers(0, 99)), "int8", (batch, size))])


@EXAMPLES
@given(data=st.data())
def test_lstm_with_products_of_8_bits(data: st.DataObject) -> None:
    """The source's "8x8_8": coupled gates, normalized and projected."""
    draw = data.draw
    batch, size, units = draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(2, 20))
    t = Tensors(np.random.default_rng(draw(st.integers(0, 999))))
    _full_kernel(t, draw, (batch, size), (size, units, draw(st.integers(1, 12))), True, True)
    y = len(t.all) - 1
    clips = {1: ("float", draw(st.sampled_from([0.0, 0.5]))), 2: ("float", draw(st.sampled_from([0.0, 0.3])))}
    operator = Operator("LSTM", t.operands, [y], LSTM | clips, "LSTMOptions")
    for gate in range(4):
        for index, scale in enumerate((2.0**-12, draw(st.floats(0.005, 0.05)), draw(st.floats(0.005, 0.05)))):
            quant = (float(np.float32(scale)), draw(st.integers(-20, 20)) if index else 0)
            name = f"between{gate}{index}"
            operator.intermediates = [
                *operator.intermediates,
                t.add(Tensor(name, (0,), "int8" if index else "int16", quant=quant)),
            ]
    compare(build(Graph(t.all, [0], [y], [operator])), [integers(draw(st.integers(0, 99)), "int8", (batch, size))])


@EXAMPLES
@given(data=st.data())
def test_lstm_cell(data: st.DataObject) -> None:
    """The basic kernel on unsigned integers: its states come in and go out."""
    draw = data.draw
    batch, size, units = draw(st.integers(1, 3)), draw(st.integers(1, 40)), draw(st.integers(1, 20))
    seed, scale = draw(st.integers(0, 99)), float(np.float32(draw(st.floats(0.001, 0.05))))
    state = (1 / 128, 128)
    weight = integers(seed, "uint8", (4 * units, size + units))
    bias = np.random.default_rng(seed).integers(-3000, 3000, 4 * units).astype(np.int32)
    tensors = [
        Tensor("x", (batch, size), "uint8", quant=state),
        Tensor("h", (batch, units), "uint8", quant=state),
        Tensor("w", data=weight, quant=(scale, draw(zero_points("uint8")))),
        Tensor("b", data=bias, quant=(float(np.float32(scale / 128)), 0)),
        Tensor("c", (batch, units), "int16", quant=(1 / 2048, 0)),
        Tensor("y", (batch, units), "uint8", quant=state),
        Tensor("c_after", (batch, units), "int16", quant=(1 / 2048, 0)),
        Tensor("joined", (batch, size + units), "uint8", quant=state),
        Tensor("gates", (batch, 4 * units), "int16", quant=(1 / 4096, 0)),
    ]
    options = {0: ("byte", 4), 3: ("byte", 1)}
    operator = Operator("LSTM", [0, 1, 2, 3, 4], [5, 6, 7, 8], options, "LSTMOptions")
    inputs = [
        integers(seed + index, tensors[place].dtype, tensors[place].shape) for index, place in enumerate((0, 1, 4))
    ]
    compare(build(Graph(tensors, [0, 1, 4], [5, 6], [operator])), inputs)


def _hybrid_lstm(t: Tensors, prefix: str, size: int, units: int, outputs: int) -> list[int]:
    """Weights of 8 bits, real biases: input and recurrent weights, no peepholes, biases, a projection where it is one."""
    places = []
    for columns in (size, outputs):
        for gate in range(4):
            data = t.chance.integers(-127, 128, (units, columns)).astype(np.int8)
            scale = float(np.float32(t.chance.uniform(0.002, 0.01)))
            places.append(t.add(Tensor(f"{prefix}{columns}{gate}{len(places)}", data=data, quant=(scale, 0))))
    places += [-1] * 3
    for gate in range(4):
        places.append(t.add(Tensor(f"{prefix}b{gate}", data=t.chance.normal(size=units).astype(np.float32))))
    if outputs != units:
        data = t.chance.integers(-127, 128, (outputs, units)).astype(np.int8)
        places.append(t.add(Tensor(f"{prefix}p", data=data, quant=(0.01, 0))))
    else:
        places.append(-1)
    return [*places, -1]


def _near(content: bytes, x: npt.NDArray[np.float32], folder: Path) -> None:
    """LiteRT's numbers, up to the order of sums in float32."""
    wanted = reference(content, [x])
    runner = loaded(content, folder)
    for mine, want in zip(runner.predict([x]), wanted, strict=True):
        np.testing.assert_allclose(mine.get_data_to_numpy(), want, rtol=0, atol=2e-6 * float(np.abs(want).max()))


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
def test_lstm_with_weights_of_8_bits(time_major: bool, projected: bool, asymmetric: bool, tmp_path: Path) -> None:
    """In floating point: what the weights multiply is rounded to 8 bits in each step."""
    for seed in range(3):
        t = Tensors(np.random.default_rng(seed))
        batch, steps, size, units, outputs = 2, 4, 11 + seed, 9, 5 if projected else 9
        shape = (steps, batch, size) if time_major else (batch, steps, size)
        x = t.add(Tensor("x", shape))
        operands = [x, *_hybrid_lstm(t, "w", size, units, outputs)]
        operands += [
            t.add(Tensor("h", (batch, outputs), variable=True)),
            t.add(Tensor("c", (batch, units), variable=True)),
        ]
        y = t.add(Tensor("y", (*shape[:2], outputs)))
        options = {0: ("byte", 4), 3: ("bool", time_major), 4: ("bool", asymmetric)}
        operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options, "UnidirectionalSequenceLSTMOptions")
        content = build(Graph(t.all, [x], [y], [operator]))
        _near(content, t.chance.normal(size=shape).astype(np.float32), tmp_path)


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("name", ["UNIDIRECTIONAL_SEQUENCE_RNN", "RNN"])
def test_rnn_with_weights_of_8_bits(name: str, asymmetric: bool, tmp_path: Path) -> None:
    for seed in range(3):
        t = Tensors(np.random.default_rng(seed))
        batch, steps, size, units = 2, 4, 11 + seed, 9
        shape = (batch, size) if name == "RNN" else (batch, steps, size)
        x = t.add(Tensor("x", shape))
        operands = [x]
        for columns in (size, units):
            data = t.chance.integers(-127, 128, (units, columns)).astype(np.int8)
            operands.append(t.add(Tensor(f"w{len(operands)}", data=data, quant=(0.005, 0))))
        operands.append(t.add(Tensor("b", data=t.chance.normal(size=units).astype(np.float32))))
        operands.append(t.add(Tensor("h", (batch, units), variable=True)))
        y = t.add(Tensor("y", (*shape[:-1], units)))
        options = ({0: ("byte", 4), 1: ("bool", asymmetric)}, "RNNOptions")
        if name != "RNN":
            options = ({0: ("bool", False), 1: ("byte", 4), 2: ("bool", asymmetric)}, "SequenceRNNOptions")
        content = build(Graph(t.all, [x], [y], [Operator(name, operands, [y], *options)]))
        _near(content, t.chance.normal(size=shape).astype(np.float32), tmp_path)


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("merged", [False, True])
def test_both_directions_with_weights_of_8_bits(merged: bool, asymmetric: bool, tmp_path: Path) -> None:
    batch, steps, size, units = 2, 4, 11, 9
    t = Tensors(np.random.default_rng(1))
    x = t.add(Tensor("x", (steps, batch, size)))
    operands = [x, *_hybrid_lstm(t, "f", size, units, units), *_hybrid_lstm(t, "b", size, units, units)]
    operands += [t.add(Tensor(name, (batch, units), variable=True)) for name in ("fh", "fc", "bh", "bc")]
    operands += [-1] * 9
    widths = [2 * units] if merged else [units, units]
    results = [t.add(Tensor(f"y{index}", (steps, batch, width))) for index, width in enumerate(widths)]
    options = {0: ("byte", 4), 3: ("bool", merged), 4: ("bool", True), 5: ("bool", asymmetric)}
    operator = Operator("BIDIRECTIONAL_SEQUENCE_LSTM", operands, results, options, "BidirectionalSequenceLSTMOptions")
    content = build(Graph(t.all, [x], results, [operator]))
    _near(content, t.chance.normal(size=(steps, batch, size)).astype(np.float32), tmp_path)
