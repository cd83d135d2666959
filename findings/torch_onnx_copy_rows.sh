#!/bin/sh
# torch.onnx.export: copy_() of a row into a tensor of more rows is one row in the exported model.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: the shape of the target, since "the src tensor must be broadcastable with the self tensor" (Tensor.copy_).
# Seen on 2026-11-29: the copy becomes the source itself. The model declares an output of the shape [2, 3], and onnxruntime computes
# one of the shape [3].

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'onnx==1.23.2' 'onnxscript==0.7.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging

import numpy as np
import onnxruntime
import torch

logging.disable(logging.WARNING)


class Copy(torch.nn.Module):
    """Writes x into each row, and into a tensor of its own shape."""

    def forward(self, x):
        return torch.zeros(2, 3).copy_(x), torch.zeros(3).copy_(x)


x = torch.tensor([1.75, -2.5, 3.25])
expected = [one.numpy() for one in Copy()(x)]
model = torch.onnx.export(Copy(), (x,), dynamo=True, verbose=False).model_proto
session = onnxruntime.InferenceSession(model.SerializeToString())
seen = session.run(None, {session.get_inputs()[0].name: x.numpy()})
assert expected[0].tolist() == [[1.75, -2.5, 3.25]] * 2, expected
assert seen[0].tolist() == [1.75, -2.5, 3.25], seen
assert [value.dim_value for value in model.graph.output[0].type.tensor_type.shape.dim] == [2, 3]
assert np.array_equal(expected[1], seen[1])
print("as recorded: a row copied into a tensor of two rows is one row in the exported model, which declares the shape [2, 3]")
PYTHON
