#!/bin/sh
# litert-torch: interpolate(mode="nearest") is converted to what PyTorch calls "nearest-exact".
#
# Packages: torch 2.14.1, torchao 0.18.0, litert-torch 0.10.0, litert-converter 0.5.0, ai-edge-litert 2.3.0, jax 0.10.2.
# Expected: nearest takes the element floor(i * 5 / 7) for the i-th of 7 elements from 5 (torch.nn.functional.interpolate; the
# ONNX exporter writes it as coordinates "asymmetric", rounding "floor"). Of 0, 1, 2, 3, 4: 0, 0, 1, 2, 2, 3, 4.
# Seen on 2026-11-28: the converted model gives 0, 1, 1, 2, 3, 3, 4, which is floor((i + 1/2) * 5 / 7), in PyTorch
# mode="nearest-exact". Nothing is said. For whole factors the two are equal.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'torchao==0.18.0' 'litert-torch==0.10.0' 'litert-converter==0.5.0' 'ai-edge-litert==2.3.0' 'jax==0.10.2'
cd "$folder"
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import litert_torch
import numpy as np
import torch


class Resized(torch.nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        return torch.nn.functional.interpolate(x, size=(1, 7), mode=self.mode)


x = torch.arange(5.0).reshape(1, 1, 1, 5)
nearest, exact = Resized("nearest").eval(), Resized("nearest-exact").eval()
assert nearest(x).ravel().tolist() == [int(i * 5 / 7) for i in range(7)] == [0, 0, 1, 2, 2, 3, 4]
assert exact(x).ravel().tolist() == [int((i + 0.5) * 5 / 7) for i in range(7)] == [0, 1, 1, 2, 3, 3, 4]
found = np.asarray(litert_torch.convert(nearest, (x,))(x)).ravel().tolist()
assert found == exact(x).ravel().tolist(), found
print(f"as recorded: nearest to 7 elements gives {found}, PyTorch {nearest(x).ravel().tolist()}")
PYTHON
