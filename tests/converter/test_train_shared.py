"""`converter_lite --trainModel=true`: which constants that several nodes read are one layer's, and trained as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.convert import convert
from mslite.converter.mindir.graph import Array
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings

ROWS, SIZE, CHANNELS = 4, 6, 3
WIDTH = 5


def _saved(
    path: Path, nodes: list[NodeProto], inputs: dict[str, tuple[int, tuple[int, ...]]], constants: dict[str, Array]
) -> Path:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _trained(source: Path, batches: list[Array]) -> dict[str, Array]:
    """How far a step of SGD with the rate 1 moves each trained constant, by name."""
    settings = TrainSettings(Loss.SQUARED, Optimizer.SGD, 1.0, batch_norm=BatchNorm.FROZEN)
    model = mslite.Model()
    file = convert(Options(source, source.with_suffix(""), training=settings)).files[0]
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    before = {one.name: one.get_data_to_numpy().astype(np.float64) for one in model.get_trainable_params()}
    model.run_step(batches)
    after = {one.name: one.get_data_to_numpy().astype(np.float64) for one in model.get_trainable_params()}
    return {name: before[name] - after[name] for name in before}


def _normalised_twice(path: Path, shared: bool) -> Path:
    """x -> convolution, normalisation, ReLU, convolution, normalisation; one weight, or two that are equal."""
    random = np.random.default_rng(2)
    weight = (random.standard_normal((CHANNELS, CHANNELS, 3, 3)) / 3).astype(np.float32)
    constants = {"w1": weight} if shared else {"w1": weight, "w2": weight + np.float32(0)}
    nodes, x = [], "x"
    for number in (1, 2):
        norm = {
            "scale": random.uniform(0.5, 2, CHANNELS),
            "offset": random.standard_normal(CHANNELS),
            "mean": random.standard_normal(CHANNELS),
            "variance": random.uniform(0.5, 2, CHANNELS),
        }
        names = [f"{name}{number}" for name in norm]
        constants |= {name: data.astype(np.float32) for name, data in zip(names, norm.values(), strict=True)}
        weights = "w1" if shared else f"w{number}"
        nodes.append(helper.make_node("Conv", [x, weights], [f"c{number}"], name=f"conv{number}", pads=[1] * 4))
        y = f"n{number}" if number == 1 else "y"
        nodes.append(helper.make_node("BatchNormalization", [f"c{number}", *names], [y], name=f"norm{number}"))
        if number == 1:
            nodes.append(helper.make_node("Relu", [y], ["r"], name="relu"))
            x = "r"
    return _saved(path, nodes, {"x": (TensorProto.FLOAT, (ROWS, CHANNELS, SIZE, SIZE))}, constants)


def test_a_convolution_in_two_places_with_frozen_normalisation(tmp_path: Path) -> None:
    """It stays one weight, whose gradient is the sum of those that two equal ones have. Those are part of what they are folded into:
    scaled by their normalisations."""
    random = np.random.default_rng(3)
    shapes = ((ROWS, SIZE, SIZE, CHANNELS), (ROWS, CHANNELS, SIZE, SIZE))  # of the input, and of what the source gives
    batch = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    one = _trained(_normalised_twice(tmp_path / "one.onnx", True), batch)
    two = _trained(_normalised_twice(tmp_path / "two.onnx", False), batch)
    weights = [[change for change in found.values() if change.ndim == 4] for found in (one, two)]
    assert (len(weights[0]), len(weights[1])) == (1, 2)
    constants = np.random.default_rng(2)
    constants.standard_normal((CHANNELS, CHANNELS, 3, 3))
    wanted = np.zeros_like(weights[0][0])
    for change in weights[1]:
        scale = constants.uniform(0.5, 2, CHANNELS)
        constants.standard_normal(2 * CHANNELS)
        variance = constants.uniform(0.5, 2, CHANNELS)
        wanted += change * (scale / np.sqrt(variance + 1e-5))[:, None, None, None]
    np.testing.assert_allclose(weights[0][0], wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("shared", [False, True])
def test_normalisations_that_begin_alike_behind_one_table(shared: bool, tmp_path: Path) -> None:
    """Two rows of one table of embeddings are normalised by the same ones and zeros. Before products of their own these are two layers;
    between the table and one product they are one."""
    random = np.random.default_rng(4)
    constants: dict[str, Array] = {
        "table": random.standard_normal((7, WIDTH)).astype(np.float32),
        "ones": np.ones(WIDTH, np.float32),
        "zeros": np.zeros(WIDTH, np.float32),
        "w1": random.standard_normal((WIDTH, 2)).astype(np.float32),
    }
    if not shared:
        constants["w2"] = random.standard_normal((WIDTH, 2)).astype(np.float32)
    nodes = []
    for number in (1, 2):
        product = "w1" if shared else f"w{number}"
        nodes += [
            helper.make_node("Gather", ["table", f"i{number}"], [f"e{number}"], name=f"embedding{number}"),
            helper.make_node(
                "LayerNormalization", [f"e{number}", "ones", "zeros"], [f"n{number}"], name=f"norm{number}"
            ),
            helper.make_node("MatMul", [f"n{number}", product], [f"p{number}"], name=f"product{number}"),
        ]
    nodes.append(helper.make_node("Sub", ["p1", "p2"], ["y"], name="difference"))
    source = _saved(tmp_path / "net.onnx", nodes, {f"i{n}": (TensorProto.INT64, (ROWS,)) for n in (1, 2)}, constants)
    rows = [random.integers(0, 7, ROWS) for _ in range(2)]
    found = _trained(source, [*rows, random.standard_normal((ROWS, 2)).astype(np.float32)])
    scales = [change for change in found.values() if change.shape == (WIDTH,)]
    assert len(scales) == (2 if shared else 4)
    assert len(found) == len(scales) + len(constants) - 2
