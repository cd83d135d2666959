#!/bin/sh
# torch.onnx.export: F.batch_norm(training=True) with running statistics becomes a normalization by the running statistics.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: with training=True the batch's own mean and variance are used (documentation of torch.nn.BatchNorm1d); training is an
# argument of the call, eval() of the module does not change it. ONNX has this, too: BatchNormalization-15 with training_mode=1.
# Seen on 2026-11-28: [10, 12, 14] is [-1.22, 0, 1.22] in PyTorch. The exported model returns [10, 12, 14]: a BatchNormalization with
# training_mode=0 and the mean 0 and variance 1 that the running statistics begin with. Without running statistics (None, None) the
# same call is exported right. A torch.nn.BatchNorm1d in training mode that comes from torch.export is exported wrong in the same way.
# No warning in either case.

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
from torch.nn.functional import batch_norm

logging.disable(logging.WARNING)
X = torch.tensor([[10.0], [12.0], [14.0]])
OWN = [-1.2247, 0, 1.2247]


class Running(torch.nn.Module):
    """By the statistics of the batch; running ones are there."""

    def forward(self, x):
        return batch_norm(x, torch.zeros(1), torch.ones(1), training=True)


class Batch(torch.nn.Module):
    """By the statistics of the batch; there are no others."""

    def forward(self, x):
        return batch_norm(x, None, None, training=True)


def both(module):
    """PyTorch and the exported model in onnxruntime; what was warned of."""
    program = torch.export.export(module, (X,))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = torch.onnx.export(program, (), None, dynamo=True, verbose=False).model_proto
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    seen = session.run(None, {session.get_inputs()[0].name: X.numpy()})[0]
    said = [str(one.message) for one in caught if "training" in str(one.message)]
    return module(X).detach().numpy().ravel(), seen.ravel(), said


for module in (Running().eval(), torch.nn.BatchNorm1d(1).train()):
    expected, seen, said = both(module)
    assert np.allclose(expected, OWN, atol=1e-3), expected
    assert np.allclose(seen, [10, 12, 14], atol=1e-3), seen
    assert not said, said
expected, seen, _ = both(Batch().eval())
assert np.allclose(expected, OWN, atol=1e-3) and np.allclose(seen, OWN, atol=1e-3), (expected, seen)
print("as recorded: batch_norm([10, 12, 14], training=True) is [-1.22, 0, 1.22] in PyTorch and [10, 12, 14] when exported")
PYTHON
