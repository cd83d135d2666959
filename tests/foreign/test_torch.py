"""Attention against PyTorch's, where PyTorch is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.kernels.random_calls import Call

from .graph import Array
from .matrices import attentions
from .registry import check
from .test_foreign import BOUNDED

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
pytestmark = pytest.mark.frameworks


def multi_head_attention(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """torch.nn.functional.multi_head_attention_forward; scores that are added are its mask of float values."""
    hidden, batch = op.head_num * op.head_size, inputs[0].shape[0] if inputs[0].ndim == 3 else 1
    q, k, v, *rest = (torch.tensor(x) for x in inputs)
    q, k, v = (x if x.ndim == 3 else x[None] for x in (q, k, v))
    weights = [rest.pop(0)] if op.cross else []
    weights += list(torch.split(rest.pop(0), hidden, 1))
    last = rest.pop(0)
    has_bias = rest[0].ndim == 1
    scale = op.scale or (op.head_size**-0.5 if has_bias else 1.0)
    biases = list(torch.split(rest.pop(0), hidden)) if has_bias else [torch.zeros(hidden)] * 3
    last_bias = rest.pop(0) if has_bias else None
    shape = (batch, op.head_num, q.shape[1], k.shape[1])
    added = torch.zeros(shape) if has_bias else rest.pop(0).expand(shape).clone()
    for mask in rest:
        added = added + (1 - mask[:, None]) * -10000.0
    # PyTorch's scale is that of the head's size: the difference goes into the query's projection.
    factor = scale * op.head_size**0.5
    query, key, value = (
        x.transpose(0, 1) @ weight + bias for x, weight, bias in zip((q, k, v), weights, biases, strict=True)
    )
    same = torch.eye(hidden)
    result, _ = torch.nn.functional.multi_head_attention_forward(
        query * factor, key, value, hidden, op.head_num, None, torch.zeros(3 * hidden), None, None, False, 0.0, same, None,
        training=False, need_weights=False, attn_mask=added.reshape(-1, *shape[2:]), use_separate_proj_weight=True,
        q_proj_weight=same, k_proj_weight=same, v_proj_weight=same,
    )  # fmt: skip
    turned = last if last.shape[0] == hidden else last.T
    y = result.transpose(0, 1) @ turned
    return [np.asarray(y if last_bias is None else y + last_bias)]


@BOUNDED
@given(attentions("Attention"))
def test_attention(call: Call) -> None:
    check(call, multi_head_attention)
