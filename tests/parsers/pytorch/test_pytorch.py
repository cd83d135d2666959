"""torch.export programs, converted and run against torch itself; without torch only the messages."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.detect import detect
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load
from mslite.converter.options import FmkType, Options

from .malicious_archives import program as program_bytes

HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("onnxscript") is not None
_is_absent = pytest.mark.skipif(not HAS_TORCH, reason="torch and onnxscript (the extra torch) are not installed")


def needs_torch(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that is skipped without PyTorch; `make test-frameworks` runs it."""
    marked: Callable[..., None] = pytest.mark.frameworks(_is_absent(test))
    return marked


def archive(path: Path, *names: str) -> Path:
    """An archive that looks like one of PyTorch's files."""
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, b"contents")
    return path


@pytest.fixture
def program(tmp_path: Path) -> tuple[Path, Any]:
    """A small network of an image, its batch and width open."""
    import torch

    torch.manual_seed(3)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 5),
    ).eval()
    image = torch.randn(2, 3, 16, 20)
    open_sizes = {"input": {0: torch.export.Dim("batch", max=64), 3: torch.export.Dim("width", min=8, max=512)}}
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(network, (image,), dynamic_shapes=open_sizes), str(path))
    return path, network


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(2, 3, 16, 20), (5, 3, 16, 33)])
def test_a_program_with_open_sizes(program: tuple[Path, Any], shape: tuple[int, ...], tmp_path: Path) -> None:
    import torch

    path, network = program
    report = convert(Options(path, tmp_path / "net"))
    assert report.framework is FmkType.PYTORCH
    module = load(report.files[0])
    assert module.framework == FmkType.PYTORCH
    assert [size if size >= 0 else None for size in module.main.inputs[0].shape or ()] == [None, 16, None, 3]
    model = mslite.Model()
    model.build_from_file(report.files[0], mslite.ModelType.MINDIR_LITE)
    image = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    tensors = model.get_inputs()
    channels_last = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    model.resize(tensors, [list(channels_last.shape)])
    (got,) = model.predict([channels_last])
    want = network(torch.from_numpy(image)).detach().numpy()
    np.testing.assert_allclose(got.get_data_to_numpy(), want, rtol=1e-5, atol=1e-6)


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_the_exporter_is_quiet(program: tuple[Path, Any], capfd: pytest.CaptureFixture[str]) -> None:
    path, _ = program
    assert main([f"--modelFile={path}", f"--outputFile={path.with_suffix('')}"]) == 0
    text = capfd.readouterr()
    assert text.err == ""
    assert text.out.startswith("source      PYTORCH")


@needs_torch
def test_a_damaged_program(program: tuple[Path, Any]) -> None:
    path, _ = program
    with zipfile.ZipFile(path) as source:
        contents = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(path, "w") as target:
        for name, data in contents.items():
            target.writestr(name, data[: len(data) // 2] if name.endswith("model.json") else data)
    with pytest.raises(ConversionError, match=r"models/model\.json'.*damaged"):
        convert(Options(path, path.with_suffix("")))


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_without_torch_the_extra_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(program_bytes())
    with pytest.raises(ConversionError, match=r"pip install '\.\[torch\]'"):
        convert(Options(path, tmp_path / "net"))
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("net/code/__torch__.py", "net/constants.pkl", "net/data.pkl"), "TorchScript"),
        (("net/data.pkl", "net/data/0"), "weights or a pickled object"),
    ],
)
def test_other_files_of_pytorch(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    path = archive(tmp_path / "net.pt", *names)
    with pytest.raises(ConversionError, match=message) as caught:
        convert(Options(path, tmp_path / "net"))
    assert "torch.export.save" in str(caught.value)


def test_files_that_are_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ConversionError, match=r"not a torch\.export program"):
        convert(Options(path, tmp_path / "net"))
    with pytest.raises(ConversionError, match="cannot be read"):
        convert(Options(tmp_path / "absent.pt2", tmp_path / "net", framework=FmkType.PYTORCH))


@pytest.mark.parametrize("suffix", [".pt2", ".pt", ".pth"])
def test_the_suffix_tells(tmp_path: Path, suffix: str) -> None:
    assert detect(archive(tmp_path / f"net{suffix}", "net/x")) is FmkType.PYTORCH
