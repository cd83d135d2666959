#!/bin/sh
# MindSpore: the rows and columns that output_padding of nn.Conv2dTranspose adds are zeros, without the products and without the bias.
#
# Packages: mindspore 2.10.0, numpy 1.26.4.
# Expected: output_padding chooses among the sizes that a stride allows. In PyTorch's ConvTranspose2d, TensorFlow's Conv2DTranspose and ONNX's
# ConvTranspose the last row holds the products of the kernel's last row, and the bias, like every other row. MindSpore's formula for the
# size of the result is the same as theirs.
# Seen on 2026-11-29, kernel of ones 3x3, bias 1, input of ones 2x2, stride 2, padding 1, output_padding 1: the last row is 0 0 0 0, where it is
# 2 3 2 2 by the definition. A decoder whose weights come from PyTorch computes other borders, and no warning says so.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'mindspore==2.10.0' 'numpy==1.26.4'
cd "$folder"
"$folder/venv/bin/python" - 2> "$folder/warnings" <<'PYTHON'
import mindspore
import numpy as np
from mindspore import Tensor, nn

ones = np.ones((1, 1, 2, 2), np.float32)
layer = nn.Conv2dTranspose(
    1, 1, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True, weight_init="ones", bias_init="ones"
)
seen = layer(Tensor(ones)).asnumpy()[0, 0]

whole = np.zeros((5, 5), np.float32)  # what the kernel reaches: (2 - 1) * 2 + 3
for row in range(2):
    for column in range(2):
        whole[2 * row : 2 * row + 3, 2 * column : 2 * column + 3] += 1
wanted = whole[1:, 1:] + 1  # padding 1 at the beginning; at the end 1 less the output_padding

assert seen.shape == wanted.shape == (4, 4), seen.shape
assert np.array_equal(seen[:3, :3], wanted[:3, :3]), seen
assert wanted[3].tolist() == [2, 3, 2, 2], wanted
assert not seen[3].any() and not seen[:, 3].any(), seen
print("as recorded: the last row of nn.Conv2dTranspose(output_padding=1) is 0 0 0 0 instead of 2 3 2 2, bias included")
PYTHON
