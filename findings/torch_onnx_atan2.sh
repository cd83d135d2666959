#!/bin/sh
# torch.onnx.export: the exported atan2(0, x) of a negative x is minus pi instead of pi.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: atan2(+0, x) is pi for a negative x, and atan2(-0, x) is minus pi (C standard, annex F.10.1.4; torch.atan2 and numpy.arctan2
# follow it). What cannot be expressed is refused.
# Seen on 2026-11-28: atan2 is exported as atan(y / x), corrected by pi where x is negative; the sign is taken from "y > 0", so that a y of
# zero counts as negative. atan2(0, -1), the angle of a negative float, is 3.14 in PyTorch and -3.14 in the exported model, which
# is wrong by a whole turn. The numbers beside it (y = 1e-30) agree. No warning.

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

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")


class Angle(torch.nn.Module):
    """The angle of x + i y."""

    def forward(self, y, x):
        return torch.atan2(y, x)


Y = torch.tensor([0.0, 1e-30, -1e-30, 0.0, 1.0, -1.0, 0.0])
X = torch.tensor([-1.0, -1.0, -1.0, -1e3, 0.0, 0.0, 1.0])
model = torch.onnx.export(Angle().eval(), (Y, X), dynamo=True, verbose=False).model_proto
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
seen = session.run(None, {value.name: tensor.numpy() for value, tensor in zip(session.get_inputs(), (Y, X))})[0]
expected = np.arctan2(Y.numpy(), X.numpy())
assert np.allclose(Angle()(Y, X).numpy(), expected), expected
assert np.allclose(expected, [np.pi, np.pi, -np.pi, np.pi, np.pi / 2, -np.pi / 2, 0]), expected
assert np.allclose(seen, [-np.pi, np.pi, -np.pi, -np.pi, np.pi / 2, -np.pi / 2, 0]), seen
print("as recorded: atan2(0, -1) is pi in PyTorch and", seen[0], "in the exported model")
PYTHON
