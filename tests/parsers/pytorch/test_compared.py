"""A conversion of a torch.export program is compared with the program, in bounded time, unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite import Converter, FmkType
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import Options
from mslite.converter.verify import torch_program as verified
from mslite.converter.verify.comparison import AGREES
from mslite.quantizer.settings import quantizer_settings

from .test_pytorch import needs_torch

_WEIGHTS = {"common_quant_param": {"quant_type": "WEIGHT_QUANT", "bit_num": "8"}}
pytestmark = pytest.mark.filterwarnings("ignore")


def _saved(path: Path, forward: Callable[..., Any], *inputs: Any, sizes: Any = None) -> Path:
    import torch

    class Network(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return forward(*inputs)

    torch.export.save(torch.export.export(Network().eval(), inputs, dynamic_shapes=sizes), str(path))
    return path


def _running_mean(path: Path) -> Path:
    import torch

    from .stateful import RunningMean, exported

    torch.export.save(exported(RunningMean(), torch.ones(1, 3)), str(path))
    return path


@pytest.fixture
def _wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the program's second output of the first run be another."""
    true = verified.run_program

    def run(*arguments: Any) -> Any:
        runs = true(*arguments)
        runs.outputs[0][1] = runs.outputs[0][1] + 0.5
        return runs

    monkeypatch.setattr(verified, "run_program", run)


@needs_torch
@pytest.mark.usefixtures("_wrong")
def test_other_numbers_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _running_mean(tmp_path / "net.pt2")
    command = [f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}"]
    assert main(command) == 3
    text = capfd.readouterr().err
    assert "the result differs from the program in 1 of 2 outputs, in run 1 (random inputs): output 'mul" in text
    assert "--verify=off" in text
    assert not (tmp_path / "net.ms").exists()
    assert main([*command, "--verify=off"]) == 0
    (tmp_path / "net.ms").unlink()
    converter = Converter()
    with pytest.raises(RuntimeError, match="differs from the program"):
        converter.convert(FmkType.PYTORCH, str(path), str(tmp_path / "net"))
    converter.verify = False
    converter.convert(FmkType.PYTORCH, str(path), str(tmp_path / "net"))
    assert (tmp_path / "net.ms").exists()


@needs_torch
def test_lost_state_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the state is what it is in the first run, the second tells."""
    from mslite.converter.parsers import pytorch

    true = pytorch.with_variables

    def without_assignments(module: Any, folder: Path) -> None:
        true(module, folder)
        for node in [node for node in module.main.nodes if node.op.name == "AssignVariable"]:
            module.main.remove(node)

    monkeypatch.setattr(pytorch, "with_variables", without_assignments)
    with pytest.raises(ConversionError, match="in 1 of 2 outputs, in run 2"):
        convert(Options(_running_mean(tmp_path / "net.pt2"), tmp_path / "net"))


@needs_torch
def test_the_second_run_has_an_empty_row(tmp_path: Path) -> None:
    import torch

    inputs = (torch.zeros(2, 4), torch.ones(2, 3, dtype=torch.bool), torch.tensor([[0.0, -torch.inf], [0.0, 0.0]]))
    sizes = {"inputs": ({0: torch.export.Dim("rows", max=9)}, None, None)}
    path = _saved(tmp_path / "net.pt2", lambda x, m, a: (x * 2, ~m, a + 1), *inputs, sizes=sizes)
    first, second = (list(one.values()) for one in verified.run_program(path, {}, False, tmp_path, 120).inputs)
    assert (first[0].dtype, first[0].shape) == (np.float32, (2, 4))
    assert not np.array_equal(first[0], second[0])
    assert second[1].dtype == np.bool_
    assert first[1][0].any()
    assert not second[1][0].any()
    assert np.isneginf(second[2][0]).all()
    wider = verified.run_program(path, {"inputs_0": (5, -1)}, False, tmp_path, 120)
    assert next(iter(wider.inputs[0].values())).shape == (5, 4)


@needs_torch
def test_time_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified, "LONGEST", 0.05)
    report = convert(Options(_running_mean(tmp_path / "net.pt2"), tmp_path / "net"))
    assert "not compared with the program: PyTorch did not finish within 0.05 seconds" in report.notes


@needs_torch
def test_chance_is_not_compared(tmp_path: Path) -> None:
    import torch

    path = _saved(tmp_path / "net.pt2", lambda x: (x + torch.rand_like(x), x * 2), torch.ones(1, 64))
    notes = convert(Options(path, tmp_path / "net")).notes
    assert any("depend on random numbers" in note and note.count("'") == 2 for note in notes)


@needs_torch
def test_operators_that_trust_their_arguments_do_not_run(tmp_path: Path) -> None:
    import torch

    path = _saved(
        tmp_path / "net.pt2", lambda x: torch.ops.aten._fused_rms_norm(x, [4], None, 1e-5)[0], torch.ones(2, 4)
    )
    with pytest.raises(verified.ProgramRunError, match="_fused_rms_norm, a private operator of PyTorch"):
        verified.run_program(path, {}, False, tmp_path, 120)


@needs_torch
@pytest.mark.parametrize("layout", [(Format.NHWC, None), (Format.NHWC, Format.NHWC), (Format.NCHW, None)], ids=str)
def test_layouts_and_quantized_results_are_compared(layout: tuple[Format, Format | None], tmp_path: Path) -> None:
    """Of a quantized result, the float model; sizes that are all alike tell no layout."""
    import torch

    weight = torch.randn(4, 4, 3, 3)
    path = _saved(
        tmp_path / "net.pt2", lambda x, y: torch.conv2d(x, weight, padding=1) + y, *[torch.randn(4, 4, 4, 4)] * 2
    )
    options = Options(path, tmp_path / "net", input_format=layout[0], output_format=layout[1])
    assert AGREES in convert(options).notes
    assert AGREES in convert(replace(options, quantizer=quantizer_settings(_WEIGHTS))).notes


@needs_torch
def test_verify_by_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _running_mean(tmp_path / "net.pt2")
    command = [f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}"]
    assert main([*command, "--verify"]) == 0
    assert AGREES in capfd.readouterr().out
    assert main([*command, "--verify=x.npy"]) == 1
    assert "on random inputs only" in capfd.readouterr().err


@needs_torch
def test_what_is_no_tensor_is_left_out(tmp_path: Path) -> None:
    """A program also returns numbers, texts and nothing; complex outputs are compared; float16 in between counts as such."""
    import torch

    path = _saved(
        tmp_path / "net.pt2",
        lambda x: (x.shape[0], torch.complex(x, x * 2), None, 2.5, (x.half() * 1.7).float()),
        torch.randn(3, 4),
    )
    notes = convert(Options(path, tmp_path / "net")).notes
    assert AGREES in notes
    assert not any("depend on random numbers" in note for note in notes)
