"""Learning-rate schedules of [train_param]: the rate that each step has, which a loss with the gradient 1 shows."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import UsageError
from mslite.converter.options import Options
from mslite.converter.training import train_settings

RATE, STEPS = 0.1, 24


def _built(folder: Path, keys: dict[str, str]) -> mslite.Model:
    """y = x w, of one number."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
        [numpy_helper.from_array(np.ones((1, 1), np.float32), "w")],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "one.onnx")
    given = {"loss": "MeanSquaredError", "optimizer": "SGD", "learning_rate": str(RATE)}
    settings = train_settings(given | keys)
    file = convert(Options(folder / "one.onnx", folder / "trains", training=settings)).files[0]
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    return model


def _weight(model: mslite.Model) -> float:
    (weight,) = model.get_trainable_params()
    return float(weight.get_data_to_numpy().item())


def _rates(model: mslite.Model, steps: int = STEPS) -> list[float]:
    """The target is half a unit below the weight: d (w - t)^2 = 1."""
    found = []
    for _ in range(steps):
        before = _weight(model)
        model.run_step([np.ones((1, 1), np.float32), np.full((1, 1), before - 0.5, np.float32)])
        found.append(before - _weight(model))
    return found


def _rise(step: int, warm: int) -> float:
    return min((step + 1) / warm, 1.0)


def _cycle(step: int, warm: int, steps: int) -> float:
    def between(first: float, last: float, share: float) -> float:
        return last + (first - last) * (1 + math.cos(math.pi * share)) / 2

    if step < warm:
        return between(1 / 25, 1, step / (warm - 1))
    return between(1, 1 / 250000, min((step - warm + 1) / (steps - warm), 1.0))


_SCHEDULES: dict[str, tuple[str, Callable[[int], float]]] = {
    "warming up": ("warmup_steps=6", lambda t: _rise(t, 6)),
    "cosine": ("schedule=Cosine decay_steps=20", lambda t: (1 + math.cos(math.pi * min(t / 20, 1))) / 2),
    "cosine after warming up": (
        "schedule=Cosine decay_steps=12 warmup_steps=5",
        lambda t: _rise(t, 5) * (1 + math.cos(math.pi * min(max(t - 5, 0) / 12, 1))) / 2,
    ),
    "step": ("schedule=Step decay_steps=7 decay_rate=0.5", lambda t: 0.5 ** (t // 7)),
    "exponential": ("schedule=Exponential decay_steps=3 decay_rate=0.8", lambda t: 0.8 ** (t / 3)),
    "polynomial": ("schedule=Polynomial decay_steps=16 power=2", lambda t: (1 - min(t / 16, 1)) ** 2),
    "one cycle": ("schedule=OneCycle decay_steps=20", lambda t: _cycle(t, 6, 20)),
}


def _keys(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


@pytest.mark.parametrize("name", _SCHEDULES)
def test_schedules(name: str, tmp_path: Path) -> None:
    text, factor = _SCHEDULES[name]
    found = _rates(_built(tmp_path, _keys(text)))
    np.testing.assert_allclose(found, [RATE * factor(step) for step in range(STEPS)], atol=3e-7)


def test_checkpoints_go_on_with_the_schedule(tmp_path: Path) -> None:
    keys = _keys("schedule=Cosine decay_steps=20 warmup_steps=3")
    whole = _rates(_built(tmp_path, keys))
    first = _built(tmp_path, keys)
    found = _rates(first, 9)
    first.export_model(str(tmp_path / "checkpoint"), export_inference_only=False)
    later = mslite.Model()
    later.build_from_file(str(tmp_path / "checkpoint.ms"), mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    later.set_train_mode(True)
    assert found + _rates(later, STEPS - 9) == whole


def test_the_rate_that_is_set_is_scaled(tmp_path: Path) -> None:
    model = _built(tmp_path, _keys("schedule=Step decay_steps=2 decay_rate=0.5"))
    assert model.get_learning_rate() == np.float32(RATE)
    found = _rates(model, 2)
    assert model.set_learning_rate(0.4) is None
    assert model.get_learning_rate() == np.float32(0.4)
    np.testing.assert_allclose(found + _rates(model, 4), [0.1, 0.1, 0.2, 0.2, 0.1, 0.1], atol=3e-7)


def test_virtual_batches_count_updates(tmp_path: Path) -> None:
    model = _built(tmp_path, _keys("schedule=Step decay_steps=1 decay_rate=0.5"))
    model.setup_virtual_batch(2, learning_rate=RATE)
    ratios = _rates(model, 6)
    assert ratios[0::2] == [0, 0, 0]
    np.testing.assert_allclose(np.divide(ratios[1::2], ratios[1]), [1, 0.5, 0.25], rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("schedule=Cosine", "schedule=Cosine needs decay_steps"),
        ("decay_rate=0.5", "decay_rate applies to schedule=Step|Exponential, not to Constant"),
        ("schedule=Step decay_steps=2.5", "decay_steps must be an integer"),
        ("schedule=OneCycle decay_steps=4 warmup_steps=4", "OneCycle needs warmup_steps between 1"),
        ("schedule=Linear", "schedule must be Constant|Cosine|Step|Exponential|Polynomial|OneCycle"),
    ],
)
def test_wrong_schedules(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        train_settings(_keys(text))
    assert reason in str(caught.value)


def _torch_rates(make: Callable[[Any], Any]) -> list[float]:
    import torch

    steps = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    schedule = make(steps)
    found = []
    for _ in range(20):
        found.append(float(steps.param_groups[0]["lr"]))
        steps.step()
        schedule.step()
    return found


@pytest.mark.frameworks
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["cosine", "step", "exponential", "polynomial", "one cycle", "warming up"])
def test_schedules_are_those_of_pytorch(name: str, tmp_path: Path) -> None:
    from torch.optim import lr_scheduler as torch_schedules

    made: dict[str, Callable[[Any], Any]] = {
        "cosine": lambda steps: torch_schedules.CosineAnnealingLR(steps, 20),
        "step": lambda steps: torch_schedules.StepLR(steps, 7, 0.5),
        "exponential": lambda steps: torch_schedules.ExponentialLR(steps, 0.8 ** (1 / 3)),
        "polynomial": lambda steps: torch_schedules.PolynomialLR(steps, 16, 2),
        "one cycle": lambda steps: torch_schedules.OneCycleLR(steps, RATE, total_steps=21, pct_start=6 / 21, cycle_momentum=False),
        "warming up": lambda steps: torch_schedules.LinearLR(steps, 1 / 6, 1, 5),
    }  # fmt: skip
    text, _ = _SCHEDULES[name]
    if name == "one cycle":
        text = "schedule=OneCycle decay_steps=21 warmup_steps=6"
    found = _rates(_built(tmp_path, _keys(text)), 20)
    np.testing.assert_allclose(found, _torch_rates(made[name]), atol=3e-7)
