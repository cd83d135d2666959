"""A small language model with its cache of keys and values as inputs and outputs, at several lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto

from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline

from .helper import Array, check, make_model, node, operators, random
from .microsoft import DOMAIN

HEADS, SIZE, WORDS = 2, 16, 11
HIDDEN = HEADS * SIZE
LENGTHS = [(0, 5), (5, 1), (6, 1), (3, 4), (17, 1)]
"""Words that are cached, and new ones."""

SHAPES = {"ids": (1, "new"), "past_k": (1, HEADS, "past", SIZE), "past_v": (1, HEADS, "past", SIZE)}


def _inputs(past: int, new: int) -> dict[str, Array]:
    ids = np.random.default_rng(past).integers(0, WORDS, (1, new))
    return {"ids": ids, "past_k": random(1, HEADS, past, SIZE), "past_v": random(1, HEADS, past, SIZE, seed=1)}


def _weights() -> dict[str, Array]:
    constants = {
        "table": random(WORDS, HIDDEN),
        "gamma": random(HIDDEN, seed=1),
        "logits_w": random(HIDDEN, WORDS, seed=2),
    }
    constants |= {f"w{name}": 0.2 * random(HIDDEN, HIDDEN, seed=seed) for seed, name in enumerate("qkvo", 3)}
    constants["frequencies"] = (1 / 100.0 ** (np.arange(SIZE // 2) / SIZE)).astype(np.float32)
    for name, numbers in {
        "heads": [0, 0, HEADS, SIZE],
        "flat": [0, 0, HIDDEN],
        "i0": 0,
        "i1": 1,
        "i2": 2,
        "ax0": [0],
        "ax1": [1],
        "half": [SIZE // 2],
        "big": [1 << 40],
        "ax3": [3],
    }.items():
        constants[name] = np.asarray(numbers, np.int64)
    constants |= {"two": np.float32([2.0]), "epsilon": np.float32([1e-5]), "scale": np.float32([SIZE**-0.5])}
    constants["low"] = np.float32([-1e9])
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in constants.items()}


def _normalized(x: str, y: str) -> list[NodeProto]:
    """Root mean square normalization as PyTorch exports it."""
    return [
        node("Pow", [x, "two"], [f"{y}_squares"]),
        node("ReduceMean", [f"{y}_squares"], [f"{y}_mean"], axes=[-1]),
        node("Add", [f"{y}_mean", "epsilon"], [f"{y}_sum"]),
        node("Sqrt", [f"{y}_sum"], [f"{y}_root"]),
        node("Div", [x, f"{y}_root"], [f"{y}_scaled"]),
        node("Mul", [f"{y}_scaled", "gamma"], [y]),
    ]


def _rotated(x: str, y: str) -> list[NodeProto]:
    """x * cos + (-second half, first half) * sin."""
    return [
        node("Slice", [x, "ax0", "half", "ax3"], [f"{y}_first"]),
        node("Slice", [x, "half", "big", "ax3"], [f"{y}_second"]),
        node("Neg", [f"{y}_second"], [f"{y}_negative"]),
        node("Concat", [f"{y}_negative", f"{y}_first"], [f"{y}_turned"], axis=-1),
        node("Mul", [x, "cos"], [f"{y}_a"]),
        node("Mul", [f"{y}_turned", "sin"], [f"{y}_b"]),
        node("Add", [f"{y}_a", f"{y}_b"], [y]),
    ]


def decoder(inputs: dict[str, Array]) -> ModelProto:
    """Everything spelled out in standard operators; the sizes of the cache and of the text are open."""
    nodes = [
        node("Gather", ["table", "ids"], ["x"], axis=0),
        *_normalized("x", "normal"),
        node("Shape", ["past_k"], ["past_shape"]),
        node("Gather", ["past_shape", "i2"], ["past"], axis=0),
        node("Shape", ["ids"], ["ids_shape"]),
        node("Gather", ["ids_shape", "i1"], ["new"], axis=0),
        node("Add", ["past", "new"], ["total"]),
        node("Range", ["past", "total", "i1"], ["rows"]),
        node("Range", ["i0", "total", "i1"], ["columns"]),
        node("Unsqueeze", ["rows", "ax1"], ["rows_2d"]),
        node("Cast", ["rows_2d"], ["rows_float"], to=TensorProto.FLOAT),
        node("Mul", ["rows_float", "frequencies"], ["angles_half"]),
        node("Concat", ["angles_half", "angles_half"], ["angles"], axis=-1),
        node("Cos", ["angles"], ["cos"]),
        node("Sin", ["angles"], ["sin"]),
    ]
    for name in "qkv":
        nodes += [
            node("MatMul", ["normal", f"w{name}"], [f"{name}_flat"]),
            node("Reshape", [f"{name}_flat", "heads"], [f"{name}_rows"]),
            node("Transpose", [f"{name}_rows"], [f"{name}_heads"], perm=[0, 2, 1, 3]),
        ]
    nodes += [*_rotated("q_heads", "q_rotated"), *_rotated("k_heads", "k_rotated")]
    nodes += [
        node("Concat", ["past_k", "k_rotated"], ["present_k"], axis=2),
        node("Concat", ["past_v", "v_heads"], ["present_v"], axis=2),
        node("Transpose", ["present_k"], ["k_turned"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q_rotated", "k_turned"], ["raw"]),
        node("Mul", ["raw", "scale"], ["scaled"]),
        node("Less", ["rows_2d", "columns"], ["hidden"]),
        node("Where", ["hidden", "low", "scaled"], ["masked"]),
        node("Softmax", ["masked"], ["shares"], axis=-1),
        node("MatMul", ["shares", "present_v"], ["mixed"]),
        node("Transpose", ["mixed"], ["mixed_rows"], perm=[0, 2, 1, 3]),
        node("Reshape", ["mixed_rows", "flat"], ["joined"]),
        node("MatMul", ["joined", "wo"], ["projected"]),
        node("Add", ["x", "projected"], ["residual"]),
        *_normalized("residual", "last"),
        node("MatMul", ["last", "logits_w"], ["logits"]),
    ]
    return make_model(nodes, inputs, ["logits", "present_k", "present_v"], _weights(), 17, SHAPES)


def fused_decoder(inputs: dict[str, Array]) -> ModelProto:
    """The same layer as onnxruntime's optimizer writes it."""
    angles = np.arange(64)[:, None] * _weights()["frequencies"]
    constants = _weights() | {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    constants["one_int32"] = np.array([1], np.int32)
    nodes = [
        node("Gather", ["table", "ids"], ["x"], axis=0),
        node("SimplifiedLayerNormalization", ["x", "gamma"], ["normal"], epsilon=1e-5, axis=-1),
        *[node("MatMul", ["normal", f"w{name}"], [name]) for name in "qkv"],
        node("Shape", ["past_k"], ["past_shape"]),
        node("Gather", ["past_shape", "i2"], ["past"], axis=0),
        node("Shape", ["ids"], ["ids_shape"]),
        node("Gather", ["ids_shape", "i1"], ["new"], axis=0),
        node("Add", ["past", "new"], ["total_long"]),
        node("Cast", ["total_long"], ["total"], to=TensorProto.INT32),
        node("Sub", ["total", "one_int32"], ["seqlens"]),
        node(
            "GroupQueryAttention",
            ["q", "k", "v", "past_k", "past_v", "seqlens", "total", "cos", "sin"],
            ["mixed", "present_k", "present_v"],
            domain=DOMAIN,
            num_heads=HEADS,
            kv_num_heads=HEADS,
            do_rotary=1,
        ),
        node("MatMul", ["mixed", "wo"], ["projected"]),
        node("SkipSimplifiedLayerNormalization", ["x", "projected", "gamma"], ["last"], domain=DOMAIN, epsilon=1e-5),
        node("MatMul", ["last", "logits_w"], ["logits"]),
    ]
    model = make_model(nodes, inputs, ["logits", "present_k", "present_v"], constants, 17, SHAPES)
    model.opset_import.add(domain=DOMAIN, version=1)
    return model


@pytest.mark.parametrize(("past", "new"), LENGTHS)
@pytest.mark.parametrize("build", [decoder, fused_decoder])
def test_decoder(build: object, past: int, new: int, tmp_path: Path) -> None:
    inputs = _inputs(past, new)
    model = decoder(inputs) if build is decoder else fused_decoder(inputs)
    check(model, inputs, tmp_path)


def test_normalizations_of_the_decoder_are_single_nodes() -> None:
    for build in (decoder, fused_decoder):
        module = parse(build(_inputs(3, 4)))
        run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
        assert operators(module).count("RmsNorm") == 2
        assert "ReduceFusion" not in operators(module)
