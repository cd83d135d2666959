"""How exporters write layers, and what `--trainModel` trains of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.layer_names import module_name
from mslite.converter.mindir.graph import Array
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, TrainSettings

ROWS, WIDTH = 3, 32
_CHANCE = np.random.default_rng(0)
WEIGHT = _CHANCE.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 4
ONES, ZEROS = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
X, LABELS = (_CHANCE.standard_normal((ROWS, WIDTH)).astype(np.float32) for _ in range(2))


def _trained(
    nodes: list[NodeProto],
    constants: dict[str, Array],
    path: Path,
    producer: str = "",
    kinds: Mapping[str, str] | None = None,
    **settings: object,
) -> mslite.Model:
    """A model of `x` and `y`, built for training by the mean square. `kinds`: what the exporter says of constants."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, WIDTH]) for name in ("x", "y")]
    kept = [numpy_helper.from_array(data, name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], kept)
    for name, kind in (kinds or {}).items():
        info = graph.value_info.add(name=name)
        info.metadata_props.add(key="pkg.torch.export.graph_signature.InputSpec.kind", value=kind)
    opsets = [helper.make_opsetid("", 17)]
    save_model(helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name=producer), path / "net.onnx")
    made = TrainSettings(loss=Loss.SQUARED, learning_rate=0.1, **settings)  # type: ignore[arg-type]
    file = convert(Options(path / "net.onnx", path / "net", training=made)).files[0]
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    return model


def _weights(model: mslite.Model) -> dict[str, Array]:
    return {one.name: one.get_data_to_numpy().astype(np.float64) for one in model.get_trainable_params()}


def _node(kind: str, inputs: str, output: str, name: str, **attributes: object) -> NodeProto:
    return helper.make_node(kind, inputs.split(), [output], name=name, **attributes)


def test_layers_that_begin_alike(tmp_path: Path) -> None:
    """Exporters store equal constants once. Normalizations and biases that begin with ones and zeros are layers of their own."""
    nodes = [
        _node("LayerNormalization", "x ones zeros", "a", "first"),
        _node("MatMul", "a w", "b", "product"),
        _node("Add", "b zeros", "c", "bias"),
        _node("LayerNormalization", "c ones zeros", "y", "second"),
    ]
    model = _trained(nodes, {"ones": ONES, "zeros": ZEROS, "w": WEIGHT}, tmp_path)
    before = _weights(model)
    assert len(before) == 6
    model.run_step([X, LABELS])
    moved = [value - before[name] for name, value in _weights(model).items() if value.ndim == 1]
    assert len(moved) == 5
    assert all(np.abs(one).max() > 1e-4 for one in moved)
    assert not any(np.allclose(one, other) for i, one in enumerate(moved) for other in moved[:i])


def test_a_layer_that_is_used_twice(tmp_path: Path) -> None:
    """It has one weight and one bias, though the bias begins with zeros."""
    nodes = [
        _node("Gemm", "x w zeros", "a", "layer"),
        _node("Relu", "a", "b", "relu"),
        _node("Gemm", "b w zeros", "y", "layer_1"),
    ]
    assert list(_weights(_trained(nodes, {"zeros": ZEROS, "w": WEIGHT}, tmp_path))) == ["w", "zeros"]


def test_scales_stay_out_of_weights(tmp_path: Path) -> None:
    """A step of gradient descent on W / 2 is another one than a step on W, halved."""
    nodes = [_node("MatMul", "x w", "a", "query"), _node("Mul", "a half", "y", "scale")]
    model = _trained(nodes, {"w": WEIGHT, "half": np.float32(0.5)}, tmp_path)
    model.run_step([X, LABELS])
    slope = X.T @ (X @ WEIGHT * 0.5 - LABELS) * (2 / LABELS.size) * 0.5
    (found,) = _weights(model).values()
    np.testing.assert_allclose(found, WEIGHT - 0.1 * slope, rtol=1e-5, atol=1e-6)


def test_a_table_of_positions_is_trained(tmp_path: Path) -> None:
    """Its rows are chosen by constants, so that inference knows the result before."""
    nodes = [
        _node("Gather", "places ids", "a", "places"),
        _node("MatMul", "x w", "b", "product"),
        _node("Add", "a b", "y", "sum"),
    ]
    table = _CHANCE.standard_normal((5, WIDTH)).astype(np.float32)
    constants = {"places": table, "ids": np.asarray([4, 0, 4]), "w": WEIGHT}
    model = _trained(nodes, constants, tmp_path)
    model.run_step([X, LABELS])
    slope = (X @ WEIGHT + table[[4, 0, 4]] - LABELS) * (2 / LABELS.size)
    expected = table.astype(np.float64)
    for row, gradient in zip((4, 0, 4), slope, strict=True):
        expected[row] -= 0.1 * gradient
    np.testing.assert_allclose(_weights(model)["places"], expected, rtol=1e-5, atol=1e-6)


def test_constants_that_are_named_as_trained(tmp_path: Path) -> None:
    """Nothing else tells a vector that is added before every layer from a number; it is repeated by the graph, not before."""
    nodes = [
        _node("Expand", "token shape", "a", "expand"),
        _node("Add", "x a", "b", "sum"),
        _node("MatMul", "b w", "y", "product"),
    ]
    token = _CHANCE.standard_normal((1, WIDTH)).astype(np.float32)
    constants = {"token": token, "shape": np.asarray([ROWS, WIDTH]), "w": WEIGHT}
    assert list(_weights(_trained(nodes, constants, tmp_path))) == ["w"]
    model = _trained(nodes, constants, tmp_path, trained=frozenset({"token"}))
    model.run_step([X, LABELS])
    slope = ((X + token) @ WEIGHT - LABELS) * (2 / LABELS.size) @ WEIGHT.T
    np.testing.assert_allclose(
        _weights(model)["token"], token - 0.1 * slope.sum(axis=0, keepdims=True), rtol=1e-5, atol=1e-6
    )
    with pytest.raises(ConversionError, match="trained names 'tokem', which is no constant and no layer"):
        _trained(nodes, constants, tmp_path, trained=frozenset({"tokem"}))


def test_frozen_by_the_names_of_modules(tmp_path: Path) -> None:
    """PyTorch's exporter names nodes by all modules around them, and loses the names of weights that it transposes."""
    nodes = [
        _node("MatMul", "x onnx::MatMul_7", "a", "/body/body.0/dense/MatMul"),
        _node("Relu", "a", "b", "/body/body.1/Relu"),
        _node("MatMul", "b onnx::MatMul_8", "y", "/body/body.2/dense/MatMul"),
    ]
    constants = {"onnx::MatMul_7": WEIGHT, "onnx::MatMul_8": WEIGHT + 1}
    for name in ("body.0", "body.0.dense", "body.0.*"):
        assert list(_weights(_trained(nodes, constants, tmp_path, frozen=frozenset({name})))) == ["onnx::MatMul_8"]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("/features/features.0/features.0.1/Conv", "features.0.1.Conv"),
        ("/encoder/blocks.3/attention/query/MatMul", "encoder.blocks.3.attention.query.MatMul"),
        ("conv1/Conv", "conv1.Conv"),
        ("layer", "layer"),
    ],
)
def test_module_names(name: str, module: str) -> None:
    assert module_name(name) == module


def test_one_slope_of_prelu_is_trained(tmp_path: Path) -> None:
    nodes = [_node("MatMul", "x w", "a", "product"), _node("PRelu", "a slope", "y", "prelu")]
    model = _trained(nodes, {"w": WEIGHT, "slope": np.asarray([0.25], np.float32)}, tmp_path)
    model.run_step([X, LABELS])
    a = X @ WEIGHT
    slope = (np.where(a > 0, a, a * 0.25) - LABELS) * (2 / LABELS.size)
    expected = 0.25 - 0.1 * (slope * np.where(a < 0, a, 0)).sum()
    found = next(value for value in _weights(model).values() if value.ndim == 1)
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


def _summed_difference(model: mslite.Model, name: str) -> Array:
    """What a step of gradient descent by 0.1 takes off a weight, as its gradient."""
    before = _weights(model)[name]
    model.run_step([X, LABELS])
    return (before - _weights(model)[name]) / 0.1


def test_a_weight_that_one_layer_has_transposed(tmp_path: Path) -> None:
    """As embeddings that are the head, too: it stays one constant, whose gradient is the sum of both."""
    nodes = [
        _node("MatMul", "x w", "a", "first"),
        _node("Transpose", "w", "turned", "transpose", perm=[1, 0]),
        _node("MatMul", "a turned", "y", "second"),
    ]
    model = _trained(nodes, {"w": WEIGHT}, tmp_path)
    assert list(_weights(model)) == ["w"]
    x, w = X.astype(np.float64), WEIGHT.astype(np.float64)
    dy = 2 * (x @ w @ w.T - LABELS) / X.size
    expected = x.T @ dy @ w + dy.T @ (x @ w)
    assert np.abs(_summed_difference(model, "w") - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_weight_that_is_used_with_constants_first(tmp_path: Path) -> None:
    """As in the first step of a recurrent cell, whose state is zeros: the bias is in both products."""
    nodes = [
        _node("Gemm", "begin w b", "h", "step"),
        _node("Add", "x h", "a", "add"),
        _node("Gemm", "a w b", "y", "step_1"),
    ]
    bias = np.linspace(-1, 1, WIDTH, dtype=np.float32)
    model = _trained(nodes, {"w": WEIGHT, "b": bias, "begin": np.zeros((ROWS, WIDTH), np.float32)}, tmp_path)
    x, w = X.astype(np.float64), WEIGHT.astype(np.float64)
    dy = 2 * ((x + bias) @ w + bias - LABELS) / X.size
    expected = dy.sum(0) + (dy @ w.T).sum(0)
    assert np.abs(_summed_difference(model, "b") - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_layer_behind_images_that_is_used_twice(tmp_path: Path) -> None:
    """Its matrix would get another order of rows for each; slopes that begin alike are those of the same layer, too."""
    kernel, slope = np.float32([0.5, -1.5]).reshape(2, 1, 1, 1), np.full((2, 1, 1), 0.25, np.float32)
    nodes = [_node("Reshape", "x wide", "image", "image"), _node("Neg", "image", "other", "negative")]
    for name, source in (("a", "image"), ("b", "other")):
        nodes += [
            _node("Conv", f"{source} kernel", f"{name}1", f"{name}/conv"),
            _node("PRelu", f"{name}1 slope", f"{name}2", f"{name}/prelu"),
            _node("Flatten", f"{name}2", f"{name}3", f"{name}/flatten"),
            _node("MatMul", f"{name}3 w", f"{name}4", f"{name}/product"),
        ]
    nodes.append(_node("Sub", "a4 b4", "y", "difference"))
    wide, w = np.asarray([ROWS, 1, 4, 8], np.int64), np.concatenate([WEIGHT, 2 * WEIGHT])
    model = _trained(nodes, {"wide": wide, "kernel": kernel, "slope": slope, "w": w}, tmp_path)
    assert len(_weights(model)) == 3


@pytest.mark.parametrize("sizes", [(5, 6), (7,)])
def test_classes_of_places_are_the_channels(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """Of an image or a sequence whose channels are its second dimension, as convolutions give it; inference gives it so."""
    kernel, count = _CHANCE.standard_normal((4, 3)).astype(np.float32), 2 * int(np.prod(sizes))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, channels, *sizes])
        for name, channels in (("x", 3), ("y", 4))
    ]
    kept = [numpy_helper.from_array(kernel.reshape(4, 3, *(1 for _ in sizes)), "kernel")]
    graph = helper.make_graph([_node("Conv", "x kernel", "y", "layer")], "graph", ends[:1], ends[1:], kept)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "n.onnx")
    file = convert(Options(tmp_path / "n.onnx", tmp_path / "net", training=TrainSettings())).files[0]
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    x, labels = (
        _CHANCE.standard_normal((2, *sizes, 3)).astype(np.float32),
        _CHANCE.integers(0, 4, count).astype(np.int32),
    )
    logits = x.reshape(-1, 3).astype(np.float64) @ kernel.T
    given = x if len(sizes) > 1 else x.transpose(0, 2, 1).copy()  # sequences keep the source's order
    (found,) = model.predict([given, labels])
    places = np.moveaxis(logits.reshape(2, *sizes, 4), -1, 1)
    np.testing.assert_allclose(found.get_data_to_numpy(), places, rtol=1e-4, atol=1e-5)
    model.set_train_mode(True)
    (loss,) = model.run_step([given, labels])
    expected = (np.log(np.exp(logits).sum(1)) - logits[np.arange(count), labels]).mean()
    assert abs(loss.get_data_to_numpy().item() - expected) < 1e-6


def test_exported_in_training_mode(tmp_path: Path) -> None:
    """Normalization and Dropout learn and drop; evaluation, and what is exported, is by the running statistics, which follow the
    unbiased variance of the batch."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node(
            "BatchNormalization",
            ["a", "ones", "zeros", "mean", "variance"],
            ["b", "m", "v"],
            name="norm",
            training_mode=1,
        ),
        helper.make_node("Dropout", ["b", "ratio", "training"], ["y"], name="dropout"),
    ]
    constants = {"w": WEIGHT, "ones": ONES, "zeros": ZEROS, "mean": ZEROS + 1, "variance": ONES + 1}
    constants |= {"ratio": np.float32(0.5), "training": np.asarray(True)}
    model = _trained(nodes, constants, tmp_path, batch_norm=BatchNorm.TRAIN, dropout=True)
    (loss,) = (one.get_data_to_numpy().item() for one in model.run_step([X, LABELS]))
    a = X.astype(np.float64) @ WEIGHT
    normalized = (a - a.mean(axis=0)) / np.sqrt(a.var(axis=0) + 1e-5)
    dropped = {float(np.square(factor * normalized - LABELS).mean()) for factor in (0, 1, 2)}
    assert all(abs(loss - one) > 1e-3 for one in dropped)
    mean, variance = 0.9 + 0.1 * a.mean(axis=0), 1.8 + 0.1 * a.var(axis=0, ddof=1)
    model.set_train_mode(False)
    weights = _weights(model)
    expected = (X @ weights["w"] - mean) / np.sqrt(variance + 1e-5) * weights["ones"] + weights["zeros"]
    model.export_model(tmp_path / "infers.ms")
    infers = mslite.Model()
    infers.build_from_file(tmp_path / "infers.ms", mslite.ModelType.MINDIR)
    for found in (model.predict([X, LABELS]), infers.predict([X])):
        np.testing.assert_allclose(found[0].get_data_to_numpy(), expected, rtol=1e-4, atol=1e-5)


def test_weights_standardized_in_training_mode(tmp_path: Path) -> None:
    """The batch of this normalization is a weight: it is no layer, and the weight is what it makes."""
    shape = np.asarray([1, WIDTH, WIDTH])
    nodes = [
        _node("Reshape", "w row", "rows", "rows"),
        _node("BatchNormalization", "rows ones zeros zeros ones", "standard", "norm", training_mode=1),
        _node("Reshape", "standard square", "weight", "weight"),
        _node("MatMul", "x weight", "y", "product"),
    ]
    constants = {"w": WEIGHT, "row": shape, "square": shape[1:], "ones": ONES, "zeros": ZEROS}
    model = _trained(nodes, constants, tmp_path, batch_norm=BatchNorm.TRAIN)
    (found,) = _weights(model).values()
    deviation = np.sqrt(WEIGHT.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, (WEIGHT - WEIGHT.mean(axis=1, keepdims=True)) / deviation, rtol=1e-4, atol=1e-5)


def test_what_the_exporter_says_of_parameters(tmp_path: Path) -> None:
    """A token that is added before all layers is a parameter, and so is the logarithm of a scale; a table that looks like a bias and a
    matrix behind which there is a product are none."""
    nodes = [
        _node("Add", "token x", "a", "token"),
        _node("MatMul", "a w", "b", "product"),
        _node("Add", "b table", "c", "table"),
        _node("MatMul", "c mixing", "d", "mixing"),
        _node("Exp", "log_scale", "scale", "exp"),
        _node("Mul", "d scale", "y", "scaled"),
    ]
    token, table = _CHANCE.standard_normal((2, WIDTH)).astype(np.float32)
    constants = {"token": token, "w": WEIGHT, "table": table, "mixing": WEIGHT.T.copy(), "log_scale": np.float32(0.3)}
    kinds = {
        "token": "PARAMETER",
        "w": "PARAMETER",
        "log_scale": "PARAMETER",
        "table": "BUFFER",
        "mixing": "CONSTANT_TENSOR",
    }
    model = _trained(nodes, constants, tmp_path, kinds=kinds)
    assert set(_weights(model)) == {"token", "w", "log_scale"}
    model.run_step([X, LABELS])
    d = ((X + token) @ WEIGHT + table).astype(np.float64) @ WEIGHT.T
    dy = (d * np.exp(0.3) - LABELS) * (2 / LABELS.size)
    expected = 0.3 - 0.1 * (dy * d * np.exp(0.3)).sum()
    np.testing.assert_allclose(_weights(model)["log_scale"], expected, rtol=1e-5)
    named = _trained(nodes, constants, tmp_path, kinds=kinds, trained=frozenset({"mixing"}))
    assert set(_weights(named)) == {"token", "w", "log_scale", "mixing"}


def test_layers_that_begin_with_one_weight(tmp_path: Path) -> None:
    """PyTorch's exporter stores what is equal once, and names the other by an Identity: copies of a layer, as nn.TransformerEncoder
    makes them. A layer that is used twice has no such node."""
    nodes = [
        _node("Identity", "layers.0.weight", "layers.1.weight", "Identity_0"),
        _node("MatMul", "x layers.0.weight", "a", "/layers.0/MatMul"),
        _node("MatMul", "a layers.1.weight", "b", "/layers.1/MatMul"),
        _node("MatMul", "b layers.1.weight", "y", "/layers.1_1/MatMul"),
    ]
    model = _trained(nodes, {"layers.0.weight": WEIGHT}, tmp_path, producer="pytorch")
    before = _weights(model)
    assert list(before) == ["layers.0.weight", "layers.1.weight"]
    model.run_step([X, LABELS])
    first, second = (value - before[name] for name, value in _weights(model).items())
    w, x = WEIGHT.astype(np.float64), X.astype(np.float64)
    dy = (x @ w @ w @ w - LABELS) * (2 / LABELS.size)
    np.testing.assert_allclose(first, -0.1 * x.T @ (dy @ w.T @ w.T), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(second, -0.1 * ((x @ w @ w).T @ dy + (x @ w).T @ (dy @ w.T)), rtol=1e-4, atol=1e-6)


def test_numbers_of_the_source_are_no_parameters(tmp_path: Path) -> None:
    """What PyTorch's exporter writes as Constant nodes was no parameter, such as the ones and zeros of a normalization that has none; a scale
    that stands first in its product is one, a matrix that stands first is none."""
    nodes = [
        helper.make_node("Constant", [], [f"/norm/{name}"], name=f"/norm/{name}", value=numpy_helper.from_array(data))
        for name, data in (("ones", ONES), ("zeros", ZEROS))
    ]
    nodes += [
        _node("MatMul", "x w", "a", "product"),
        _node("LayerNormalization", "a /norm/ones /norm/zeros", "b", "norm"),
        _node("MatMul", "b v", "c", "second"),
        _node("MatMul", "neighbors c", "d", "neighbors"),
        _node("Mul", "gamma d", "y", "scaled"),
    ]
    constants = {
        "neighbors": np.eye(ROWS, dtype=np.float32) + 1,
        "w": WEIGHT,
        "v": WEIGHT + 1,
        "gamma": np.full((1, WIDTH), 0.5, np.float32),
    }
    assert list(_weights(_trained(nodes, constants, tmp_path, producer="pytorch"))) == ["w", "v", "gamma"]


def _of_module(node: NodeProto, module: str, origin: str = "") -> NodeProto:
    """As torch.onnx.export(dynamo=True) says where a node comes from."""
    node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr(["", module, "linear"]))
    node.metadata_props.add(key="pkg.torch.onnx.fx_node", value=origin)
    return node


@pytest.mark.parametrize(("name", "count"), [("layers.0.weight", 2), ("layers.1.weight", 1)])
def test_copies_of_a_layer_in_a_simplified_file(name: str, count: int, tmp_path: Path) -> None:
    """Equal weights of layers that differ are one initializer with the name of the first, those of one layer in two places have the name of
    the last."""
    nodes = [
        _of_module(_node("MatMul", f"x {name}", "a", "first"), "layers.0"),
        _of_module(_node("MatMul", f"a {name}", "y", "second"), "layers.1"),
    ]
    model = _trained(nodes, {name: WEIGHT}, tmp_path, "pytorch", {name: "PARAMETER"})
    assert len(_weights(model)) == count
    model.run_step([X, LABELS])
    w, x = WEIGHT.astype(np.float64), X.astype(np.float64)
    dy = (x @ w @ w - LABELS) * (2 / LABELS.size)
    slopes = [x.T @ (dy @ w.T), (x @ w).T @ dy]
    expected = slopes if count == 2 else [slopes[0] + slopes[1]]
    for found, slope in zip(_weights(model).values(), expected, strict=True):
        np.testing.assert_allclose(found, WEIGHT - 0.1 * slope, rtol=1e-4, atol=1e-6)


def test_a_bias_of_zeros_that_was_left_out(tmp_path: Path) -> None:
    origin = (
        "%linear : call_function[target=torch.ops.aten.linear.default](args = (%x, %p_head_weight, {}), kwargs = {{}})"
    )
    for bias, names in (("%p_head_bias", {"head.weight", "head.bias"}), ("None", {"head.weight"})):
        nodes = [_of_module(_node("Gemm", "x head.weight", "y", "layer"), "head", origin.format(bias))]
        model = _trained(nodes, {"head.weight": WEIGHT}, tmp_path, "pytorch", {"head.weight": "PARAMETER"})
        assert set(_weights(model)) == names
        model.run_step([X, LABELS])
        if len(names) > 1:
            slope = ((X @ WEIGHT - LABELS) * (2 / LABELS.size)).sum(axis=0)
            np.testing.assert_allclose(_weights(model)["head.bias"], -0.1 * slope, rtol=1e-4, atol=1e-6)
        (tmp_path / "net.ms").unlink()


def test_a_table_that_is_the_head_and_was_transposed(tmp_path: Path) -> None:
    """The exporter has computed the transpose: they are one weight all the same."""
    ids = X.argmax(axis=1)
    table = _CHANCE.standard_normal((WIDTH, WIDTH)).astype(np.float32)
    nodes = [
        _node("ArgMax", "x", "ids", "ids", axis=1, keepdims=0),
        _node("Gather", "table ids", "rows", "embedding"),
        _node("Add", "x rows", "a", "sum"),
        _node("MatMul", "a turned", "y", "head"),
    ]
    constants = {"table": table, "turned": table.T.copy()}
    model = _trained(nodes, constants, tmp_path)
    assert list(_weights(model)) == ["table"]
    model.run_step([X, LABELS])
    a, t = X + table[ids].astype(np.float64), table.astype(np.float64)
    dy = (a @ t.T - LABELS) * (2 / LABELS.size)
    slope = dy.T @ a
    np.add.at(slope, ids, dy @ t)
    np.testing.assert_allclose(_weights(model)["table"], table - 0.1 * slope, rtol=1e-4, atol=1e-5)


def test_normalization_that_the_exporter_has_folded_is_told(tmp_path: Path) -> None:
    kernel = _CHANCE.standard_normal((4, 3, 1, 1)).astype(np.float32)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, channels, 5, 6])
        for name, channels in (("x", 3), ("y", 4))
    ]
    for target, told in (("batch_norm", True), ("conv2d", False)):
        node = _of_module(
            _node("Conv", "x kernel", "y", "layer"),
            "norm",
            f"%y : call_function[target=torch.ops.aten.{target}.default]",
        )
        graph = helper.make_graph([node], "graph", ends[:1], ends[1:], [numpy_helper.from_array(kernel, "kernel")])
        opsets = [helper.make_opsetid("", 17)]
        save_model(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "net.onnx")
        notes = convert(Options(tmp_path / "net.onnx", tmp_path / target, training=TrainSettings())).notes
        assert any("folded 1 batch normalization(s) into convolutions" in note for note in notes) == told


@pytest.mark.parametrize(("modules", "count"), [(("norm", "norm"), 2), (("first", "second"), 4)])
def test_a_normalization_that_is_applied_twice_and_begins_with_ones(
    modules: tuple[str, str], count: int, tmp_path: Path
) -> None:
    """torch.onnx.export(dynamo=True) says which module a node belongs to: two that begin alike share constants in the file alone."""
    nodes = []
    for number, (module, x, y) in enumerate(zip(modules, ("x", "b"), ("a", "c"), strict=True)):
        norm = _node("LayerNormalization", f"{x} ones zeros", y, f"norm{number}")
        norm.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr(["", module, f"layer_norm_{number}"]))
        nodes += [norm, _node("MatMul", f"{y} w{number}", "b" if number == 0 else "y", f"product{number}")]
    constants = {"ones": ONES, "zeros": ZEROS, "w0": WEIGHT, "w1": WEIGHT + 1}
    found = _weights(_trained(nodes, constants, tmp_path, producer="pytorch"))
    assert sum(value.ndim == 1 for value in found.values()) == count


@pytest.mark.parametrize(("producer", "count"), [("pytorch", 2), ("", 4)])
def test_a_normalization_with_one_name_for_its_parameters(producer: str, count: int, tmp_path: Path) -> None:
    """PyTorch's older exporter names parameters of another module by an Identity, so that what two nodes read is one; others do not."""
    nodes = [
        _node("LayerNormalization", "x norm.weight norm.bias", "a", "norm"),
        _node("MatMul", "a w0", "b", "product0"),
        _node("LayerNormalization", "b norm.weight norm.bias", "c", "norm_1"),
        _node("MatMul", "c w1", "y", "product1"),
    ]
    constants = {"norm.weight": ONES, "norm.bias": ZEROS, "w0": WEIGHT, "w1": WEIGHT + 1}
    found = _weights(_trained(nodes, constants, tmp_path, producer=producer))
    assert sum(value.ndim == 1 for value in found.values()) == count
