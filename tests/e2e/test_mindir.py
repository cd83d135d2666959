"""Models of the open set through a `.mindir` file: the same outputs as directly, bit for bit. Every fourth one; `make
check-slow` takes all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import FmkType, Options, SaveType
from tests.e2e.models import MODELS, Entry, convert_model, models, run_case

ENTRIES = [entry for entry in models() if entry.kind in ("onnx", "tflite", "caffe", "pb")]


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


def build(file: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    return model


def _parameters() -> list[object]:
    """Those in integers of a large network compute for a minute."""
    return [
        pytest.param(entry, id=entry.path, marks=[pytest.mark.slow] * ("mobilenet" in entry.path))
        for entry in ENTRIES[::4]
    ]


@pytest.mark.parametrize("entry", _parameters())
def test_the_round_trip_changes_nothing(entry: Entry, tmp_path: Path) -> None:
    check_round_trip(entry, tmp_path)


def check_round_trip(entry: Entry, tmp_path: Path) -> None:
    direct = build(convert_model(entry, tmp_path))
    weights = entry.folder / "model.caffemodel" if entry.kind == "caffe" else None
    source = Options(entry.source, tmp_path / "middle", weight_file=weights, save_type=SaveType.MINDIR)
    middle = convert(source).files[0]
    assert middle.name == "middle.mindir"
    around = build(convert(Options(middle, tmp_path / "around", framework=FmkType.MINDIR)).files[0])
    case = entry.cases[0]
    wanted, got = run_case(entry, direct, case), run_case(entry, around, case)
    assert len(got) == len(wanted)
    for mine, want in zip(got, wanted, strict=True):
        assert mine.dtype == want.dtype
        np.testing.assert_array_equal(mine, want)
