"""Real networks compared with PyTorch: the first steps of each. `make compare-training` trains them for longer."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, TrainSettings

pytestmark = pytest.mark.frameworks
if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch  # noqa: E402

from .beside_pytorch.cases import CASES, Case  # noqa: E402
from .beside_pytorch.compare import trained  # noqa: E402
from .beside_pytorch.results import relative  # noqa: E402

STEPS = 2


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_losses(case: Case, tmp_path: Path) -> None:
    """From random weights: the first loss is the forward pass's, the second tells what the update was. Rounding alone moves gradients
    of deep networks with batch normalization by a hundredth, in PyTorch, too: where its own two precisions part, ten times as far
    is allowed."""
    here, single, double = trained(replace(case, before=0), STEPS, tmp_path, (torch.float32, torch.float64))
    apart = relative(here.losses, single.losses)
    assert apart[0] <= 1e-6
    assert max(apart) <= max(1e-3, 10 * max(relative(single.losses, double.losses)))


@pytest.mark.parametrize("name", ["U-Net", "MobileNetV2", "LSTM"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_any_number_of_threads_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    (case,) = [replace(case, before=0) for case in CASES if case.name == name]
    few, many = (trained(case, 2, tmp_path, (), threads=threads)[0] for threads in (1, 5))
    assert few.losses == many.losses
    assert few.score == many.score


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_what_a_program_trains(tmp_path: Path) -> None:
    """Of a `.pt2` file: the weights of all layers by their names, batch normalization and biases of zeros among them, nothing else."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3)
    ).eval()
    torch.nn.init.zeros_(network[3].bias)
    torch.export.save(torch.export.export(network, (torch.randn(2, 3, 8, 8),)), tmp_path / "net.pt2")
    settings = TrainSettings(loss=Loss.SQUARED, batch_norm=BatchNorm.TRAIN)
    model = mslite.Model()
    file = convert(Options(tmp_path / "net.pt2", tmp_path / "net", training=settings)).files[0]
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    found = [weight.name.partition("/")[0] for weight in model.get_trainable_params()]
    assert found == [name for name, _ in network.named_parameters()]
