#!/bin/sh
# torch.onnx.export: scatter_reduce with "mean" stores the last value instead of a mean, also with include_self=True.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: an argument that ONNX cannot express is refused. ScatterElements has the reductions add, mul, max and min, no mean; with
# reduction="none" indices may not come twice (ONNX, ScatterElements-18).
# Seen on 2026-11-28: "mean" becomes reduction="none". 10 with 1 and 3 scattered to it is 4.67 in PyTorch (the mean of the three; 2
# without itself) and 3 in the exported model. "sum", "amax", "amin" and "prod" are right, with and without include_self. No warning.

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
INPUTS = (torch.tensor([10.0, 20.0, 30.0]), torch.tensor([0, 0, 2]), torch.tensor([1.0, 3.0, 6.0]))


class Scatter(torch.nn.Module):
    """scatter_reduce with fixed arguments."""

    def __init__(self, reduction, include_self):
        super().__init__()
        self.arguments = (reduction, include_self)

    def forward(self, x, index, source):
        reduction, include_self = self.arguments
        return x.scatter_reduce(0, index, source, reduction, include_self=include_self)


def both(reduction, include_self):
    """PyTorch and the exported model in onnxruntime."""
    module = Scatter(reduction, include_self)
    model = torch.onnx.export(module, INPUTS, dynamo=True, verbose=False).model_proto
    session = onnxruntime.InferenceSession(model.SerializeToString())
    arrays = {value.name: tensor.numpy() for value, tensor in zip(session.get_inputs(), INPUTS)}
    return module(*INPUTS).numpy(), session.run(None, arrays)[0]


for include_self, mean in ((True, [14 / 3, 20, 18]), (False, [2, 20, 6])):
    expected, seen = both("mean", include_self)
    assert np.allclose(expected, mean), expected
    assert np.allclose(seen, [3, 20, 6]), seen
    for reduction in ("sum", "prod", "amax", "amin"):
        expected, seen = both(reduction, include_self)
        assert np.allclose(expected, seen), (reduction, include_self, expected, seen)
print("as recorded: scatter_reduce(mean) of 10, 1 and 3 is 4.67 in PyTorch and 3 in the exported model")
PYTHON
