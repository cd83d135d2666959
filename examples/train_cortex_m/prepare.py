#!/usr/bin/env python3
"""Writes a model trained on upright digits, and rotated digits as of a camera that is mounted on its side.

    pip install numpy onnx scikit-learn
    python examples/train_cortex_m/prepare.py FOLDER

The model `digits.ms` is a small MobileNet for images of 32 x 32, trained with mslite's runtime on scikit-learn's handwritten
digits. The digits rotated by 90 degrees are written to `train.npz` (`image`, `label`) for `mslite-sparse`, and to
`train_images.bin`, `train_labels.bin`, `test_images.bin` and `test_labels.bin` (uint8) for the board.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

import mslite
from mslite.converter.cli import main as converter_lite

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]

SIZE, BATCH, EPOCHS, RATE = 32, 32, 40, 2e-3
BLOCKS = ((1, 16), (2, 32), (1, 32), (2, 64), (1, 64), (1, 64), (2, 128), (1, 128))
"""Stride and channels of each depthwise-separable convolution."""
TRAIN, TEST = 600, 300
"""Numbers of rotated images."""


def network(path: Path, seed: int = 7) -> None:
    """Writes the network with random weights as ONNX: images [BATCH, 1, 32, 32] to probabilities [BATCH, 10]."""
    chance = np.random.default_rng(seed)
    nodes, constants = [], []

    def constant(name: str, data: npt.NDArray[np.float64]) -> str:
        constants.append(numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def convolution(x: str, name: str, shape: tuple[int, ...], stride: int = 1, group: int = 1) -> str:
        out, terms, side = shape[0], int(np.prod(shape[1:])), shape[2]
        weight = constant(f"{name}.weight", chance.standard_normal(shape) * np.sqrt(2 / terms))
        bias = constant(f"{name}.bias", np.zeros(out))
        nodes.append(
            helper.make_node(
                "Conv", [x, weight, bias], [f"{name}_y"], name=name,
                group=group, strides=[stride] * 2, pads=[side // 2] * 4,
            )
        )  # fmt: skip
        nodes.append(helper.make_node("Relu", [f"{name}_y"], [f"{name}_r"], name=f"{name}_relu"))
        return f"{name}_r"

    x, channels = convolution("image", "first", (8, 1, 3, 3)), 8
    for number, (stride, out) in enumerate(BLOCKS, 1):
        x = convolution(x, f"depthwise{number}", (channels, 1, 3, 3), stride, channels)
        x = convolution(x, f"pointwise{number}", (out, channels, 1, 1))
        channels = out
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["mean"], name="mean"))
    nodes.append(helper.make_node("Flatten", ["mean"], ["flat"], name="flatten"))
    weight = constant("classifier.weight", chance.standard_normal((10, channels)) / np.sqrt(channels))
    inputs = ["flat", weight, constant("classifier.bias", np.zeros(10))]
    nodes.append(helper.make_node("Gemm", inputs, ["scores"], name="classifier", transB=1))
    nodes.append(helper.make_node("Softmax", ["scores"], ["probabilities"], name="softmax", axis=1))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [BATCH, 1, SIZE, SIZE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [BATCH, 10])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def digits(seed: int = 7) -> tuple[Images, Labels]:
    """Returns all digits in random order, enlarged by 4: images [n, 32, 32, 1] in the range [0, 1], and labels."""
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.images))
    small = (data.images[order] / 16).astype(np.float32)
    large = small.repeat(SIZE // 8, axis=1).repeat(SIZE // 8, axis=2)
    # Blurs the edges of the enlarged pixels.
    soft = sum(np.roll(large, (i, j), axis=(1, 2)) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9
    return soft[..., None].astype(np.float32), data.target[order].astype(np.int32)


def pretrain(images: Images, labels: Labels, result: Path) -> None:
    """Trains the network on upright digits and writes the model for inference."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network(folder / "network.onnx")
        config = folder / "train.cfg"
        config.write_text(f"[train_param]\noptimizer=Adam\nlearning_rate={RATE}\n")
        flags = [f"--modelFile={folder / 'network.onnx'}", f"--outputFile={folder / 'train'}", "--trainModel=true"]
        if converter_lite(["--fmk=ONNX", f"--configFile={config}", *flags]) != 0:
            sys.exit("the network cannot be converted")
        model = mslite.Model()
        model.build_from_file(str(folder / "train.ms"), mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
        model.set_train_mode(True)
        chance = np.random.default_rng(1)
        for epoch in range(EPOCHS):
            model.set_learning_rate(RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2)
            losses = []
            order = chance.permutation(len(images))
            for first in range(0, len(images) - BATCH + 1, BATCH):
                chosen = order[first : first + BATCH]
                shifts = tuple(chance.integers(-2, 3, 2))
                given = [np.roll(images[chosen], shifts, axis=(1, 2)), labels[chosen]]
                losses.append(float(model.run_step(given)[0].get_data_to_numpy()[0]))
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
        model.export_model(str(result))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("build/train_cortex_m")
    folder.mkdir(parents=True, exist_ok=True)
    images, labels = digits()
    turned = np.ascontiguousarray(np.rot90(images, axes=(1, 2)))
    pretrain(images[TRAIN + TEST :], labels[TRAIN + TEST :], folder / "digits.ms")
    np.savez_compressed(folder / "train.npz", image=turned[:TRAIN], label=labels[:TRAIN])
    for name, part in (("train", slice(0, TRAIN)), ("test", slice(TRAIN, TRAIN + TEST))):
        (turned[part] * 255).round().astype(np.uint8).tofile(folder / f"{name}_images.bin")
        labels[part].astype(np.uint8).tofile(folder / f"{name}_labels.bin")
    print(f"wrote the model and the images to {folder}")


if __name__ == "__main__":
    main()
