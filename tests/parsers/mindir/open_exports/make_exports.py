"""Runs with MindSpore 2.10, without mslite: writes `NAME.mindir` and `NAME.npz` to this folder for networks with dynamic shapes.

    python make_exports.py [NAME ...]

The arrays are the inputs `0i0`, ... and outputs `0y0`, ... of one run, and `1i0`, ..., `1y0`, ... of one with other sizes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops

HERE = Path(__file__).resolve().parent
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


class Numbers(nn.Cell):
    """Python numbers that a loop changes, with an early exit."""

    def construct(self, x):
        i, k = 0, 1.0
        while x.mean() < 40:
            i += 1
            k = k + i * 2 - i // 2 + i % 3 + i / 2
            last = not i > 3 or i == 5
            if last:
                x = x + k
            else:
                x = x + (-i) ** 2 + float(i)
            if i >= 9:
                break
        return x, i


class Rows(nn.Cell):
    def construct(self, x):
        total, i = x[0] * 0, 0
        while i < x.shape[0]:
            total = total + x[i] * i
            i += 1
        return total, x[x.shape[0] // 2 :], x[:-1] - x[1:]


class Slices(nn.Cell):
    """Assignments to slices."""

    def construct(self, x, y):
        x = x * 1
        x[:, ::2] = 0
        x[1] = x[0] + 1
        x[-1, 2:4] += 5
        x[1:3] = y
        return x


class Integers(nn.Cell):
    def construct(self, x):
        return x.sum(0), x // 2, ops.gather(x, x[0] % x.shape[0], 0)


class Image(nn.Cell):
    """A small U-Net: the output size of the transposed convolution is computed."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, 2, pad_mode="same")
        self.up = nn.Conv2dTranspose(4, 3, 2, 2, pad_mode="valid")
        self.padded = nn.Conv2dTranspose(4, 2, 3, 2, pad_mode="pad", padding=1, output_padding=1)
        self.same = nn.Conv2dTranspose(4, 2, 3, 2, pad_mode="same")
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        y = self.down(x)
        return ops.cat((x, self.up(y)), 1), self.pool(y), self.padded(y), self.same(y)


class Sound(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(3, 4, 3, 2, pad_mode="pad", padding=1, has_bias=True)
        self.up = nn.Conv1dTranspose(4, 2, 4, 2, pad_mode="pad", padding=1)

    def construct(self, x):
        y = self.down(x)
        return ops.gelu(y), self.up(y), y.max(-1)


class Text(nn.Cell):
    """Attention with a mask."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.project = nn.Dense(8, 24)
        self.norm = nn.LayerNorm([8])
        self.places = Parameter(Tensor(normal(16, 8)), name="places")

    def construct(self, ids, mask):
        batch, length = ids.shape
        x = self.table(ids) + self.places[:length]
        q, k, v = ops.split(self.project(x).reshape(batch, length, 2, 12).transpose(0, 2, 1, 3), 4, 3)
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) / 2.0
        scores = scores.masked_fill(~mask.reshape(batch, 1, 1, length), -1e9)
        y = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape(batch, length, 8)
        y = self.norm(x + y)
        weights = mask.astype(ms.float32).expand_dims(-1)
        return (y * weights).sum(1) / weights.sum(1), y


class Norms(nn.Cell):
    """The lower bound of a norm."""

    def construct(self, x):
        return ops.LpNorm(axis=[1], p=2, keep_dims=True)(x), ops.LpNorm(axis=[0, 1], p=3, epsilon=100.0)(x)


class Layers(nn.Cell):
    """mint layers, which MindSpore runs on Ascend only; `LayersOnCpu` computes the expected outputs."""

    def __init__(self):
        super().__init__()
        self.first = mint.nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = mint.nn.BatchNorm2d(8)
        self.depthwise = mint.nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.same = mint.nn.Conv2d(8, 4, (2, 3), padding="same")
        self.up = mint.nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)
        self.line = mint.nn.Conv1d(8, 2, 3, stride=2, padding=1)
        self.line_norm = mint.nn.BatchNorm1d(2)
        self.rows = mint.nn.LayerNorm([8])
        self.pool = mint.nn.AvgPool2d(3, 2, 1, count_include_pad=False)
        for layer in (self.norm, self.line_norm):
            size = layer.weight.shape[0]
            layer.weight.set_data(Tensor(normal(size)))
            layer.bias.set_data(Tensor(normal(size)))
            layer.running_mean.set_data(Tensor(normal(size)))
            layer.running_var.set_data(Tensor(np.abs(normal(size)) + 0.5))
        self.rows.weight.set_data(Tensor(normal(8)))

    def construct(self, x):
        y = mint.nn.functional.relu(self.norm(self.first(x)))
        z = self.depthwise(y)
        line = self.line_norm(self.line(y.mean(2)))
        rows = self.rows(y.permute(0, 2, 3, 1))
        return z, self.up(self.same(y)), line, rows, self.pool(y), ops.rms_norm(rows, self.rows.weight)[0]


class LayersOnCpu(nn.Cell):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        self.first = nn.Conv2d(3, 8, 3, 2, "pad", 1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, 1, "pad", 2, 2, group=8, has_bias=True)
        self.same = nn.Conv2d(8, 4, (2, 3), pad_mode="same", has_bias=True)
        self.up = nn.Conv2dTranspose(4, 3, 3, 2, "valid")
        self.line = nn.Conv1d(8, 2, 3, 2, "pad", 1, has_bias=True)
        self.rows = nn.LayerNorm([8], epsilon=1e-5)
        for name in ("first", "depthwise", "same", "up", "line"):
            ours, theirs = getattr(self, name), getattr(layers, name)
            ours.weight.set_data(theirs.weight.reshape(ours.weight.shape))
            if name not in ("first", "up"):
                ours.bias.set_data(theirs.bias)
        self.norm.gamma.set_data(layers.norm.weight)
        self.norm.beta.set_data(layers.norm.bias)
        self.norm.moving_mean.set_data(layers.norm.running_mean)
        self.norm.moving_variance.set_data(layers.norm.running_var)
        self.rows.gamma.set_data(layers.rows.weight)
        self.rows.beta.set_data(layers.rows.bias)

    def construct(self, x):
        y = ops.relu(self.norm(self.first(x)))
        line, norm = self.line(y.mean(2)), self.layers.line_norm
        mean, scale = norm.running_mean, norm.weight / ops.sqrt(norm.running_var + 1e-5)
        line = (line - mean.expand_dims(-1)) * scale.expand_dims(-1) + norm.bias.expand_dims(-1)
        rows = self.rows(y.permute(0, 2, 3, 1))
        root = ops.sqrt((rows * rows).mean(-1, keep_dims=True) + 1e-6)
        pool = ops.avg_pool2d(y, 3, 2, 1, count_include_pad=False)
        # nn.Conv2dTranspose fills the output padding with zeros; mint's layer computes it.
        up = self.up(self.same(y))[:, :, 1:, 1:] + self.layers.up.bias.reshape(1, -1, 1, 1)
        return self.depthwise(y), up, line, rows, pool, rows / root * self.layers.rows.weight


class Maxima(nn.Cell):
    """Maximum pools, which MindSpore exports as pools with indices."""

    def __init__(self):
        super().__init__()
        self.padded = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)

    def construct(self, x):
        return self.padded(x), ops.max_pool2d(x, 2), ops.max_pool2d(x, 3, 1, 1), ops.adaptive_max_pool2d(x, 1)


IDS = np.array([[1, 2, 3, 4, 0], [5, 6, 7, 8, 9]], np.int32)
MASK = np.array([[True] * 5, [True, False, True, False, True]])
NETWORKS = {
    Numbers: ([[None, 6]], [normal(4, 6)], [normal(1, 6)]),
    Rows: ([[None, 4]], [normal(3, 4)], [normal(6, 4)]),
    Slices: ([[4, 6], [None, 6]], [normal(4, 6), normal(2, 6)], [normal(4, 6), normal(1, 6)]),
    Integers: ([[None, 4]], [np.arange(12).reshape(3, 4)], [np.arange(4).reshape(1, 4)]),
    Image: ([[None, 3, None, None]], [normal(1, 3, 8, 10)], [normal(2, 3, 14, 8)]),
    Sound: ([[2, 3, None]], [normal(2, 3, 9)], [normal(2, 3, 16)]),
    Text: ([[None, None]] * 2, [IDS[:1, :3], MASK[1:, :3]], [IDS, MASK]),
    Layers: ([[None, 3, 12, 10]], [normal(1, 3, 12, 10)], [normal(3, 3, 12, 10)]),
    Norms: ([[None, 6]], [normal(4, 6)], [normal(2, 6)]),
    Maxima: ([[None, 3, None, None]], [normal(1, 3, 8, 6)], [normal(2, 3, 5, 7)]),
}


def flat(results):
    if isinstance(results, tuple | list):
        return [array for item in results for array in flat(item)]
    return [results.asnumpy() if isinstance(results, Tensor) else np.asarray(results)]


def main():
    os.chdir(tempfile.mkdtemp())  # MindSpore writes files for failed compilations into the current folder
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    ms.set_seed(1)
    for kind, (shapes, *runs) in NETWORKS.items():
        name = kind.__name__.lower()
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        network = kind()
        network.set_train(False)
        given = [
            Tensor(shape=shape, dtype=Tensor(array).dtype) if None in shape else Tensor(array)
            for shape, array in zip(shapes, runs[0], strict=True)
        ]
        ms.export(network, *given, file_name=str(HERE / name), file_format="MINDIR")
        if kind is Layers:
            network = LayersOnCpu(network)
            network.set_train(False)
        stored = {}
        for run, arrays in enumerate(runs):
            results = flat(network(*(Tensor(array.copy()) for array in arrays)))
            stored |= {f"{run}i{i}": array for i, array in enumerate(arrays)}
            stored |= {f"{run}y{i}": array for i, array in enumerate(results)}
        np.savez_compressed(HERE / f"{name}.npz", **stored)
        print(name)


if __name__ == "__main__":
    main()
