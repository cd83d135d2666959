#!/bin/sh
# torch.onnx.export(dynamo=False): floor_divide and // are exported as a division that truncates.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: torch.floor_divide rounds down since PyTorch 1.13 (its documentation); -3 // 2 is -2. torch.div(rounding_mode="floor") is
# the same.
# Seen on 2026-11-28: the exported x // 2 and floor_divide(x, 2) of -3, -1, 1, 3 are -1, 0, 0, 1, for floats and integers, instead of
# -2, -1, 0, 1. torch.div(rounding_mode="floor") in the same model is right, and so is the exporter with dynamo=True.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'onnx==1.23.2' 'onnxscript==0.7.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import logging

import onnx
import onnxruntime
import torch

logging.disable(logging.WARNING)


class Halves(torch.nn.Module):
    """The floor of x / 2 in three ways."""

    def forward(self, x):
        return torch.floor_divide(x, 2), x // 2, torch.div(x, 2, rounding_mode="floor")


FLOOR, TRUNCATED = [-2, -1, 0, 1], [-1, 0, 0, 1]
for x in (torch.tensor([-3.0, -1.0, 1.0, 3.0]), torch.tensor([-3, -1, 1, 3])):
    assert [y.tolist() for y in Halves()(x)] == [FLOOR] * 3
    for dynamo, expected in ((False, [TRUNCATED, TRUNCATED, FLOOR]), (True, [FLOOR] * 3)):
        torch.onnx.export(Halves(), (x,), "model.onnx", dynamo=dynamo, opset_version=18)
        onnx.checker.check_model("model.onnx", full_check=True)
        session = onnxruntime.InferenceSession("model.onnx")
        results = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        assert [y.tolist() for y in results] == expected, (dynamo, results)
print("as recorded: -3 // 2 is -1 in the exported model")
PYTHON
