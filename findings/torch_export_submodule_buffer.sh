#!/bin/sh
# torch.export: an assignment to a buffer is lost where the buffer is that of a submodule, and kept in the outermost module.
#
# Packages: torch 2.14.1, numpy 2.4.6.
# Expected: the program computes what the module does. torch.export's documentation lists buffers that forward changes as part of the
# signature (buffers_to_mutate); what cannot be captured is an error.
# Seen on 2026-11-29: `self.total = self.total + x` is kept in the module that is exported. In a module inside of it, the program
# forgets the new value: three runs give 1, 1, 1 instead of 1, 2, 3. `self.total.add_(x)` is kept in both. No warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'numpy==2.4.6'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import copy

import torch
from torch import nn


class Running(nn.Module):
    """Adds up what it is given, in a registered buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.total = self.total + x
        return self.total * 1.0


class RunningInPlace(Running):
    def forward(self, x):
        self.total.add_(x)
        return self.total * 1.0


class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


def runs(module):
    """The first number of three runs on ones: of the eager module, and of its exported program."""
    ones = torch.ones(2)
    eager = copy.deepcopy(module)
    exported = torch.export.export(module, (ones,), strict=False).module()
    return [float(eager(ones)[0]) for _ in range(3)], [float(exported(ones)[0]) for _ in range(3)]


for module in (Running(), RunningInPlace(), Around(RunningInPlace())):
    assert runs(module) == ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), module
seen = runs(Around(Running()))
assert seen == ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), seen
print("as recorded: the same assignment is kept in the outermost module (1, 2, 3), and lost in a submodule (1, 1, 1)")
PYTHON
