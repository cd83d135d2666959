#!/bin/sh
# torch.onnx.export: attention with a row that masks everything, or with a negative scale, is computed otherwise.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: the exported model computes what PyTorch computes, for each kind of mask and each scale. The scale is a factor of the
# scores (documentation of scaled_dot_product_attention: query @ key.transpose(-2, -1) * scale_factor); its sign is free.
# Seen on 2026-11-28: a row of the mask that lets no key take part (padding in front) gives 0 in PyTorch, for a boolean mask and for
# one of minus infinity. The exported model gives the mean of the values for the boolean mask, which it fills with the smallest
# float32, and NaN for the mask of minus infinity. A scale of -0.5 gives NaN everywhere, with a boolean mask 0: the exporter multiplies
# query and key each by the square root of the scale. No warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'onnx==1.23.2' 'onnxscript==0.7.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import warnings

import numpy as np
import onnxruntime
import torch
from torch.nn.functional import scaled_dot_product_attention

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
X = torch.tensor([[[[1.0, 0.0], [0.0, 3.0]]]])
TAKES_PART = torch.tensor([[False, False], [True, True]])
ADDED = torch.zeros(2, 2).masked_fill(~TAKES_PART, -torch.inf)


class Attention(torch.nn.Module):
    """Attention of a tensor with itself."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, mask):
        return scaled_dot_product_attention(x, x, x, attn_mask=mask, scale=self.scale)


def both(mask, scale):
    """PyTorch and the exported model in onnxruntime."""
    module = Attention(scale).eval()
    model = torch.onnx.export(module, (X, mask), dynamo=True, verbose=False).model_proto
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    arrays = {value.name: tensor.numpy() for value, tensor in zip(session.get_inputs(), (X, mask))}
    return module(X, mask).numpy()[0, 0], session.run(None, arrays)[0][0, 0]


expected, boolean = both(TAKES_PART, 0.5)
assert np.array_equal(expected[0], [0, 0]), expected
assert np.allclose(boolean[0], [0.5, 1.5]) and np.allclose(boolean[1], expected[1]), boolean
expected, infinite = both(ADDED, 0.5)
assert np.array_equal(expected[0], [0, 0]), expected
assert np.isnan(infinite[0]).all() and np.allclose(infinite[1], expected[1]), infinite
weights = np.exp([[-0.5, 0], [0, -4.5]])
weights /= weights.sum(1, keepdims=True)
for mask, wrong in ((torch.zeros(2, 2), np.nan), (torch.ones(2, 2, dtype=torch.bool), 0)):
    expected, negative = both(mask, -0.5)
    assert np.allclose(expected, weights @ X.numpy()[0, 0], atol=1e-6), expected
    assert np.array_equal(negative, np.full((2, 2), wrong), equal_nan=True), negative
print("as recorded: a row that masks all keys is 0 in PyTorch, the mean of the values or NaN when exported; scale=-0.5 gives NaN")
PYTHON
