#!/bin/sh
# torch.onnx.export: interpolate(scale_factor=..., antialias=True) uses another scale than the one that was passed.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: "If recompute_scale_factor is False, then size or scale_factor will be used directly for interpolation" (documentation of
# torch.nn.functional.interpolate; None, the default, gives the same). ONNX Resize takes scales as well as sizes; with scales it uses them.
# Seen on 2026-11-28: 16 pixels by 0.37 are 5 pixels. Without antialias the exported Resize has the scales 0.37 and agrees with PyTorch.
# With antialias=True it has sizes, from which follows the scale 5/16 = 0.3125: the ramp 0 to 15 begins with 1.41 instead of 1.12 and
# differs by up to 1.9. With recompute_scale_factor=True both agree. Bilinear and bicubic alike, for enlarging, too. No warning.

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
from torch.nn.functional import interpolate

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
X = torch.arange(16.0).repeat(1, 1, 16, 1)


class Resize(torch.nn.Module):
    """interpolate with fixed arguments."""

    def __init__(self, **arguments):
        super().__init__()
        self.arguments = arguments

    def forward(self, x):
        return interpolate(x, **self.arguments)


def both(**arguments):
    """The first row of PyTorch and of the exported model in onnxruntime, and the number of inputs of its Resize."""
    module = Resize(**arguments).eval()
    model = torch.onnx.export(module, (X,), dynamo=True, verbose=False).model_proto
    (node,) = [node for node in model.graph.node if node.op_type == "Resize"]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    seen = session.run(None, {session.get_inputs()[0].name: X.numpy()})[0]
    return module(X).numpy()[0, 0, 0], seen[0, 0, 0], len(node.input)


for mode in ("bilinear", "bicubic"):
    for factor, difference in ((0.37, 1.5), (2.6, 0.1)):
        for recompute in (None, False):
            expected, seen, inputs = both(mode=mode, scale_factor=factor, antialias=True, recompute_scale_factor=recompute)
            assert inputs == 4 and np.abs(expected - seen).max() > difference, (mode, factor, recompute, expected, seen)
        for right in ({"antialias": False}, {"antialias": True, "recompute_scale_factor": True}):
            expected, seen, _ = both(mode=mode, scale_factor=factor, **right)
            assert np.allclose(expected, seen, atol=1e-4), (mode, factor, right, expected, seen)
expected, seen, _ = both(mode="bilinear", scale_factor=0.37, antialias=True)
assert np.allclose(expected, [1.124, 3.567, 6.212, 8.967, 11.702], atol=1e-3), expected
assert np.allclose(seen, [1.407, 4.324, 7.5, 10.676, 13.593], atol=1e-3), seen
print("as recorded: a ramp of 16 by 0.37 with antialias begins with 1.12 in PyTorch and with 1.41 in the exported model")
PYTHON
