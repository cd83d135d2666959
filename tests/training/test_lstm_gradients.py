"""Training files whose gradients of an LSTM are two nodes, LSTMGradData and LSTMGradWeight, as MindSpore writes them: a step against
central differences in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.enums import DataType, Format, ReduceMode
from mslite.converter.mindir.ops.recurrent import LSTM
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.training import SGD, AssignAdd, FlattenGrad, LSTMGradData, LSTMGradWeight
from mslite.converter.training import with_variables_for_constants

TIME, BATCH, WIDTH, UNITS = 3, 2, 4, 3
pytestmark = pytest.mark.nonconforming(
    "readers of 2.7 take no LSTM with four operands, as the files of older ones have it"
)
TRAINED = ("x", "h0", "c0", "flat")


def _operands(directions: int, biases: int) -> dict[str, Array]:
    random = np.random.default_rng(4)
    rows = directions * 4 * UNITS
    shapes = {
        "x": (TIME, BATCH, WIDTH),
        "h0": (directions, BATCH, UNITS),
        "c0": (directions, BATCH, UNITS),
        "flat": (rows * (WIDTH + UNITS + biases), 1, 1),
        "dy": (TIME, BATCH, directions * UNITS),
        "dh": (directions, BATCH, UNITS),
        "dc": (directions, BATCH, UNITS),
    }
    return {name: random.standard_normal(shape).astype(np.float32) * 0.5 for name, shape in shapes.items()}


def _value(name: str, shape: tuple[int, ...]) -> Value:
    return Value(name, DataType.FLOAT32, shape, format=Format.NHWC)


def _network(directions: int, biases: int, kept_at: int = 0) -> Module:
    """The loss is the sum of all results times numbers, which are then their gradients. Everything that the layer reads is trained by a
    step of 1; one gradient goes through FlattenGrad, and AssignAdd counts. `kept_at`: of the two results behind the states, the
    one that is read for the intermediate results."""
    given = _operands(directions, biases)
    constants = {name: constant(name, given[name], Format.NHWC) for name in TRAINED}
    shapes = {name: data.shape for name, data in given.items()}
    inputs = [_value(name, shapes[name]) for name in ("dy", "dh", "dc")]
    nodes: list[Node] = []

    def add(op: object, name: str, operands: list[Value], *made: Value) -> tuple[Value, ...]:
        nodes.append(Node(op, name, tuple(operands), made))  # type: ignore[arg-type]
        return made

    settings = {
        "bidirectional": directions == 2,
        "has_bias": biases > 0,
        "input_size": WIDTH,
        "hidden_size": UNITS,
        "num_layers": 1,
    }
    results = [_value(f"lstm_{i}", shapes[name]) for i, name in enumerate(("dy", "dh", "dc"))]
    kept = [_value("intermediate", (6 * TIME * BATCH * directions * UNITS,)), _value("state", (1,))]
    add(LSTM(**settings), "lstm", list(constants.values()), *results, *kept)
    sums = []
    for result, factor in zip(results, inputs, strict=True):
        (product,) = add(
            MulFusion(), f"{result.name}/product", [result, factor], _value(f"{result.name}/p", result.shape or ())
        )
        axes = constant(f"{result.name}/axes", np.arange(3, dtype=np.int32), Format.NHWC)
        op = ReduceFusion(mode=ReduceMode.ReduceSum, keep_dims=False, coeff=1.0)
        sums += add(op, f"{result.name}/sum", [product, axes], _value(f"{result.name}/s", ()))
    (two,) = add(AddFusion(), "two", sums[:2], _value("two", ()))
    (loss,) = add(AddFusion(), "Default/_loss_fn-sum", [two, sums[2]], _value("loss", ()))
    unused = constant("unused", np.zeros(1, np.float32), Format.NHWC)
    before = [results[0], *inputs, constants["flat"], constants["h0"], constants["c0"], kept[kept_at], unused]
    found = [_value(f"Gradients/{name}", shapes[name]) for name in TRAINED]
    add(LSTMGradData(**settings), "Gradients/data", before, *found[:3])
    add(
        LSTMGradWeight(**settings),
        "Gradients/weight",
        [constants["x"], constants["h0"], results[0], kept[kept_at], unused],
        found[3],
    )
    size = constant("size", np.asarray(shapes["h0"], np.int32), Format.NHWC)
    (found[1],) = add(FlattenGrad(), "Gradients/flat", [found[1], size], _value("flattened", shapes["h0"]))
    one, zero = constant("one", np.ones(1, np.float32), Format.NHWC), np.zeros(1, np.float32)
    for name, gradient in zip(TRAINED, found, strict=True):
        numbers = [
            constant(f"{name}/{what}", data, Format.NHWC)
            for what, data in (("accum", np.zeros_like(given[name])), ("stat", zero))
        ]
        momentum = constant(f"{name}/momentum", zero, Format.NHWC)
        rate = constant(f"{name}/rate", np.ones(1, np.float32), Format.NHWC)
        add(
            SGD(),
            f"{name}/step",
            [constants[name], gradient, rate, numbers[0], momentum, numbers[1]],
            _value(f"{name}/done", (1,)),
        )
    add(AssignAdd(), "count", [constant("counter", zero, Format.NHWC), one], _value("counted", (1,)))
    return Module([Graph("network", inputs, [loss], nodes)], name="network")


def _lstm(x: Array, h: Array, c: Array, w: Array, r: Array, bias: Array) -> tuple[Array, Array, Array]:
    """One direction, gates i f g o."""
    found = []
    for step in x:
        i, f, g, o = np.split(step @ w.T + h @ r.T + bias, 4, axis=1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        found.append(h)
    return np.stack(found), h, c


def _loss(values: dict[str, Array], directions: int, biases: int) -> float:
    rows = 4 * UNITS
    split = directions * rows * (WIDTH + UNITS)
    products, bias = values["flat"][:split].reshape(directions, -1), values["flat"][split:]  # by directions, as on GPUs
    w, r = products[:, : rows * WIDTH].reshape(-1, rows, WIDTH), products[:, rows * WIDTH :].reshape(-1, rows, UNITS)
    biased = bias.reshape(directions, biases, rows).sum(axis=1)
    total = 0.0
    for way in range(directions):
        x = values["x"][::-1] if way else values["x"]
        y, h, c = _lstm(x, values["h0"][way], values["c0"][way], w[way], r[way], biased[way])
        y = y[::-1] if way else y
        own = values["dy"][:, :, way * UNITS : (way + 1) * UNITS]
        total += (y * own).sum() + (h * values["dh"][way]).sum() + (c * values["dc"][way]).sum()
    return float(total)


def _gradients(directions: int, biases: int) -> dict[str, Array]:
    values = {name: data.astype(np.float64) for name, data in _operands(directions, biases).items()}
    found = {}
    for name in TRAINED:
        slopes = np.zeros(values[name].size)
        flat = values[name].reshape(-1)
        for i in range(flat.size):
            middle = flat[i]
            flat[i] = middle + 1e-5
            above = _loss(values, directions, biases)
            flat[i] = middle - 1e-5
            slopes[i] = (above - _loss(values, directions, biases)) / 2e-5
            flat[i] = middle
        found[name] = slopes.reshape(values[name].shape)
    return found


def _built(file: Path, *, trains: bool) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg() if trains else None)
    if trains:
        model.set_train_mode(True)
    return model


@pytest.mark.parametrize(("directions", "biases"), [(1, 0), (1, 2), (2, 2)])
def test_a_step(directions: int, biases: int, tmp_path: Path) -> None:
    save(_network(directions, biases), tmp_path / "train.ms")
    given = _operands(directions, biases)
    inputs = [given[name] for name in ("dy", "dh", "dc")]
    model = _built(tmp_path / "train.ms", trains=True)
    losses = [float(model.run_step(inputs)[0].get_data_to_numpy().item())]
    exact = {name: data.astype(np.float64) for name, data in given.items()}
    assert losses[0] == pytest.approx(_loss(exact, directions, biases), rel=1e-5)
    wanted = _gradients(directions, biases)
    trained = {one.name: one.get_data_to_numpy().copy() for one in model.get_trainable_params()}
    assert set(trained) == set(TRAINED)
    for name, value in trained.items():
        np.testing.assert_allclose(
            given[name] - value, wanted[name], rtol=0, atol=1e-6 * np.abs(wanted[name]).max() + 1e-6
        )
    losses += [float(model.run_step(inputs)[0].get_data_to_numpy().item()) for _ in range(3)]
    # What generated C is made of: a graph with variables, in which every run is a step.
    adopted = with_variables_for_constants(load(tmp_path / "train.ms"))
    assert set(adopted.parameters) == set(TRAINED)
    save(adopted.module, tmp_path / "adopted.ms")
    steps = _built(tmp_path / "adopted.ms", trains=False)
    tensors = steps.get_inputs()
    for tensor, data in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(data)
    again = [float(steps.predict(tensors)[0].get_data_to_numpy().item()) for _ in range(4)]
    assert again == losses


def test_other_intermediate_results_are_refused(tmp_path: Path) -> None:
    save(_network(1, 2, kept_at=1), tmp_path / "train.ms")
    with pytest.raises(
        RuntimeError, match=r"Gradients/data.*: no LSTM with flat weights gives the intermediate results"
    ):
        _built(tmp_path / "train.ms", trains=True)
    with pytest.raises(ConversionError, match=r"Gradients/data.*: its intermediate results do not come from an LSTM"):
        with_variables_for_constants(load(tmp_path / "train.ms"))
