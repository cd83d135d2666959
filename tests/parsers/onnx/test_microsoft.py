"""onnxruntime's own operators, which its optimizer and exporters emit, against onnxruntime."""

from __future__ import annotations

import contextlib
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.onnx import parse
from mslite.converter.parsers.onnx.expansion.registry import EXPANDERS
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline

from .helper import Array, check, compute, make_model, node, operators, random, reference
from .microsoft import DOMAIN, foreign

BATCH = {"x": random(2, 3, 8)}


@pytest.mark.parametrize("name", ["Gelu", "FastGelu", "QuickGelu"])
@pytest.mark.parametrize("opset", [12, 17, 20])
def test_gelu(name: str, opset: int, tmp_path: Path) -> None:
    check(foreign(name, BATCH, opset=opset), BATCH, tmp_path)


@pytest.mark.parametrize("name", ["FastGelu", "BiasGelu"])
def test_gelu_of_a_sum(name: str, tmp_path: Path) -> None:
    check(foreign(name, BATCH, {"b": random(8, seed=1)}), BATCH, tmp_path)


def test_gelu_is_one_node() -> None:
    module = parse(foreign("FastGelu", BATCH, opset=13))
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    assert operators(module) == ["Activation"]


def test_bias_split_gelu(tmp_path: Path) -> None:
    """onnxruntime has it for GPUs only."""
    bias = random(8, seed=1)
    hidden, gate = np.split(BATCH["x"] + bias, 2, -1)
    halves = 0.5 * gate * (1 + np.vectorize(erf)(gate / np.sqrt(2)))
    model = foreign("BiasSplitGelu", BATCH, {"b": bias})
    check(model, BATCH, tmp_path, wanted=[(hidden * halves).astype(np.float32)])


ACTIVATIONS: list[tuple[str, list[float]]] = [
    ("Relu", []),
    ("Sigmoid", []),
    ("Tanh", []),
    ("LeakyRelu", [0.1]),
    ("Clip", [-0.2, 0.3]),
    ("HardSigmoid", [0.3, 0.4]),
]


@pytest.mark.parametrize(("name", "parameters"), ACTIVATIONS)
def test_fused_conv(name: str, parameters: list[float], tmp_path: Path) -> None:
    inputs = {"x": random(2, 4, 7, 6)}
    constants = {"w": random(5, 4, 3, 3), "b": random(5, seed=1)}
    extra: dict[str, Any] = {"activation_params": parameters} if parameters else {}
    check(foreign("FusedConv", inputs, constants, activation=name, pads=[1, 1, 1, 1], **extra), inputs, tmp_path)


def test_fused_conv_with_a_sum(tmp_path: Path) -> None:
    inputs = {"x": random(2, 4, 7, 6), "z": random(2, 5, 5, 4, seed=3)}
    constants = {"w": random(5, 4, 3, 3), "b": random(5, seed=1)}
    model = foreign("FusedConv", inputs, constants, order=["x", "w", "b", "z"], activation="Relu")
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("a", [0, 1])
@pytest.mark.parametrize("b", [0, 1])
def test_fused_matmul(a: int, b: int, tmp_path: Path) -> None:
    inputs = {"a": random(2, 5, 4) if a else random(2, 4, 5), "b": random(2, 6, 5) if b else random(2, 5, 6)}
    check(foreign("FusedMatMul", inputs, transA=a, transB=b, alpha=0.5), inputs, tmp_path)


@pytest.mark.parametrize(
    ("a", "b", "attributes"),
    [
        ((4, 3, 5), (3, 5, 6), {"transBatchA": 1}),
        ((5, 3, 4), (3, 5, 6), {"transBatchA": 1, "transA": 1}),
        ((3, 4, 5), (5, 3, 6), {"transBatchB": 1}),
        ((3, 4, 5), (6, 3, 5), {"transBatchB": 1, "transB": 1}),
        ((5, 2, 3, 4), (2, 3, 5, 6), {"transBatchA": 1, "transA": 1}),
    ],
)
def test_fused_matmul_with_rows_before_the_batch(
    a: tuple[int, ...], b: tuple[int, ...], attributes: dict[str, int], tmp_path: Path
) -> None:
    inputs = {"a": random(*a), "b": random(*b, seed=1)}
    check(foreign("FusedMatMul", inputs, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("activation", ["Relu", "LeakyRelu", "HardSigmoid", "ScaledTanh", "ParametricSoftplus"])
def test_fused_gemm(activation: str, tmp_path: Path) -> None:
    inputs, constants = {"a": random(3, 4)}, {"b": random(5, 4), "c": random(5, seed=1)}
    extra = {"activation_alpha": 0.2} if activation != "Relu" else {}
    if activation not in ("Relu", "LeakyRelu"):
        extra["activation_beta"] = 0.7
    model = foreign("FusedGemm", inputs, constants, activation=activation, transB=1, alpha=0.5, **extra)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_normalization_before_the_standard(outputs: int, axis: int, tmp_path: Path) -> None:
    shape = BATCH["x"].shape[axis:]
    constants = {"s": random(*shape), "b": random(*shape, seed=1)}
    model = foreign("LayerNormalization", BATCH, constants, outputs, opset=12, domain="", axis=axis)
    check(model, BATCH, tmp_path)


def test_simplified_layer_normalization(tmp_path: Path) -> None:
    model = foreign("SimplifiedLayerNormalization", BATCH, {"s": random(8)}, domain="", epsilon=1e-3)
    check(model, BATCH, tmp_path)


@pytest.mark.parametrize("names", [["g"], ["g", "b"], ["g", "b", "bias"]])
def test_skip_layer_normalization(names: list[str], tmp_path: Path) -> None:
    inputs = BATCH | {"skip": random(2, 3, 8, seed=1)}
    constants = {name: random(8, seed=index) for index, name in enumerate(names)}
    model = foreign("SkipLayerNormalization", inputs, constants, ["y", "", "", "sum"], epsilon=1e-3)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("names", [["g"], ["g", "bias"]])
def test_skip_simplified_layer_normalization(names: list[str], tmp_path: Path) -> None:
    inputs = BATCH | {"skip": random(2, 3, 8, seed=1)}
    constants = {name: random(8, seed=index) for index, name in enumerate(names)}
    model = foreign("SkipSimplifiedLayerNormalization", inputs, constants, ["y", "", "", "sum"], epsilon=1e-3)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("activation", [0, 1])
def test_group_norm(channels_last: int, activation: int, tmp_path: Path) -> None:
    """onnxruntime has it for GPUs only."""
    x = random(2, 6, 4, 5)
    gamma, beta = random(6), random(6, seed=1)
    groups = x.reshape(2, 3, -1).astype(np.float64)
    scaled = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-3)
    y = scaled.reshape(x.shape) * gamma[:, None, None] + beta[:, None, None]
    y = y / (1 + np.exp(-y)) if activation else y
    order = (0, 2, 3, 1) if channels_last else (0, 1, 2, 3)
    inputs = {"x": np.ascontiguousarray(x.transpose(order))}
    attributes = {"groups": 3, "epsilon": 1e-3, "activation": activation, "channels_last": channels_last}
    model = foreign("GroupNorm", inputs, {"g": gamma, "b": beta}, **attributes)
    check(model, inputs, tmp_path, wanted=[y.transpose(order).astype(np.float32)])


@pytest.mark.parametrize("mask", [None, [[1, 1, 1, 0, 0], [1] * 5], [[2, 1, -1, 0, 1], [1, 3, 0, 1, 1]]])
@pytest.mark.parametrize("with_segments", [True, False])
def test_embed_layer_normalization(mask: list[list[int]] | None, with_segments: bool, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    inputs: dict[str, Array | None] = {"ids": generator.integers(0, 9, (2, 5)).astype(np.int32)}
    inputs["segments"] = generator.integers(0, 2, (2, 5)).astype(np.int32) if with_segments else None
    inputs["mask"] = None if mask is None else np.array(mask, np.int32)
    shapes = {"words": (10, 8), "places": (7, 8), "kinds": (2, 8), "gamma": (8,), "beta": (8,)}
    constants = {name: random(*shape, seed=index) for index, (name, shape) in enumerate(shapes.items())}
    if not with_segments:
        del constants["kinds"]
    order = ["ids", "segments", "words", "places", "kinds", "gamma", "beta", "mask"]
    model = foreign("EmbedLayerNormalization", inputs, constants, 2, order=order, epsilon=1e-3)
    check(model, {name: array for name, array in inputs.items() if array is not None}, tmp_path)


@pytest.mark.parametrize("with_segments", [True, False])
def test_embed_layer_normalization_of_bytes(with_segments: bool, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    ids, mask = generator.integers(0, 9, (2, 5)).astype(np.int32), np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    inputs = {"ids": ids, "segments": generator.integers(0, 2, (2, 5)).astype(np.int32), "mask": mask}
    shapes = {"words": (10, 8), "places": (7, 8), "kinds": (2, 8), "gamma": (8,), "beta": (8,)}
    constants = {name: generator.integers(0, 256, shape).astype(np.uint8) for name, shape in shapes.items()}
    constants |= {f"{name}_scale": generator.uniform(0.01, 0.03, ()).astype(np.float32) for name in shapes}
    constants |= {f"{name}_zero": generator.integers(0, 256, ()).astype(np.uint8) for name in shapes}
    if not with_segments:
        del inputs["segments"]
        constants = {name: array for name, array in constants.items() if not name.startswith("kinds")}
    order = ["ids", "segments", *shapes, "mask", *(f"{name}_{what}" for what in ("scale", "zero") for name in shapes)]
    model = foreign("QEmbedLayerNormalization", inputs, constants, 2, order=order, epsilon=1e-3)
    check(model, inputs, tmp_path)


def test_small_operators(tmp_path: Path) -> None:
    """Each against what it means, several of them in one model, at an operator set that is older than some of them."""
    x = random(4, 4)
    nodes = [
        node("Inverse", ["x"], ["inverse"], domain=DOMAIN),
        node("ExpandDims", ["x", "minus_one"], ["wide"], domain=DOMAIN),
        node("CDist", ["x", "inverse"], ["distances"], domain=DOMAIN, metric="euclidean"),
        node("Unique", ["numbers"], ["values", "which", "counts"], domain=DOMAIN),
        node("ComplexMul", ["pairs", "pairs"], ["squares"], domain=DOMAIN),
    ]
    inputs = {"x": x, "numbers": np.array([3, 1, 3, 2, 1], np.float32), "pairs": random(3, 2)}
    results = ["inverse", "wide", "distances", "values", "which", "counts", "squares"]
    model = make_model(nodes, inputs, results, {"minus_one": np.array(-1, np.int32)}, opset=13)
    model.opset_import.add(domain=DOMAIN, version=1)
    inverse = np.linalg.inv(x.astype(np.float64))
    numbers = inputs["pairs"][:, 0] + 1j * inputs["pairs"][:, 1]
    squares = numbers * numbers
    wanted: list[Any] = [
        inverse.astype(np.float32),
        x[:, :, None],
        np.sqrt(((x[:, None] - inverse[None]) ** 2).sum(-1)).astype(np.float32),
        np.array([3, 1, 2], np.float32),
        np.array([0, 1, 0, 2, 1]),
        np.array([2, 2, 1]),
        np.stack([squares.real, squares.imag], -1).astype(np.float32),
    ]
    for got, expected in zip(compute(model, inputs, tmp_path), wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_rfft_and_back(tmp_path: Path) -> None:
    inputs = {"x": random(3, 12)}
    attributes = {"domain": DOMAIN, "signal_ndim": 1, "normalized": 0, "onesided": 1}
    nodes = [node("Rfft", ["x"], ["f"], **attributes), node("Irfft", ["f"], ["y"], **attributes)]
    model = make_model(nodes, inputs, ["f", "y"])
    model.opset_import.add(domain=DOMAIN, version=1)
    spectrum = np.fft.rfft(inputs["x"])
    pairs = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
    check(model, inputs, tmp_path, wanted=[pairs, inputs["x"]])


def test_a_chain_of_foreign_operators_keeps_its_types(tmp_path: Path) -> None:
    """Standard operators behind foreign ones need ranks and types, which only the written-out nodes tell."""
    nodes = [
        node("SkipLayerNormalization", ["x", "x", "g"], ["a"], domain=DOMAIN),
        node("BiasGelu", ["a", "g"], ["b"], domain=DOMAIN),
        node("FusedMatMul", ["b", "b"], ["c"], domain=DOMAIN, transB=1),
        node("Flatten", ["c"], ["d"], axis=-1),
        node("ReduceMean", ["d"], ["e"], axes=[-1]),
    ]
    model = make_model(nodes, BATCH, ["e"], {"g": random(8)}, opset=13)
    model.opset_import.add(domain=DOMAIN, version=1)
    check(model, BATCH, tmp_path)


def test_an_operator_set_that_the_file_does_not_name(tmp_path: Path) -> None:
    """onnxruntime's transformer optimizer leaves out com.microsoft; types behind its operators are known all the same."""
    nodes = [
        node("ReduceSum", ["seen", "one"], ["lengths"], keepdims=0),
        node("Attention", ["x", "w", "b", "lengths"], ["y"], domain=DOMAIN, num_heads=2),
    ]
    inputs = {"x": random(2, 5, 6), "seen": np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)}
    constants = {"w": random(6, 24), "b": random(24), "one": np.array([1])}
    model = make_model(nodes, inputs, ["y"], constants, shapes={"x": ("b", "s", 6), "seen": ("b", "s")})
    named = make_model(nodes, inputs, ["y"], constants)
    named.opset_import.add(domain=DOMAIN, version=1)
    check(model, inputs, tmp_path, wanted=reference(named, inputs))


@pytest.mark.parametrize("domain", ["com.microsoft.nchwc", "com.ms.internal.nhwc"])
def test_layouts_of_one_processor_are_refused_with_a_remedy(domain: str) -> None:
    with pytest.raises(ConversionError, match=r"kernels of one kind of processor.*ORT_ENABLE_EXTENDED"):
        parse(foreign("Conv", BATCH, domain=domain))


@pytest.mark.parametrize(
    "name", ["BeamSearch", "PackedAttention", "Sampling", "NGramRepeatBlock", "DynamicTimeWarping"]
)
def test_refused_by_name(name: str) -> None:
    with pytest.raises(ConversionError, match=rf"com\.microsoft\.{name} 'y0'.* is not supported"):
        parse(foreign(name, BATCH))


def test_unknown_operators_and_attributes_are_refused_together() -> None:
    nodes = [
        node("MoE", ["x"], ["a"], name="first", domain=DOMAIN),
        node("Gelu", ["x"], ["b"], name="second", domain=DOMAIN, mystery=1),
        node("NoSuchThing", ["x"], ["c"], name="third", domain=DOMAIN),
        node("TreeEnsembleRegressor", ["x"], ["d"], name="fourth", domain="ai.onnx.ml"),
        node("FusedMatMul", ["x", "a"], ["e"], name="fifth", domain=DOMAIN, transB=1),
    ]
    model = make_model(nodes, BATCH, ["b", "c", "d", "e"])
    for domain in (DOMAIN, "ai.onnx.ml"):
        model.opset_import.add(domain=domain, version=1)
    with pytest.raises(ConversionError) as caught:
        parse(model)
    found = {blocker.node: blocker for blocker in caught.value.blockers}
    assert set(found) == {"first", "second", "third", "fourth"}, "what the fifth lacks would be the first's to tell"
    assert found["second"].attribute == "mystery"
    assert all(blocker.reason and blocker.remedy for blocker in caught.value.blockers)


@pytest.mark.parametrize(("domain", "name"), sorted(EXPANDERS))
@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_nodes_without_sense_are_refused_or_converted(domain: str, name: str, count: int) -> None:
    """Whatever the inputs, there is an answer and never a traceback."""
    inputs = {f"x{index}": random(2, 3, 8) for index in range(count)} or {"x": random(2)}
    entry = node(name, list(inputs)[:count], ["y0", "y1"], domain=domain)
    model = make_model([entry], inputs, ["y0"], opset=12)
    if domain:
        model.opset_import.add(domain=domain, version=1)
    with contextlib.suppress(ConversionError):
        assert parse(model).main.outputs
