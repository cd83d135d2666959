#!/usr/bin/env python3
"""Trains the digit recognizer that `make demo` converts and runs.

    pip install numpy onnx scikit-learn
    python examples/digits/train_digits.py

The data are scikit-learn's 8 x 8 handwritten digits (1797 images). The files are written to the folder of this script:
`digits.onnx` (float32 NCHW, [N, 1, 8, 8] in the range [0, 1] -> [N, 10] probabilities), `digits_test.npz` (the 360 images and
labels of the test split), `samples.npz` (256 inverted images of the training split with labels, as new data for training on a
device and for `mslite-sparse`) and `calibration/` (128 images of the training split, for quantization). Seeds are fixed: the
same versions of NumPy and scikit-learn give the same files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]

Array = npt.NDArray[np.float32]
HERE = Path(__file__).resolve().parent
EPOCHS, BATCH, LEARNING_RATE = 60, 64, 2e-3


def patches(x: Array) -> Array:
    """im2col: returns the 3 x 3 windows of [N, C, H, W] with zero padding, as [N, H, W, C * 9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows: Array = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = windows.shape[:4]
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(n, h, w, c * 9)


def unpatches(grad: Array, channels: int) -> Array:
    """col2im, the transpose of `patches`: adds gradients of windows to [N, C, H, W]."""
    n, h, w, _ = grad.shape
    parts = grad.reshape(n, h, w, channels, 3, 3)
    padded = np.zeros((n, channels, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            padded[:, :, i : i + h, j : j + w] += parts[..., i, j].transpose(0, 3, 1, 2)
    inner: Array = padded[:, :, 1:-1, 1:-1]
    return inner


class Network:
    """conv 3x3 (16) - relu - max pool 2 - conv 3x3 (32) - relu - max pool 2 - dense (10)."""

    def __init__(self, rng: np.random.Generator) -> None:
        def he(*shape: int) -> Array:
            fan_in = int(np.prod(shape[:-1]))
            values: Array = (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)
            return values

        self.weights = {
            "w1": he(9, 16), "b1": np.zeros(16, np.float32),
            "w2": he(16 * 9, 32), "b2": np.zeros(32, np.float32),
            "w3": he(32 * 4, 10), "b3": np.zeros(10, np.float32),
        }  # fmt: skip

    def convolve(self, x: Array, layer: str) -> tuple[Array, dict[str, Array]]:
        """Computes one conv - relu - pool block. Also returns the values that its gradient needs."""
        columns = patches(x)
        y = np.maximum(columns @ self.weights[f"w{layer}"] + self.weights[f"b{layer}"], 0).transpose(0, 3, 1, 2)
        n, c, h, w = y.shape
        blocks = y.reshape(n, c, h // 2, 2, w // 2, 2)
        pooled = blocks.max(axis=(3, 5))
        first = blocks == pooled[:, :, :, None, :, None]
        return pooled, {"x": x, "columns": columns, "y": y, "first": first}

    def gradient(self, dy: Array, layer: str, kept: dict[str, Array], grads: dict[str, Array]) -> Array:
        """Adds the block's weight gradients to `grads` and returns the gradient of its input."""
        spread = (kept["first"] * dy[:, :, :, None, :, None]).reshape(kept["y"].shape)
        d = np.ascontiguousarray((spread * (kept["y"] > 0)).transpose(0, 2, 3, 1))
        flat = kept["columns"].reshape(-1, kept["columns"].shape[-1])
        grads[f"w{layer}"] = flat.T @ d.reshape(-1, d.shape[-1])
        grads[f"b{layer}"] = d.sum(axis=(0, 1, 2))
        return unpatches(d @ self.weights[f"w{layer}"].T, kept["x"].shape[1])

    def forward(self, x: Array) -> tuple[Array, list[dict[str, Array]]]:
        """Returns class probabilities, and the values that the gradients need."""
        a, kept1 = self.convolve(x, "1")
        b, kept2 = self.convolve(a, "2")
        scores = b.reshape(len(x), -1) @ self.weights["w3"] + self.weights["b3"]
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities: Array = scores / scores.sum(axis=1, keepdims=True)
        return probabilities, [kept1, kept2, {"flat": b}]

    def step(self, x: Array, labels: npt.NDArray[np.int64]) -> dict[str, Array]:
        """Returns the gradients of the mean cross entropy."""
        probabilities, (kept1, kept2, last) = self.forward(x)
        d = probabilities.copy()
        d[np.arange(len(x)), labels] -= 1
        d /= len(x)
        flat = last["flat"]
        grads = {"w3": flat.reshape(len(x), -1).T @ d, "b3": d.sum(axis=0)}
        da = self.gradient((d @ self.weights["w3"].T).reshape(flat.shape), "2", kept2, grads)
        self.gradient(da, "1", kept1, grads)
        return grads


def train(network: Network, x: Array, labels: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
    """Trains with Adam, a cosine learning rate schedule and random shifts by one pixel."""
    first = {name: np.zeros_like(w) for name, w in network.weights.items()}
    second = {name: np.zeros_like(w) for name, w in network.weights.items()}
    total, step = EPOCHS * (len(x) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            step += 1
            chosen = order[start : start + BATCH]
            shifted = np.roll(x[chosen], tuple(rng.integers(-1, 2, 2)), axis=(2, 3))
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / total))
            for name, grad in network.step(shifted, labels[chosen]).items():
                first[name] = 0.9 * first[name] + 0.1 * grad
                second[name] = 0.999 * second[name] + 0.001 * grad**2
                unbiased = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                network.weights[name] -= (rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)).astype(np.float32)


def export(network: Network, path: Path) -> None:
    """Writes the network as ONNX, weights in ONNX's [out, in, kh, kw]."""
    w = network.weights
    tensors = {
        "conv1.weight": w["w1"].T.reshape(16, 1, 3, 3), "conv1.bias": w["b1"],
        "conv2.weight": w["w2"].T.reshape(32, 16, 3, 3), "conv2.bias": w["b2"],
        "dense.weight": w["w3"].T, "dense.bias": w["b3"],
    }  # fmt: skip
    conv: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    pool: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], name="conv1", **conv),
        helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], name="pool1", **pool),
        helper.make_node("Conv", ["p1", "conv2.weight", "conv2.bias"], ["c2"], name="conv2", **conv),
        helper.make_node("Relu", ["c2"], ["r2"], name="relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], name="pool2", **pool),
        helper.make_node("Flatten", ["p2"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "dense.weight", "dense.bias"], ["scores"], name="dense", transB=1),
        helper.make_node("Softmax", ["scores"], ["probabilities"], name="softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="train_digits.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)


def save_samples(images: Array, labels: npt.NDArray[np.int64], path: Path) -> None:
    """Writes 256 images [256, 8, 8, 1] and labels for training. The images are inverted: the model has only been trained with
    light digits on a dark background."""
    image = np.ascontiguousarray(1 - images[:256].transpose(0, 2, 3, 1))
    np.savez_compressed(path, image=image, label=labels[:256].astype(np.int32))


def save_calibration(images: Array, folder: Path) -> None:
    """Writes the first 128 images [N, 1, 8, 8] as 16 calibration samples with a batch of 8."""
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(images[:128], 16)):
        np.savez_compressed(folder / f"{number:02d}.npz", image=part)


def main() -> None:
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    x, x_test, y, y_test = train_test_split(images, data.target, test_size=360, random_state=7, stratify=data.target)
    rng = np.random.default_rng(7)
    network = Network(rng)
    train(network, x, y, rng)
    accuracy = (network.forward(x_test)[0].argmax(axis=1) == y_test).mean()
    export(network, HERE / "digits.onnx")
    np.savez_compressed(HERE / "digits_test.npz", images=x_test, labels=y_test.astype(np.int64))
    save_samples(x, y, HERE / "samples.npz")
    save_calibration(x, HERE / "calibration")
    print(f"accuracy on the test split: {accuracy:.2%}; wrote {HERE / 'digits.onnx'}")


if __name__ == "__main__":
    main()
