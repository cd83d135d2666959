"""Trains one network in PyTorch and mslite, and compares the losses."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings

from .cases import Case
from .results import Learned, Result
from .tasks import Array, Task

_SEED = 7
_ROWS_BEFORE = 16
Batches = Sequence[tuple[Array, Array]]


def compare(case: Case, steps: int, folder: Path) -> Result:
    """Compares a network. Raises ConversionError if it has a node without a gradient."""
    here, single, double = trained(case, steps, folder, (torch.float32, torch.float64))
    return Result(case.name, case.settings.optimizer.value, here, single, double)


def trained(case: Case, steps: int, folder: Path, kinds: Sequence[torch.dtype], threads: int = 1) -> list[Learned]:
    """Returns the results of mslite with the given number of threads, and of PyTorch in each of these types. Raises like `compare`."""
    task = case.task()
    batches, held_out = task.batches(steps, case.rows), task.held_out(case.rows)
    network = _begun(case, task)
    file = _converted(case, network, batches[0][0], folder)
    here = _here(case, file, batches, held_out, threads)
    return [here, *(_in_pytorch(case, deepcopy(network).to(kind), batches, held_out) for kind in kinds)]


def _begun(case: Case, task: Task) -> nn.Module:
    """Returns the initial network: random weights, or pretrained ones."""
    torch.manual_seed(_SEED)
    network = case.make()
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    if case.before:
        network.train()
        optimizer = torch.optim.SGD(network.parameters(), 0.01, momentum=0.9)
        for x, labels in task.batches(case.before, _ROWS_BEFORE, seed=2):
            optimizer.zero_grad()
            _loss(case.settings.loss, network(torch.from_numpy(x)), torch.from_numpy(labels)).backward()
            optimizer.step()
        optimizer.zero_grad()
    return network.eval()


# ---- mslite ----


def _converted(case: Case, network: nn.Module, example: Array, folder: Path) -> Path:
    """Returns the training file of the network, from the file that PyTorch exports."""
    if case.program:
        model = folder / "network.pt2"
        torch.export.save(torch.export.export(network, (torch.from_numpy(example),)), model)
    else:
        model = folder / "network.onnx"
        with warnings.catch_warnings(action="ignore"):
            torch.onnx.export(
                network, (torch.from_numpy(example),), str(model), dynamo=False,
                training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, opset_version=17,
            )  # fmt: skip
    return convert(Options(model, folder / "trains", training=case.settings)).files[0]


def _here(case: Case, file: Path, batches: Batches, held_out: Batches, threads: int) -> Learned:
    model, context = mslite.Model(), mslite.Context()
    context.cpu.thread_num = threads
    model.build_from_file(file, mslite.ModelType.MINDIR, context, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    types = [tensor.get_data_to_numpy().dtype for tensor in model.get_inputs()]
    shapes = [tuple(tensor.shape) for tensor in model.get_inputs()]

    def given(pair: tuple[Array, Array]) -> list[Array]:
        return [_as(values, shape, kind) for values, shape, kind in zip(pair, shapes, types, strict=True)]

    losses = [float(model.run_step(given(pair))[0].get_data_to_numpy().item()) for pair in batches]
    model.set_train_mode(False)
    outputs = [model.predict(given(pair))[0].get_data_to_numpy() for pair in held_out]
    return Learned(losses, _score(case.settings.loss, outputs, [labels for _, labels in held_out]))


def _as(values: Array, shape: tuple[int, ...], kind: np.dtype) -> Array:
    """mslite's image inputs are NHWC."""
    if values.shape != shape:
        values = values.transpose(0, 2, 3, 1)
    return np.ascontiguousarray(values, kind)


# ---- PyTorch ----


def _in_pytorch(case: Case, network: nn.Module, batches: Batches, held_out: Batches) -> Learned:
    kind = next(network.parameters()).dtype
    network.train()
    _freeze(network, case.settings.frozen)
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = _optimizer(case.settings, trained)

    def tensor(values: Array) -> torch.Tensor:
        found = torch.from_numpy(values)
        return found.to(kind) if found.is_floating_point() else found

    losses = []
    for x, labels in batches:
        optimizer.zero_grad()
        loss = _loss(case.settings.loss, network(tensor(x)), tensor(labels))
        loss.backward()
        if case.settings.clip_norm is not None:
            nn.utils.clip_grad_norm_(trained, case.settings.clip_norm)
        optimizer.step()
        losses.append(loss.item())
    network.eval()
    with torch.no_grad():
        outputs = [network(tensor(x)).numpy() for x, _ in held_out]
    return Learned(losses, _score(case.settings.loss, outputs, [labels for _, labels in held_out]))


def _freeze(network: nn.Module, names: frozenset[str]) -> None:
    """Freezes these parts, with batch normalization in eval mode."""
    for name, weight in network.named_parameters():
        if any(name.startswith(f"{one}.") for one in names):
            weight.requires_grad = False
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d) and not layer.weight.requires_grad:
            layer.eval()


def _optimizer(settings: TrainSettings, weights: list[nn.Parameter]) -> torch.optim.Optimizer:
    shared = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    moments = {"betas": (settings.beta1, settings.beta2), "eps": settings.epsilon}
    match settings.optimizer:
        case Optimizer.SGD:
            return torch.optim.SGD(weights, **shared)
        case Optimizer.MOMENTUM | Optimizer.NESTEROV as kind:
            return torch.optim.SGD(weights, momentum=settings.momentum, nesterov=kind is Optimizer.NESTEROV, **shared)
        case Optimizer.ADAM:
            return torch.optim.Adam(weights, **moments, **shared)
        case Optimizer.ADAMW:
            return torch.optim.AdamW(weights, **moments, **shared)
        case Optimizer.ADAGRAD:
            return torch.optim.Adagrad(weights, eps=settings.epsilon, **shared)
        case Optimizer.RMSPROP:
            return torch.optim.RMSprop(weights, alpha=settings.alpha, eps=settings.epsilon, **shared)


def _loss(kind: Loss, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if kind is Loss.SPARSE_SOFTMAX:
        return functional.cross_entropy(output, labels)
    if kind is Loss.SIGMOID:
        return functional.binary_cross_entropy_with_logits(output, labels)
    return functional.mse_loss(output, labels)


def _score(kind: Loss, outputs: list[Array], labels: list[Array]) -> float:
    found, expected = np.concatenate(outputs), np.concatenate(labels)
    if kind is Loss.SPARSE_SOFTMAX:
        return float((found.argmax(1) == expected).mean())
    if found.shape != expected.shape:
        found = found.transpose(0, 3, 1, 2)
    if kind is Loss.SIGMOID:
        return float(((found > 0) == (expected > 0.5)).mean())
    return float(((found - expected) ** 2).mean())
