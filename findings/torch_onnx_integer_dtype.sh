#!/bin/sh
# torch.onnx.export: dtype= of a mean or softmax of integers is applied after the operator instead of before it.
#
# Packages: torch 2.14.1, onnx 1.23.2, onnxscript 0.7.2, onnxruntime 1.32.0.
# Expected: "dtype - the desired data type of returned tensor. If specified, the input tensor is casted to dtype before the operation is
# performed" (documentation of torch.mean and torch.softmax). An export succeeds with a valid model or fails.
# Seen on 2026-11-28: the mean of the integers 1, 2, 2, 4 along an axis is 2.25 in PyTorch and 2.0 in the exported model: a ReduceMean of
# int64, and then a Cast. Without an axis the mean is 2.25, too. softmax and log_softmax of integers with dtype=float32 become Softmax
# and LogSoftmax of int64, which ONNX does not have: the export reports success and the model cannot be loaded. No warning.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.14.1' 'onnx==1.23.2' 'onnxscript==0.7.2' 'onnxruntime==1.32.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import warnings

import onnx
import onnxruntime
import torch

logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
onnxruntime.set_default_logger_severity(4)
X = torch.tensor([[1, 2, 2, 4]])


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def export(function):
    """The result of PyTorch and the exported model."""
    module = Call(function).eval()
    return module(X), torch.onnx.export(module, (X,), dynamo=True, verbose=False).model_proto


def run(model):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X.numpy()})[0]


expected, model = export(lambda x: torch.mean(x, 1, dtype=torch.float32))
assert expected.item() == 2.25 and run(model).item() == 2.0, (expected, run(model))
assert [node.op_type for node in model.graph.node][:2] == ["ReduceMean", "Cast"], model.graph.node
expected, model = export(lambda x: torch.mean(x, dtype=torch.float32))
assert expected.item() == 2.25 and run(model).item() == 2.25, (expected, run(model))
expected, model = export(lambda x: torch.mean(x.float(), 1))
assert expected.item() == 2.25 and run(model).item() == 2.25, (expected, run(model))
for function in (torch.softmax, torch.log_softmax):
    expected, model = export(lambda x: function(x, 1, dtype=torch.float32))
    assert expected.dtype == torch.float32 and expected.isfinite().all(), expected
    for check in (lambda: onnx.checker.check_model(model, full_check=True), lambda: run(model)):
        try:
            check()
        except Exception as error:
            assert "int64" in str(error), error
        else:
            raise AssertionError(f"{function.__name__}: the model is valid now")
print("as recorded: mean([1, 2, 2, 4], dim, dtype=float32) is 2.25 in PyTorch and 2.0 when exported; softmax with dtype is invalid")
PYTHON
