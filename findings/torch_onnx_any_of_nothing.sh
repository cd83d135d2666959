#!/bin/sh
# torch.onnx.export: any() over an empty dimension is True in the exported model.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: False, as any() of nothing is in PyTorch, NumPy and Python.
# Seen on 2026-11-29: the exporter takes the largest of the values as integers, and then casts to bool. The largest of no integers
# is the smallest integer (ONNX, ReduceMax: "minus infinity (if supported by the datatype) or the minimum value of the data type otherwise"),
# which is not zero. all() is right. The size is open in the model, which says that it may be 0.

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


class Any(torch.nn.Module):
    """Whether a row, or anything at all, is true."""

    def forward(self, x):
        return x.any(1), x.any(), x.all(1)


SIZES = ({1: torch.export.Dim("width", min=0, max=64)},)
model = torch.onnx.export(Any(), (torch.zeros(2, 3, dtype=torch.bool),), dynamic_shapes=SIZES, dynamo=True, verbose=False)
session = onnxruntime.InferenceSession(model.model_proto.SerializeToString())
(name,) = [value.name for value in session.get_inputs()]


def both(x):
    """PyTorch and the exported model in onnxruntime."""
    return [one.numpy() for one in Any()(x)], session.run(None, {name: x.numpy()})


for x in (torch.zeros(2, 3, dtype=torch.bool), torch.tensor([[True, False], [False, False]])):
    expected, seen = both(x)
    assert all(np.array_equal(one, other) for one, other in zip(expected, seen)), (expected, seen)
expected, seen = both(torch.zeros(2, 0, dtype=torch.bool))
assert [one.tolist() for one in expected] == [[False, False], False, [True, True]], expected
assert [one.tolist() for one in seen] == [[True, True], True, [True, True]], seen
print("as recorded: any() over nothing is False in PyTorch and True in the exported model")
PYTHON
