"""Recurrent networks of PyTorch, converted with --trainModel: their steps against PyTorch's own in float64."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

BATCH, TIME, WIDTH, UNITS, CLASSES, STEPS = 4, 7, 5, 6, 3, 20


def _network(kind: str, **options: Any) -> Any:
    """Layers on sequences, and a class for each of their steps."""
    import torch

    class Tagger(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = getattr(torch.nn, kind)(WIDTH, UNITS, batch_first=True, **options)
            width = options.get("proj_size") or UNITS
            self.head = torch.nn.Linear(width * (2 if options.get("bidirectional") else 1), CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.layers(x)[0])

    torch.manual_seed(3)
    return Tagger().double()


_NETWORKS: dict[str, dict[str, Any]] = {
    "LSTM": {},
    "LSTM, two layers, both directions": {"num_layers": 2, "bidirectional": True},
    "GRU": {},
    "GRU, two layers, both directions": {"num_layers": 2, "bidirectional": True},
    "RNN, two layers, both directions": {"num_layers": 2, "bidirectional": True},
    "RNN, relu": {"nonlinearity": "relu"},
}


@pytest.mark.parametrize("optimizer", [Optimizer.SGD, Optimizer.ADAM])
@pytest.mark.parametrize("name", _NETWORKS)
def test_recurrent_networks(name: str, optimizer: Optimizer, tmp_path: Path) -> None:
    """The loss of each of 20 steps, and the exported weights after them by what the network then computes."""
    import torch

    network = _network(name.split(",")[0], **_NETWORKS[name])
    rng = np.random.default_rng(5)
    x = rng.standard_normal((STEPS, BATCH, TIME, WIDTH)).astype(np.float32)
    targets = rng.standard_normal((STEPS, BATCH, TIME, CLASSES)).astype(np.float32)
    source = tmp_path / "network.onnx"
    network.float()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of batches, which are fixed here, and of the older exporter
        torch.onnx.export(network, (torch.tensor(x[0]),), str(source), opset_version=17, dynamo=False)
    network.double()
    rate = 0.1 if optimizer is Optimizer.SGD else 0.01
    settings = TrainSettings(Loss.SQUARED, optimizer, rate)
    model = mslite.Model()
    model.build_from_file(
        convert(Options(source, tmp_path / "trains", training=settings)).files[0],
        mslite.ModelType.MINDIR,
        train_cfg=mslite.TrainCfg(),
    )
    model.set_train_mode(True)
    kind = torch.optim.SGD if optimizer is Optimizer.SGD else torch.optim.Adam
    steps = kind(network.parameters(), lr=rate)
    for inputs, target in zip(x, targets, strict=True):
        loss = ((network(torch.tensor(inputs).double()) - torch.tensor(target).double()) ** 2).mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
        (found,) = model.run_step([inputs, target])
        assert found.get_data_to_numpy().item() == pytest.approx(loss.item(), rel=2e-5)
    model.export_model(str(tmp_path / "trained.ms"))
    trained = mslite.Model()
    trained.build_from_file(str(tmp_path / "trained.ms"), mslite.ModelType.MINDIR)
    given = trained.get_inputs()
    given[0].set_data_from_numpy(x[0])
    (y,) = trained.predict(given)
    expected = network(torch.tensor(x[0]).double()).detach().numpy()
    # Adam divides small gradients by their own size, so that what float32 rounds off them counts in full.
    tolerance = 1e-5 if optimizer is Optimizer.SGD else 1e-3
    np.testing.assert_allclose(y.get_data_to_numpy(), expected, rtol=0, atol=tolerance * np.abs(expected).max())
