"""Makes the training steps in this folder with MindSpore 2.10 from PyPI (`pip install mindspore==2.10.0`):

    python tests/models/mindspore_training/make.py

`<name>.mindir.gz` is an exported training step; `<name>.npz` has the batch, the losses of ten steps, and all parameters after them.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

HERE = Path(__file__).resolve().parent
STEPS = 10


class Network(nn.Cell):
    """A convolution, a depthwise one with a skip connection, batch normalization, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, pad_mode="same", has_bias=False)
        self.stem_norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1, group=8, has_bias=False)
        self.depthwise_norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU6()
        self.mean = ops.ReduceMean(keep_dims=False)
        self.classifier = nn.Dense(8, 4)

    def construct(self, x):  # type: ignore[no-untyped-def]
        x = self.relu(self.stem_norm(self.stem(x)))
        x = self.relu(x + self.depthwise_norm(self.depthwise(x)))
        return self.classifier(self.mean(x, (2, 3)))


def make(name: str, loss: nn.Cell, optimizer: str, frozen: str = "", sens: float = 1.0) -> None:
    ms.set_seed(1)
    network = Network()
    for parameter in network.get_parameters():
        if frozen and parameter.name.startswith(frozen):
            parameter.requires_grad = False
    weights = network.trainable_params()
    made = {
        "momentum": lambda: nn.Momentum(weights, 0.05, 0.9, weight_decay=1e-3),
        "nesterov": lambda: nn.SGD(weights, 0.05, momentum=0.9, nesterov=True),
        "adam": lambda: nn.Adam(weights, 0.01),
        "adam_weight_decay": lambda: nn.AdamWeightDecay(weights, 0.01, weight_decay=0.05),
        "loss_scale": lambda: nn.Momentum(weights, 0.05, 0.9, weight_decay=0.01, loss_scale=4.0),
    }[optimizer]()
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), made, sens=sens)
    step.set_train()
    random = np.random.default_rng(0)
    x = random.standard_normal((4, 3, 12, 12)).astype(np.float32)
    classes = np.asarray([1, 2, 3, 0], np.int32)
    labels = classes if optimizer in ("momentum", "nesterov", "loss_scale") else np.eye(4, dtype=np.float32)[classes]
    inputs = [ms.Tensor(x), ms.Tensor(labels)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.mindir"
        ms.export(step, *inputs, file_name=str(file), file_format="MINDIR")
        packed = gzip.compress(file.read_bytes(), mtime=0)
    (HERE / f"{name}.mindir.gz").write_bytes(packed)
    losses = [float(step(*inputs).asnumpy()) for _ in range(STEPS)]
    parameters = {parameter.name: parameter.asnumpy() for parameter in network.get_parameters()}
    np.savez_compressed(HERE / f"{name}.npz", x=x, labels=labels, losses=losses, **parameters)


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    dense = nn.SoftmaxCrossEntropyWithLogits(sparse=False, reduction="mean")
    make("momentum", sparse, "momentum")
    make("nesterov", sparse, "nesterov", frozen="stem.")
    make("adam", nn.L1Loss(), "adam")
    make("adam_weight_decay", dense, "adam_weight_decay")
    make("scaled", sparse, "loss_scale", sens=8.0)
    make("scaled_smooth", nn.SmoothL1Loss(reduction="mean"), "adam", sens=1e-4)
    make("cross_entropy", nn.CrossEntropyLoss(), "loss_scale", sens=8.0)
