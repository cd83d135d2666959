"""The open set's float ONNX models with random edits, each time others: against onnxruntime, with fusion and without."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import ModelProto, TensorProto

pytest.importorskip("onnxruntime", reason="onnxruntime, which computes what is right, is not installed")

from tests.e2e.edits import edited
from tests.e2e.models import Entry, models
from tests.random_graphs.compare import VARIANTS, converted, loaded, run
from tests.random_graphs.evaluate import quiet_session

Array = npt.NDArray[Any]
EDITED = 15
"""Of each model."""
MAX_BYTES = 4_000_000
RELATIVE = 2e-5
"""Of a tensor's largest magnitude: what an element may differ by in any model."""
ABSOLUTE = 1e-7
"""The same of small ones, as what comes of sums with 1."""
DISTURBANCE = 1e-6
DRIFTS = 20.0
"""How many times what inputs that are off by the disturbance cost."""
ENTRIES = [
    entry
    for entry in models()
    if entry.kind == "onnx" and entry.tolerance_class == "float" and entry.source.stat().st_size < MAX_BYTES
]


def outputs(model: ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes, by name."""
    names = [output.name for output in model.graph.output]
    return dict(zip(names, quiet_session(model.SerializeToString()).run(None, dict(inputs)), strict=True))


def floats_of(model: ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What the float32 results of nodes hold, by name."""
    whole = onnx.shape_inference.infer_shapes(model)
    copy = ModelProto()
    copy.CopyFrom(model)
    known = {output.name for output in model.graph.output}
    results = {name for node in model.graph.node for name in node.output}
    copy.graph.output.extend(
        value
        for value in whole.graph.value_info
        if value.name in results - known and value.type.tensor_type.elem_type == TensorProto.FLOAT
    )
    held = outputs(copy, inputs)
    return {name: array for name, array in held.items() if name not in known}


def disturbed(inputs: Mapping[str, Array]) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    return {
        name: np.asarray(array * (1 + rng.uniform(-DISTURBANCE, DISTURBANCE, array.shape)), array.dtype)
        if array.dtype.kind == "f"
        else array
        for name, array in inputs.items()
    }


def problem(model: ModelProto, inputs: Mapping[str, Array], folder: Path) -> str:
    """Empty where mslite computes what onnxruntime does."""
    wanted, drifted = outputs(model, inputs), outputs(model, disturbed(inputs))
    for variant in VARIANTS[:2]:
        got = run(loaded(converted(model, folder, variant), 2), inputs)
        for name, right in wanted.items():
            actual = got[name]
            if (actual.shape, actual.dtype) != (right.shape, right.dtype):
                return f"{variant.name}: {name} is {actual.dtype}{actual.shape}, not {right.dtype}{right.shape}"
            if right.size == 0 or right.shape != drifted[name].shape:
                continue
            one, two, other = (array.astype(np.float64) for array in (actual, right, drifted[name]))
            allowed = ABSOLUTE + RELATIVE * np.abs(two).max() + DRIFTS * np.abs(other - two).max()
            error = float(np.abs(one - two).max())
            if not error <= allowed:
                return f"{variant.name}: {name} is off by {error:.3g}, allowed {allowed:.3g}"
    return ""


def _makes_sense(model: ModelProto, inputs: Mapping[str, Array]) -> bool:
    """Whether onnxruntime takes a model, and no number is lost on the way, of which its LSTM makes numbers again."""
    try:
        found = floats_of(model, inputs)
    except Exception:  # its own classes have no common base that is public
        return False
    return all(bool(np.all(np.isfinite(array))) for array in found.values())


@pytest.mark.skipif(not ENTRIES, reason="the shared models are not here")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path)
def test_edited_models_are_computed_as_onnxruntime_does(entry: Entry, tmp_path: Path) -> None:
    model = onnx.load(entry.source)
    if any(node.op_type == "NonMaxSuppression" for node in model.graph.node):
        pytest.skip("how many boxes are kept depends on the last bit of scores")
    arrays = [np.load(entry.folder / name) for name in entry.cases[0]["inputs"]]
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    inputs = dict(zip(names, arrays, strict=True))
    values = floats_of(model, inputs)
    if not any(array.size for array in values.values()):
        pytest.skip("no float32 between its nodes")
    seed = random.SystemRandom().randrange(1_000_000)
    compared = 0
    for number in range(EDITED):
        changed, edits = edited(model, values, random.Random(seed + number))
        if not edits or not _makes_sense(changed, inputs):
            continue
        compared += 1
        if text := problem(changed, inputs, tmp_path):
            onnx.save(changed, tmp_path / "edited.onnx")
            pytest.fail(f"{text}\nseed {seed + number}: {', '.join(edits)}\nsaved in {tmp_path}")
    assert compared, "every edit was left out"
