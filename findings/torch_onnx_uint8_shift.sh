#!/bin/sh
# torch.onnx.export: shifts of uint8 are exported as int8, so that 64 << 1 is -128.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: the type of the operands, as in PyTorch and as ONNX BitShift-11 has it (input and output are of one type, uint8 among them).
# Seen on 2026-11-29: the exported model casts the result to the signed type of the same width, also where the operand was unsigned. The output
# of the model is int8: 128 becomes -128, 200 becomes -56. A model of int8 is right. No warning.

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


class Shift(torch.nn.Module):
    def forward(self, x):
        return x << 1, x >> 1


def both(values, dtype):
    """PyTorch and the exported model in onnxruntime."""
    x = torch.tensor(values, dtype=dtype)
    model = torch.onnx.export(Shift(), (x,), dynamo=True, verbose=False).model_proto
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return [one.numpy() for one in Shift()(x)], session.run(None, {session.get_inputs()[0].name: x.numpy()})


expected, seen = both([1, 64, 100, 200], torch.uint8)
assert [one.dtype for one in expected] == [np.uint8, np.uint8]
assert [one.dtype for one in seen] == [np.int8, np.int8], [one.dtype for one in seen]
assert expected[0].tolist() == [2, 128, 200, 144], expected
assert seen[0].tolist() == [2, -128, -56, -112], seen
expected, seen = both([1, 64, 100, -20], torch.int8)
assert all(np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(expected, seen)), (expected, seen)
print("as recorded: 64 << 1 of uint8 is 128 in PyTorch and the int8 number -128 in the exported model")
PYTHON
