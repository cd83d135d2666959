"""A runtime with a group of operators: it computes what the whole one does, and names what a model needs besides."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.ops import OPERATORS_BY_ID
from mslite.cropper import operator_group
from mslite.cropper.archive import CropError
from mslite.cropper.crop import Library
from tests.cropper.subjects import ARCHIVE, cosine, product, program, run

needs_archive = pytest.mark.skipif(
    not ARCHIVE.is_file() or shutil.which("c++") is None, reason=f"no {ARCHIVE}, or no c++"
)


def test_the_group_for_images_has_what_networks_are_made_of() -> None:
    names = set(operator_group.operators_of(operator_group.group_file("vision")).values())
    assert {"Conv2DFusion", "MatMulFusion", "Resize", "Concat", "Softmax", "DetectionPostProcess"} <= names
    assert not {"Adam", "LSTM", "Rfft", "HashtableLookup"} & names


def test_a_file_lists_operators_one_a_line(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("# ours\n\nCos  # of angles\nAbs\n")
    found = operator_group.operators_of(operator_group.group_file(str(file)))
    assert set(found.values()) == {"Abs", "Cos", "Cast"}, "loading casts constants, whatever a model is made of"
    assert all(OPERATORS_BY_ID[number].declaration.name == name for number, name in found.items())


def test_a_name_that_is_no_operator_is_refused_with_those_near_it(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("Abs\nConv2D\n")
    with pytest.raises(CropError, match=r"own.txt:2: 'Conv2D' is not an operator; did you mean Conv2DFusion"):
        operator_group.operators_of(file)


def test_a_group_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(CropError, match=r"MSLITE_OPERATORS=sound: is neither a group \(all, vision\) nor a file"):
        operator_group.group_file("sound")


@needs_archive
def test_a_model_of_the_group_runs_and_another_is_told_what_to_build(tmp_path: Path) -> None:
    archive = tmp_path / "libmindspore-lite.a"
    shutil.copyfile(ARCHIVE, archive)
    assert operator_group.main([str(archive), "vision"]) == 0
    assert archive.stat().st_size < ARCHIVE.stat().st_size
    cropped, whole = program(archive, tmp_path / "cropped"), program(ARCHIVE, tmp_path / "whole")
    values = np.random.default_rng(1).standard_normal(24 * 3).astype(np.float32).tobytes()
    model = product(tmp_path / "product.ms")
    wanted, _ = run(whole, model, values, 3)
    found, said = run(cropped, model, values, 3)
    assert wanted, said
    assert found == wanted, said

    waves = cosine(tmp_path / "cosine.ms")
    found, said = run(cropped, waves, bytes(4 * 96), 2)
    assert found is None
    assert "this runtime was built with -DMSLITE_OPERATORS=vision and cannot run this model" in said
    assert "build one with -DMSLITE_OPERATORS=all, or with a file that lists the group's operators and these:" in said
    assert "node 'waves' (Cos): it has no kernel for Cos" in said

    with pytest.raises(CropError, match="is already cropped"):
        Library.read(archive.read_bytes(), "cropped")
