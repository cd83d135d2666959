"""The open set's float models on OpenVINO's CPU device: the outputs, and which share of the work runs there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import mslite
from tests.e2e.models import Entry, convert_model, differences, models, run_case

from . import runs

pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install openvino)")
FLOAT_MODELS = [entry for entry in models() if entry.tolerance_class == "float"]
pytestmark = [
    # Where the models are not there, it is no test that must not be skipped.
    pytest.mark.frameworks if FLOAT_MODELS else pytest.mark.skip("the shared models are not here"),
    pytest.mark.nonconforming("one model's epsilon is below what MindSpore Lite takes"),
    pytest.mark.skipif(not runs.PROGRAM.is_file(), reason=f"{runs.PROGRAM} was not built"),
]

SHARE = 0.95
"""Of the floating-point operations of all models together."""
STANDARD = ("mobilenet", "resnet18", "squeezenet", "shufflenet", "efficientnet", "unet", "bert", "vit", "rfb_320")
"""Each model with such a name has the share on its own."""


def _openvino() -> mslite.Context:
    """OpenVINO's CPU device, as Python's context names it."""
    context = mslite.Context()
    context.cpu.provider = "openvino"
    context.cpu.thread_num = 2
    return context


def test_every_case_also_of_other_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models whose sizes are open: one model runs all its cases one after the other."""
    monkeypatch.setenv("MSLITE_OPENVINO_LIBRARY", os.fspath(runs.openvino_folder() or ""))
    monkeypatch.setenv("MSLITE_DELEGATE_COSTS", "off")
    problems: list[str] = []
    for entry in FLOAT_MODELS:
        if len({np.load(entry.folder / name).shape for case in entry.cases for name in case["inputs"][:1]}) < 2:
            continue
        model = mslite.Model()
        model.build_from_file(str(convert_model(entry, tmp_path)), mslite.ModelType.MINDIR_LITE, _openvino())
        for case in entry.cases:
            problems.extend(f"{entry.path}: {text}" for text in differences(entry, case, run_case(entry, model, case)))
    assert not problems, "\n".join(problems)


def _prepare(entry: Entry, folder: Path) -> None:
    """Converts a model and writes the inputs of its first case, as its `.ms` file has them."""
    folder.mkdir()
    shutil.move(convert_model(entry, folder), folder / "model.ms")
    model = mslite.Model()
    model.build_from_file(str(folder / "model.ms"), mslite.ModelType.MINDIR_LITE)
    for number, (name, tensor) in enumerate(zip(entry.cases[0]["inputs"], model.get_inputs(), strict=True)):
        array = np.load(entry.folder / name)
        if entry.kind in ("onnx", "caffe") and array.ndim == 4 and tensor.format == mslite.Format.NHWC:
            array = np.ascontiguousarray(array.transpose(0, 2, 3, 1))
        np.save(folder / f"input_{number}.npy", array)


def test_float_models(tmp_path: Path) -> None:
    folders = [tmp_path / entry.path.replace("/", "__") for entry in FLOAT_MODELS]
    for entry, folder in zip(FLOAT_MODELS, folders, strict=True):
        _prepare(entry, folder)
    there = total = 0
    problems: list[str] = []
    for entry, result in zip(FLOAT_MODELS, runs.run(folders), strict=True):
        wrong = [result.error] if result.error else differences(entry, entry.cases[0], result.outputs)
        own_there = sum(node.flops for node in result.placements if node.part >= 0)
        own_total = sum(node.flops for node in result.placements)
        if any(name in entry.path for name in STANDARD) and own_there < SHARE * own_total:
            wrong.append(f"only {own_there} of {own_total} operations run on the device")
        problems.extend(f"{entry.path}: {text}" for text in wrong)
        there, total = there + own_there, total + own_total
    assert not problems, "\n".join(problems)
    assert there >= SHARE * total, f"{there} of {total} operations run on the device"
