"""Quantized models give the integers of LiteRT's reference kernels, the same on every instruction set of this machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from tests.e2e.integers import ISAS, availability, difference, int8_models, problems_of, run
from tests.e2e.models import MODELS, Entry, convert_model, models

ENTRIES = int8_models()
ONNX = [entry for entry in models() if entry.tolerance_class == "int8" and entry.kind == "onnx"]
HERE = [isa for isa in ISAS if not isa.startswith("arm64")]


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The `.ms` files of the models that were needed so far; see `_file`."""
    return {"": tmp_path_factory.mktemp("integers")}


def _file(entry: Entry, converted: dict[str, Path]) -> Path:
    if entry.path not in converted:
        converted[entry.path] = convert_model(entry, converted[""])
    return converted[entry.path]


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.path) for entry in ENTRIES])
def test_integers_are_those_of_the_reference(
    entry: Entry, isa: str, converted: dict[str, Path], tmp_path: Path
) -> None:
    if reason := availability(isa):
        pytest.skip(reason)
    problems = problems_of(entry, _file(entry, converted), tmp_path, isa)
    assert not problems, "; ".join(problems)


def _inputs(entry: Entry, file: Path, folder: Path) -> list[Path]:
    """The first case's inputs, in the layout that the `.ms` file declares."""
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    paths = []
    for index, (name, tensor) in enumerate(zip(entry.cases[0]["inputs"], model.get_inputs(), strict=True)):
        array = np.load(entry.folder / name)
        if array.ndim == 4 and tensor.format == mslite.Format.NHWC:
            array = array.transpose(0, 2, 3, 1)
        paths.append(folder / f"input_{index}.npy")
        np.save(paths[-1], np.ascontiguousarray(array))
    return paths


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.path) for entry in ONNX])
def test_integers_of_onnx_are_the_same_everywhere(entry: Entry, converted: dict[str, Path], tmp_path: Path) -> None:
    """They round to even, where TensorFlow Lite's are rounded twice."""
    if reason := availability("scalar"):
        pytest.skip(reason)
    file = _file(entry, converted)
    paths = _inputs(entry, file, tmp_path)
    wanted = run(file, paths, tmp_path / "scalar", "scalar")
    assert not wanted.fallbacks
    for isa in HERE:
        if isa == "scalar" or availability(isa):
            continue
        for mine, want in zip(run(file, paths, tmp_path / isa, isa).outputs, wanted.outputs, strict=True):
            assert difference(mine, want) == "", isa
