"""GroupQueryAttention of onnxruntime, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError

from .helper import Array, check, compute, random, reference
from .microsoft import angles, foreign

HEADS, SIZE = 2, 16
HIDDEN = HEADS * SIZE


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
    {"softcap": -5.0},
    {"causal": 0},
    {"causal": 0, "do_rotary": 1, "smooth_softmax": 1},
    {"smooth_softmax": 1},
]


@pytest.mark.parametrize("attributes", GROUPED)
@pytest.mark.parametrize(("past", "new"), [(0, 5), (5, 1), (3, 4)])
def test_group_query_attention(attributes: dict[str, Any], past: int, new: int, tmp_path: Path) -> None:
    inputs = _grouped(past, new, batch=1)
    constants = angles() if attributes.get("do_rotary") else {}
    model = foreign(
        "GroupQueryAttention", inputs, constants, 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, **attributes
    )
    check(model, inputs, tmp_path)


def test_group_query_attention_of_a_packed_query(tmp_path: Path) -> None:
    inputs = _grouped(4, 1, packed=True, groups=2)
    model = foreign(
        "GroupQueryAttention", inputs, angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=2, do_rotary=1
    )
    check(model, inputs, tmp_path)


def test_group_query_attention_with_pasts_of_different_lengths(tmp_path: Path) -> None:
    """Each entry of the batch writes its new row behind its own past, and sees no further."""
    inputs = _grouped(6, 1)
    lengths = [4, 6]
    inputs["seqlens"] = np.array(lengths, np.int32) - 1
    inputs["total"] = np.array(6, np.int32)
    model = foreign(
        "GroupQueryAttention", inputs, angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1
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
    constants = angles() if attributes.get("do_rotary") else {}
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
        "GroupQueryAttention", inputs, angles(), 3, order=FULL_ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1,
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
        "GroupQueryAttention", plain, angles(), 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, do_rotary=1
    )
    check(model, inputs, tmp_path, wanted=reference(equal, plain))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("local_window_size", 0), ("sliding_window_cache", 1), ("q_norm_epsilon", -1.0), ("mystery", 1)],
)
def test_group_query_attention_refuses_by_name(attribute: str, value: float, tmp_path: Path) -> None:
    inputs = _grouped(3, 1) | {"q_norm": random(SIZE), "k_norm": random(SIZE)}
    model = foreign(
        "GroupQueryAttention", inputs, {}, 3, order=FULL_ORDER, num_heads=HEADS, kv_num_heads=1, **{attribute: value}
    )
    with pytest.raises(ConversionError, match=f"attribute '{attribute}'"):
        compute(model, inputs, tmp_path)


@pytest.mark.parametrize(("past", "new"), [(0, 5), (3, 4), (5, 1)])
def test_group_query_attention_with_given_positions(past: int, new: int, tmp_path: Path) -> None:
    """The first call counts on from the first number; the others read all of them."""
    batch = 2 if past == 0 or new == 1 else 1
    inputs = _grouped(past, new, batch=batch)
    inputs["places"] = np.random.default_rng(1).integers(2, 10, (batch, new))
    order = [*ORDER, "places"]
    model = foreign(
        "GroupQueryAttention", inputs, angles(), 3, order=order, num_heads=HEADS, kv_num_heads=1, do_rotary=1
    )
    check(model, inputs, tmp_path)


def test_group_query_attention_to_later_keys_sees_its_own_valid_ones(tmp_path: Path) -> None:
    inputs = _grouped(0, 5)
    inputs["seqlens"] = np.array([4, 2], np.int32)
    model = foreign("GroupQueryAttention", inputs, {}, 3, order=ORDER, num_heads=HEADS, kv_num_heads=1, causal=0)
    got, wanted = compute(model, inputs, tmp_path)[0], reference(model, inputs)[0]
    for entry, valid in enumerate((5, 3)):  # rows of padding have no meaning
        np.testing.assert_allclose(got[entry, :valid], wanted[entry, :valid], rtol=1e-4, atol=1e-4)
