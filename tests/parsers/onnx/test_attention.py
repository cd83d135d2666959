"""Attention and caches of onnxruntime and of the standard, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .helper import Array, check, random, reference
from .microsoft import angles, foreign

HEADS, SIZE = 2, 16
HIDDEN = HEADS * SIZE


@pytest.mark.parametrize("mask", ["none", "rows", "any numbers", "lengths", "ends", "square"])
@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("is_open", [False, True])
def test_attention(mask: str, unidirectional: int, is_open: bool, tmp_path: Path) -> None:
    """With open sizes, how many numbers a mask has per batch entry is told at run time."""
    masks = {
        "none": None,
        "rows": np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32),
        "any numbers": np.array([[2, 1, -1, 7, 0], [1, -3, 1, 1, 2]], np.int32),
        "lengths": np.array([4, 5], np.int32),
        "ends": np.array([4, 5, 0, 1], np.int32),
        "square": np.tril(np.ones((2, 5, 5), np.int32)),
    }
    if unidirectional and mask == "ends":
        pytest.skip("the first query would see nothing")
    inputs: dict[str, Array | None] = {"x": random(2, 5, 6), "mask": masks[mask]}
    constants = {"w": random(6, 3 * HIDDEN), "b": random(3 * HIDDEN, seed=1)}
    attributes = {"num_heads": HEADS, "unidirectional": unidirectional}
    rank = 0 if masks[mask] is None else masks[mask].ndim
    shapes = {"x": ("batch", "s", 6), "mask": ("m", "n", "o")[:rank]} if is_open else None
    model = foreign("Attention", inputs, constants, order=["x", "w", "b", "mask"], shapes=shapes, **attributes)
    check(model, {name: array for name, array in inputs.items() if array is not None}, tmp_path)


@pytest.mark.parametrize("extra", ["past", "bias"])
def test_attention_with_past_or_bias(extra: str, tmp_path: Path) -> None:
    extras = {"past": random(2, 2, HEADS, 4, SIZE, seed=2), "bias": random(2, HEADS, 3, 3, seed=3)}
    inputs = {"x": random(2, 3, 6), extra: extras[extra]}
    constants = {"w": random(6, 3 * HIDDEN), "b": random(3 * HIDDEN, seed=1)}
    order = ["x", "w", "b", "", "past", "bias"]
    outputs = 2 if extra == "past" else 1
    model = foreign("Attention", inputs, constants, outputs, order=order, num_heads=HEADS, unidirectional=1)
    check(model, inputs, tmp_path)


@pytest.mark.parametrize("sizes", [(32, 32, 32), (32, 32, 8)])
def test_attention_of_given_sizes(sizes: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 6)}
    constants = {"w": random(6, sum(sizes)), "b": random(sum(sizes), seed=1)}
    model = foreign("Attention", inputs, constants, num_heads=HEADS, qkv_hidden_sizes=sizes, scale=0.3)
    check(model, inputs, tmp_path)


def _projected(batch: int = 2, queries: int = 3, keys: int = 5) -> dict[str, Array | None]:
    rows = ((queries, 0), (keys, 1), (keys, 2))
    return {name: random(batch, count, HIDDEN, seed=seed) for name, (count, seed) in zip("qkv", rows, strict=True)}


@pytest.mark.parametrize("mask", ["none", "rows", "any numbers", "lengths"])
@pytest.mark.parametrize("with_bias", [True, False])
def test_multi_head_attention(mask: str, with_bias: bool, tmp_path: Path) -> None:
    masks = {
        "none": None,
        "rows": np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32),
        "any numbers": np.array([[2, 1, -1, 7, 0], [1, -3, 1, 1, 2]], np.int32),
        "lengths": np.array([4, 5], np.int32),
    }
    inputs = _projected() | {"mask": masks[mask]}
    constants = {"b": random(3 * HIDDEN, seed=5)} if with_bias else {}
    model = foreign("MultiHeadAttention", inputs, constants, order=["q", "k", "v", "b", "mask"], num_heads=HEADS)
    check(model, {name: array for name, array in inputs.items() if array is not None}, tmp_path)


def test_multi_head_attention_with_past(tmp_path: Path) -> None:
    past = {name: random(2, HEADS, 4, SIZE, seed=seed) for seed, name in enumerate(("past_k", "past_v"), 7)}
    inputs = _projected(keys=3) | past | {"bias": random(1, HEADS, 3, 7, seed=9)}
    order = ["q", "k", "v", "", "", "bias", "past_k", "past_v"]
    model = foreign("MultiHeadAttention", inputs, None, 3, order=order, num_heads=HEADS, unidirectional=1)
    check(model, inputs, tmp_path)  # type: ignore[arg-type]


def test_multi_head_attention_over_given_heads(tmp_path: Path) -> None:
    inputs: dict[str, Array | None] = {
        "q": random(2, 3, HIDDEN),
        "k": random(2, HEADS, 5, SIZE, seed=1),
        "v": random(2, HEADS, 5, SIZE, seed=2),
    }
    check(foreign("MultiHeadAttention", inputs, num_heads=HEADS), inputs, tmp_path)  # type: ignore[arg-type]


def test_multi_head_attention_of_packed_operands(tmp_path: Path) -> None:
    """onnxruntime takes q, k and v in one on GPUs only: the parts give the result that is wanted."""
    inputs = {"q": random(2, 3, HEADS, 3, SIZE)}
    parts = {name: inputs["q"][:, :, :, index].reshape(2, 3, HIDDEN) for index, name in enumerate("qkv")}
    wanted = reference(foreign("MultiHeadAttention", parts, num_heads=HEADS), parts)
    check(foreign("MultiHeadAttention", inputs, num_heads=HEADS), inputs, tmp_path, wanted=wanted)
    pair = {"q": random(2, 3, HIDDEN), "kv": random(2, 5, HEADS, 2, SIZE, seed=1)}
    parts = {"q": pair["q"]} | {name: pair["kv"][:, :, :, i].reshape(2, 5, HIDDEN) for i, name in enumerate("kv")}
    wanted = reference(foreign("MultiHeadAttention", parts, num_heads=HEADS), parts)
    check(foreign("MultiHeadAttention", pair, num_heads=HEADS), pair, tmp_path, wanted=wanted)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("places", [[[2]], [[0, 1, 2], [4, 5, 6]]])
@pytest.mark.parametrize("flat", [True, False])
def test_rotary_embedding(interleaved: int, places: list[list[int]], flat: bool, tmp_path: Path) -> None:
    positions = np.array(places[0] if len(places) == 1 else places, np.int64)
    inputs = {"x": random(2, 3, HIDDEN) if flat else random(2, HEADS, 3, SIZE), "places": positions}
    model = foreign("RotaryEmbedding", inputs, angles(), interleaved=interleaved)
    check(model, inputs, tmp_path)


def test_rotary_embedding_of_a_part(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 2 * 24), "places": np.array([1], np.int64)}
    model = foreign("RotaryEmbedding", inputs, angles(), num_heads=2, rotary_embedding_dim=16)
    check(model, inputs, tmp_path)
