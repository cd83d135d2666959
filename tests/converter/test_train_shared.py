"""`converter_lite --trainModel=true`: which constants that several nodes read are one layer's, and trained as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, load_model, numpy_helper, save_model

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


def _trained(source: Path, batches: list[Array], batch_norm: BatchNorm = BatchNorm.FROZEN) -> dict[str, Array]:
    """How far a step of SGD with the rate 1 moves each trained constant, by name."""
    settings = TrainSettings(Loss.SQUARED, Optimizer.SGD, 1.0, batch_norm=batch_norm)
    model = mslite.Model()
    file = convert(Options(source, source.with_suffix(""), training=settings)).files[0]
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    before = {one.name: one.get_data_to_numpy().astype(np.float64) for one in model.get_trainable_params()}
    model.run_step(batches)
    after = {one.name: one.get_data_to_numpy().astype(np.float64) for one in model.get_trainable_params()}
    return {name: before[name] - after[name] for name in before}


def _normalized_twice(path: Path, shared: bool) -> Path:
    """x -> convolution, normalization, ReLU, convolution, normalization; one weight, or two that are equal."""
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


def test_a_convolution_in_two_places_with_frozen_normalization(tmp_path: Path) -> None:
    """It stays one weight, whose gradient is the sum of those that two equal ones have. Those are part of what they are folded into:
    scaled by their normalizations."""
    random = np.random.default_rng(3)
    shapes = ((ROWS, SIZE, SIZE, CHANNELS), (ROWS, CHANNELS, SIZE, SIZE))  # of the input, and of what the source gives
    batch = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    one = _trained(_normalized_twice(tmp_path / "one.onnx", True), batch)
    two = _trained(_normalized_twice(tmp_path / "two.onnx", False), batch)
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
def test_normalizations_that_begin_alike_behind_one_table(shared: bool, tmp_path: Path) -> None:
    """Two rows of one table of embeddings are normalized by the same ones and zeros. Before products of their own these are two layers;
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


def _norm_nodes(kind: str, x: str, y: str, name: str) -> list[NodeProto]:
    """A normalization of [N, 4, H, W] with the shared constants g and b (m and v), as exporters write it."""
    if kind == "group":
        return [
            helper.make_node("Reshape", [x, "rows2"], [f"{name}r"], name=f"{name}/rows"),
            helper.make_node("InstanceNormalization", [f"{name}r", "ones2", "zeros2"], [f"{name}i"], name=f"{name}/norm"),
            helper.make_node("Reshape", [f"{name}i", "image"], [f"{name}s"], name=f"{name}/image"),
            helper.make_node("Unsqueeze", ["g", "axes"], [f"{name}g"], name=f"{name}/gamma"),
            helper.make_node("Unsqueeze", ["b", "axes"], [f"{name}b"], name=f"{name}/beta"),
            helper.make_node("Mul", [f"{name}s", f"{name}g"], [f"{name}m"], name=f"{name}/scaled"),
            helper.make_node("Add", [f"{name}m", f"{name}b"], [y], name=f"{name}/shifted"),
        ]  # fmt: skip
    if kind == "instance":
        return [helper.make_node("InstanceNormalization", [x, "g", "b"], [y], name=name)]
    if kind == "batch":
        return [helper.make_node("BatchNormalization", [x, "g", "b", "m", "v"], [y], name=name)]
    last = [
        helper.make_node("Transpose", [x], [f"{name}l"], name=f"{name}/last", perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", [f"{name}y"], [y], name=f"{name}/first", perm=[0, 3, 1, 2]),
    ]
    if kind == "layer":
        return [
            last[0],
            helper.make_node("LayerNormalization", [f"{name}l", "g", "b"], [f"{name}y"], name=name),
            last[1],
        ]
    spelled = [
        helper.make_node("ReduceMean", [f"{name}l"], [f"{name}a"], name=f"{name}/mean", axes=[-1]),
        helper.make_node("Sub", [f"{name}l", f"{name}a"], [f"{name}c"], name=f"{name}/centered"),
        helper.make_node("Mul", [f"{name}c", f"{name}c"], [f"{name}q"], name=f"{name}/square"),
        helper.make_node("ReduceMean", [f"{name}q"], [f"{name}v"], name=f"{name}/variance", axes=[-1]),
        helper.make_node("Add", [f"{name}v", "epsilon"], [f"{name}e"], name=f"{name}/with_epsilon"),
        helper.make_node("Sqrt", [f"{name}e"], [f"{name}d"], name=f"{name}/deviation"),
        helper.make_node("Div", [f"{name}c", f"{name}d"], [f"{name}n"], name=f"{name}/normalized"),
        helper.make_node("Mul", [f"{name}n", "g"], [f"{name}m"], name=f"{name}/scaled"),
        helper.make_node("Add", [f"{name}m", "b"], [f"{name}y"], name=f"{name}/shifted"),
    ]
    return [last[0], *spelled, last[1]]


def _applied_twice(path: Path, kind: str, shared: bool) -> Path:
    """x -> convolution, normalization, ReLU, convolution, normalization: one with one gamma and beta, or two that are equal."""
    random = np.random.default_rng(6)
    channels = CHANNELS + 1
    constants = {
        "g": random.uniform(0.5, 1.5, channels).astype(np.float32),
        "b": random.standard_normal(channels).astype(np.float32),
        "m": random.standard_normal(channels).astype(np.float32),
        "v": random.uniform(0.5, 1.5, channels).astype(np.float32),
    }
    constants |= {f"{name}2": data + np.float32(0) for name, data in constants.items() if not shared}
    constants |= {f"w{n}": (random.standard_normal((channels, channels, 1, 1))).astype(np.float32) for n in (1, 2)}
    constants |= {
        "rows2": np.array([0, 2, -1]), "image": np.array([ROWS, channels, SIZE, SIZE]), "axes": np.array([1, 2]),
        "ones2": np.ones(2, np.float32), "zeros2": np.zeros(2, np.float32), "epsilon": np.array(1e-5, np.float32),
    }  # fmt: skip
    second = _norm_nodes(kind, "c2", "y", "second")
    for node in second if not shared else ():
        node.input[:] = [f"{name}2" if name in ("g", "b", "m", "v") else name for name in node.input]
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], name="conv1"),
        *_norm_nodes(kind, "c1", "n1", "first"),
        helper.make_node("Relu", ["n1"], ["r"], name="relu"),
        helper.make_node("Conv", ["r", "w2"], ["c2"], name="conv2"),
        *second,
    ]
    used = {name for node in nodes for name in node.input}
    constants = {name: data for name, data in constants.items() if name in used}
    return _saved(path, nodes, {"x": (TensorProto.FLOAT, (ROWS, channels, SIZE, SIZE))}, constants)


@pytest.mark.parametrize("batch_norm", list(BatchNorm))
@pytest.mark.parametrize("kind", ["group", "instance", "batch", "layer", "spelled layer"])
def test_a_normalization_that_is_applied_twice(kind: str, batch_norm: BatchNorm, tmp_path: Path) -> None:
    """Its gamma and beta stay one each, with the sum of the gradients that two equal normalizations have."""
    random = np.random.default_rng(7)
    shapes = ((ROWS, SIZE, SIZE, CHANNELS + 1), (ROWS, CHANNELS + 1, SIZE, SIZE))
    batch = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    one, two = (
        [
            change
            for change in _trained(
                _applied_twice(tmp_path / f"{shared}.onnx", kind, shared), batch, batch_norm
            ).values()
            if change.shape == (CHANNELS + 1,)
        ]
        for shared in (True, False)
    )
    if kind == "batch" and batch_norm is BatchNorm.FROZEN:
        assert (len(one), len(two)) == (2, 2)  # two of them become part of their convolutions, but for the offset
        return
    assert (len(one), len(two)) == (2, 4)
    wanted = (two[0] + two[2], two[1] + two[3])
    for change, want in zip(one, wanted, strict=True):
        np.testing.assert_allclose(change, want, rtol=0, atol=1e-5 * np.abs(want).max())


def test_running_statistics_of_a_normalization_that_is_applied_twice(tmp_path: Path) -> None:
    """The second application moves those that the first has moved."""
    source = _applied_twice(tmp_path / "net.onnx", "batch", True)
    settings = TrainSettings(Loss.SQUARED, Optimizer.SGD, 1e-20, batch_norm=BatchNorm.TRAIN)
    file = convert(Options(source, tmp_path / "net", training=settings)).files[0]
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    x = np.random.default_rng(8).standard_normal((ROWS, SIZE, SIZE, CHANNELS + 1)).astype(np.float32)
    labels = np.zeros((ROWS, CHANNELS + 1, SIZE, SIZE), np.float32)
    model.run_step([x, labels])
    model.set_train_mode(False)
    found = np.array(model.predict([x, labels])[0].get_data_to_numpy())

    constants = {
        tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in load_model(source).graph.initializer
    }
    g, b, mean, variance = (constants[name] for name in "gbmv")

    def norm(y: Array, mean: Array, variance: Array) -> Array:
        return (y - mean) / np.sqrt(variance + 1e-5) * g + b

    y: Array = x.astype(np.float64)
    for number in (1, 2):
        y = y @ constants[f"w{number}"][:, :, 0, 0].T
        rows = y.reshape(-1, CHANNELS + 1)
        mean = 0.9 * mean + 0.1 * rows.mean(0)
        variance = 0.9 * variance + 0.1 * rows.var(0, ddof=1)
        y = np.maximum(norm(y, rows.mean(0), rows.var(0)), 0)
    y = x.astype(np.float64)
    for number in (1, 2):
        y = norm(y @ constants[f"w{number}"][:, :, 0, 0].T, mean, variance)
        y = np.maximum(y, 0) if number == 1 else y
    np.testing.assert_allclose(found, y.transpose(0, 3, 1, 2), rtol=1e-4, atol=1e-4)
