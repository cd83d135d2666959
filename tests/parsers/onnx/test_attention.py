"""Attention and caches of onnxruntime and of the standard, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError

from .helper import Array, check, compute, random, reference
from .microsoft import foreign

HEADS, SIZE = 2, 16
HIDDEN = HEADS * SIZE


@pytest.mark.parametrize("mask", ["none", "rows", "lengths", "ends", "square"])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention(mask: str, unidirectional: int, tmp_path: Path) -> None:
    masks = {
        "none": None,
        "rows": np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32),
        "lengths": np.array([4, 5], np.int32),
        "ends": np.array([4, 5, 0, 1], np.int32),
        "square": np.tril(np.ones((2, 5, 5), np.int32)),
    }
    if unidirectional and mask == "ends":
        pytest.skip("the first query would see nothing")
    inputs: dict[str, Array | None] = {"x": random(2, 5, 6), "mask": masks[mask]}
    constants = {"w": random(6, 3 * HIDDEN), "b": random(3 * HIDDEN, seed=1)}
    attributes = {"num_heads": HEADS, "unidirectional": unidirectional}
    model = foreign("Attention", inputs, constants, order=["x", "w", "b", "mask"], **attributes)
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


@pytest.mark.parametrize("mask", ["none", "rows", "lengths"])
@pytest.mark.parametrize("with_bias", [True, False])
def test_multi_head_attention(mask: str, with_bias: bool, tmp_path: Path) -> None:
    masks = {
        "none": None,
        "rows": np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32),
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


def _angles(count: int = 16, size: int = SIZE) -> dict[str, Array]:
    angles = np.arange(count)[:, None] / 100.0 ** (np.arange(size // 2) / size)
    return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("places", [[[2]], [[0, 1, 2], [4, 5, 6]]])
@pytest.mark.parametrize("flat", [True, False])
def test_rotary_embedding(interleaved: int, places: list[list[int]], flat: bool, tmp_path: Path) -> None:
    positions = np.array(places[0] if len(places) == 1 else places, np.int64)
    inputs = {"x": random(2, 3, HIDDEN) if flat else random(2, HEADS, 3, SIZE), "places": positions}
    model = foreign("RotaryEmbedding", inputs, _angles(), interleaved=interleaved)
    check(model, inputs, tmp_path)


def test_rotary_embedding_of_a_part(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 2 * 24), "places": np.array([1], np.int64)}
    model = foreign("RotaryEmbedding", inputs, _angles(), num_heads=2, rotary_embedding_dim=16)
    check(model, inputs, tmp_path)


def _grouped(past: int, new: int, batch: int = 2, groups: int = 1, packed: bool = False) -> dict[str, Array]:
    inputs = {"q": random(batch, new, HIDDEN + (2 * groups * SIZE if packed else 0))}
    if not packed:
        inputs |= {name: random(batch, new, groups * SIZE, seed=seed) for seed, name in enumerate("kv", 1)}
    inputs |= {name: random(batch, groups, past, SIZE, seed=seed) for seed, name in enumerate(("pk", "pv"), 3)}
    inputs["seqlens"] = np.full(batch, past + new - 1, np.int32)
    inputs["total"] = np.array(past + new, np.int32)
    return inputs


ORDER = ["q", "k", "v", "pk", "pv", "seqlens", "total", "cos", "sin"]
GROUPED: list[dict[str, Any]] = [
    {},
    {"do_rotary": 1},
    {"do_rotary": 1, "rotary_interleaved": 1},
    {"local_window_size": 2},
    {"softcap": 5.0, "scale": 0.7},
    {"smooth_softmax": 1},
]


@pytest.mark.parametrize("attributes", GROUPED)
@pytest.mark.parametrize(("past", "new"), [(0, 5), (5, 1), (3, 4)])
def test_group_query_attention(attributes: dict[str, Any], past: int, new: int, tmp_path: Path) -> None:
    inputs = _grouped(past, new, batch=1)
    constants = _angles() if attributes.get("do_rotary") else {}
    model = foreign(
        "GroupQueryAttention", inputs, constants, 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, **attributes
    )
    check(model, inputs, tmp_path)


def test_group_query_attention_of_a_packed_query(tmp_path: Path) -> None:
    inputs = _grouped(4, 1, packed=True, groups=2)
    model = foreign(
        "GroupQueryAttention", inputs, _angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=2, do_rotary=1
    )
    check(model, inputs, tmp_path)


def test_group_query_attention_with_pasts_of_different_lengths(tmp_path: Path) -> None:
    """Each entry of the batch writes its new row behind its own past, and sees no further."""
    inputs = _grouped(6, 1)
    lengths = [4, 6]
    inputs["seqlens"] = np.array(lengths, np.int32) - 1
    inputs["total"] = np.array(6, np.int32)
    model = foreign(
        "GroupQueryAttention", inputs, _angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1
    )
    got, wanted = compute(model, inputs, tmp_path), reference(model, inputs)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-4, atol=1e-4)
    for actual, expected in zip(got[1:], wanted[1:], strict=True):
        assert actual.shape == expected.shape
        for entry, length in enumerate(lengths):  # what is beyond has no meaning
            np.testing.assert_allclose(actual[entry, :, :length], expected[entry, :, :length], rtol=1e-4, atol=1e-4)


FULL_ORDER = [*ORDER, "", "", "", "", "", "q_norm", "k_norm", "rows"]


def _padded(past: list[int], rows: list[int], length: int) -> dict[str, Array]:
    """A chunk of `length` rows, of which an entry has `rows` behind its `past`, in a cache that has room for all."""
    inputs = _grouped(max(past) + length, length, batch=len(past))
    inputs["seqlens"] = np.array([before + own - 1 for before, own in zip(past, rows, strict=True)], np.int32)
    inputs["total"] = np.array(max(past) + length, np.int32)
    return inputs | {"rows": np.array(rows, np.int32)}


@pytest.mark.parametrize("attributes", [{}, {"do_rotary": 1}, {"local_window_size": 2}])
@pytest.mark.parametrize(("past", "rows", "length"), [([5], [2], 4), ([3, 6], [4, 1], 4), ([0, 4], [1, 0], 1)])
def test_group_query_attention_of_padded_queries(
    attributes: dict[str, Any], past: list[int], rows: list[int], length: int, tmp_path: Path
) -> None:
    """Rows of padding, and what they leave in the cache, have no meaning."""
    inputs = _padded(past, rows, length)
    constants = _angles() if attributes.get("do_rotary") else {}
    model = foreign(
        "GroupQueryAttention", inputs, constants, 3, order=FULL_ORDER, num_heads=HEADS, kv_num_heads=1, **attributes
    )
    got, wanted = compute(model, inputs, tmp_path), reference(model, inputs)
    for entry, (before, own) in enumerate(zip(past, rows, strict=True)):
        np.testing.assert_allclose(got[0][entry, :own], wanted[0][entry, :own], rtol=1e-4, atol=1e-4)
        for actual, expected in zip(got[1:], wanted[1:], strict=True):
            valid = before + own
            np.testing.assert_allclose(actual[entry, :, :valid], expected[entry, :, :valid], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("epsilons", [{}, {"qk_norm_epsilon": 0.1}, {"qk_norm_epsilon": 0.1, "k_norm_epsilon": 0.5}])
def test_group_query_attention_with_norms(packed: bool, epsilons: dict[str, float], tmp_path: Path) -> None:
    """onnxruntime computes the norms on GPUs alone: on the CPU the same written out has to do."""
    inputs = _grouped(3, 4, batch=1, packed=packed)
    inputs |= {"q_norm": 1 + 0.3 * random(SIZE, seed=8), "k_norm": 1 + 0.3 * random(SIZE, seed=9)}
    model = foreign(
        "GroupQueryAttention", inputs, _angles(), 3, order=FULL_ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1,
        causal=1, sliding_window_cache=0, **epsilons,
    )  # fmt: skip
    shared = epsilons.get("qk_norm_epsilon", 1e-6)
    query = inputs["q"][..., :HIDDEN]
    rest = inputs["q"][..., HIDDEN:]
    parts = {"q": query, "k": inputs["k"], "v": inputs["v"]} if not packed else {
        "q": query, "k": rest[..., :SIZE], "v": rest[..., SIZE:]}  # fmt: skip
    plain = {name: inputs[name] for name in ("pk", "pv", "seqlens", "total")}
    for name, heads in (("q", HEADS), ("k", 1)):
        x = parts[name].reshape(1, 4, heads, SIZE).astype(np.float64)
        epsilon = epsilons.get(f"{name}_norm_epsilon", shared)
        x = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + epsilon) * inputs[f"{name}_norm"]
        plain[name] = x.reshape(parts[name].shape).astype(np.float32)
    plain["v"] = parts["v"]
    equal = foreign(
        "GroupQueryAttention", plain, _angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1
    )
    check(model, inputs, tmp_path, wanted=reference(equal, plain))


@pytest.mark.parametrize(
    ("attribute", "value"), [("causal", 0), ("sliding_window_cache", 1), ("q_norm_epsilon", -1.0), ("mystery", 1)]
)
def test_group_query_attention_refuses_by_name(attribute: str, value: float, tmp_path: Path) -> None:
    inputs = _grouped(3, 1) | {"q_norm": random(SIZE), "k_norm": random(SIZE)}
    model = foreign(
        "GroupQueryAttention", inputs, {}, 3, order=FULL_ORDER, num_heads=HEADS, kv_num_heads=1, **{attribute: value}
    )
    with pytest.raises(ConversionError, match=f"attribute '{attribute}'"):
        compute(model, inputs, tmp_path)
