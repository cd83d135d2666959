"""Buffers that a torch.export program changes are variables; what else it changes is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import Options
from mslite.converter.training import TrainSettings

from .test_pytorch import needs_torch

_CASES = [
    "mean",
    "cache",
    "convolution",
    "recurrent",
    "swapped",
    "last",
    "counted",
    "branching",
    "mapped",
    "converted",
    "twins",
    "named_twice",
]


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _CASES)
def test_the_state_is_kept(name: str, tmp_path: Path) -> None:
    """Four runs beside the program; after a resize the first state is there again."""
    import torch

    from .stateful import STATEFUL, exported

    assert set(STATEFUL) == set(_CASES)
    kind, shape, variables = STATEFUL[name]
    torch.manual_seed(3)
    program = exported(kind(), torch.randn(shape))
    path = tmp_path / "net.pt2"
    torch.export.save(program, str(path))
    report = convert(Options(path, tmp_path / "net", input_format=Format.NCHW, compare=False))
    nodes = load(report.files[0]).main.nodes
    for operator in ("ReadVariable", "AssignVariable"):
        assert {getattr(node.op, "variable", "") for node in nodes if node.op.name == operator} == variables
    model = mslite.Model()
    model.build_from_file(report.files[0], mslite.ModelType.MINDIR_LITE)
    draw = np.random.default_rng(5)
    images = [draw.standard_normal(shape).astype(np.float32) for _ in range(4)]
    for _ in range(2):
        wanted = torch.export.load(str(path)).module()
        for image in images:
            found = wanted(torch.from_numpy(image.copy()))
            want = [one.detach().clone() for one in (found if isinstance(found, tuple) else (found,))]
            got = model.predict([image])
            for mine, theirs in zip(got, want, strict=True):
                np.testing.assert_allclose(mine.get_data_to_numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
        model.resize(model.get_inputs(), [list(shape)])


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_changed_input_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import torch

    from .stateful import ChangedInput, exported

    path = tmp_path / "net.pt2"
    torch.export.save(exported(ChangedInput(), torch.ones(1, 3)), str(path))
    assert main([f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}"]) == 3
    text = capfd.readouterr().err
    assert "it changes its input 'x' in place" in text
    assert "x.clone()" in text
    assert [file.name for file in tmp_path.iterdir()] == ["net.pt2"]


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_state_is_not_trained(tmp_path: Path) -> None:
    import torch

    from .stateful import RunningMean, exported

    path = tmp_path / "net.pt2"
    torch.export.save(exported(RunningMean(), torch.ones(1, 3)), str(path))
    with pytest.raises(ConversionError, match="it changes the buffer 'state', and models with a state"):
        convert(Options(path, tmp_path / "net", training=TrainSettings()))
