"""Models with open sizes: five sizes each in one process, forwards and back, against onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.e2e.dynamic_models import MODELS, Array, DynamicModel
from tests.e2e.models import Entry, convert_model, models

_TOLERANCE = 2e-5
"""Of the largest magnitude of an output."""


def _load(file: Path, threads: int) -> mslite.Model:
    context = mslite.Context()
    context.cpu.thread_num = threads
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE, context)
    return model


def _run(model: mslite.Model, feeds: Sequence[Array], resize: bool) -> list[Array]:
    tensors = model.get_inputs()
    arrays = [
        np.ascontiguousarray(array.transpose(0, 2, 3, 1))
        if array.ndim == 4 and tensor.format == mslite.Format.NHWC
        else array
        for array, tensor in zip(feeds, tensors, strict=True)
    ]
    if resize:
        model.resize(tensors, [list(array.shape) for array in arrays])
    return [np.array(tensor.get_data_to_numpy()) for tensor in model.predict(arrays)]


def _problem(got: Sequence[Array], wanted: Sequence[Array]) -> str:
    """Empty when all outputs agree."""
    for number, (mine, want) in enumerate(zip(got, wanted, strict=True)):
        if mine.shape != want.shape or mine.dtype != want.dtype:
            return f"output {number} is {mine.dtype}{mine.shape} instead of {want.dtype}{want.shape}"
        if want.dtype.kind != "f" and not np.array_equal(mine, want):
            return f"output {number} differs"
        if want.dtype.kind == "f" and want.size:
            error = float(np.abs(mine.astype(np.float64) - want.astype(np.float64)).max())
            if not error <= _TOLERANCE * max(1.0, float(np.abs(want).max())):
                return f"output {number} is off by {error:.3g}"
    return ""


def _check(file: Path, session: onnxruntime.InferenceSession, feeds: Sequence[Sequence[Array]]) -> None:
    """Runs all sizes forwards and back: the second half meets plans that were made before."""
    names = [value.name for value in session.get_inputs()]
    wanted = [session.run(None, dict(zip(names, feed, strict=True))) for feed in feeds]
    bits: dict[int, list[Array]] = {}
    for threads, resize in ((1, False), (3, True)):
        model = _load(file, threads)
        for number in [*range(len(feeds)), *reversed(range(len(feeds)))]:
            got = _run(model, feeds[number], resize)
            problem = _problem(got, wanted[number])
            shapes = [array.shape for array in feeds[number]]
            assert not problem, f"{threads} threads, inputs {shapes}: {problem}"
            for mine, before in zip(got, bits.setdefault(number, got), strict=True):
                assert mine.tobytes() == before.tobytes(), f"{threads} threads, inputs {shapes}: other bits"


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_five_sizes(case: DynamicModel, tmp_path: Path) -> None:
    content = case.proto.SerializeToString()
    (tmp_path / "model.onnx").write_bytes(content)
    report = convert(Options(tmp_path / "model.onnx", tmp_path / "model"))
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    _check(report.files[0], session, case.feeds)


DYNAMIC = [
    entry for entry in models() if entry.kind == "onnx" and len(entry.cases) > 1 and entry.tolerance_class == "float"
]


@pytest.mark.skipif(bool(DYNAMIC), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip("no models beside the repository")


@pytest.mark.parametrize("entry", DYNAMIC, ids=lambda entry: entry.path)
def test_open_model_at_five_sizes(entry: Entry, tmp_path: Path) -> None:
    """Models of the open set whose inputs have open sizes, at sizes that the reference runtime takes."""
    session = onnxruntime.InferenceSession(str(entry.source), providers=["CPUExecutionProvider"])
    feeds = [[np.load(entry.folder / name) for name in case["inputs"]] for case in entry.cases]
    shapes = {tuple(array.shape for array in feed) for feed in feeds}
    if len(shapes) == 1 and not any(isinstance(dim, str) for value in session.get_inputs() for dim in value.shape):
        pytest.skip("all sizes of this model are fixed")
    feeds += _other_sizes(session, feeds[0], 5 - len(shapes))
    _check(convert_model(entry, tmp_path), session, feeds)


def _other_sizes(session: onnxruntime.InferenceSession, feed: Sequence[Array], count: int) -> list[list[Array]]:
    """The inputs of a case at other sizes: cut, or repeated, along the open dimensions."""
    inputs = session.get_inputs()
    result: list[list[Array]] = []
    for change in (1, -1, 2, 3, -2, 4):
        sizes: dict[str, int] = {}
        arrays = []
        for value, array in zip(inputs, feed, strict=True):
            for axis, dim in enumerate(value.shape):
                if isinstance(dim, str):
                    size = sizes.setdefault(dim, max(1, array.shape[axis] + change))
                    array = np.take(array, np.arange(size) % array.shape[axis], axis)
            arrays.append(array)
        try:
            session.run(None, {value.name: array for value, array in zip(inputs, arrays, strict=True)})
        except Exception:  # onnxruntime raises its own kinds; a size that the model does not take is none to test
            continue
        result.append(arrays)
        if len(result) >= count:
            break
    return result
