"""The onnx package's test cases of single operators in a form that the original's converter reads: the first input stays an input.

All other inputs become constants.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import ModelProto, numpy_helper, save

from tests.onnx_suite.cases import BackendCase, case_named, names


def with_constants(case: BackendCase) -> ModelProto:
    """Returns the model of a case with all inputs except the first one as constants."""
    model = ModelProto()
    model.CopyFrom(case.model)
    first, *others = case.inputs
    model.graph.initializer.extend(numpy_helper.from_array(case.inputs[name], name) for name in others)
    (value,) = (value for value in model.graph.input if value.name == first)
    kept = type(value)()
    kept.CopyFrom(value)
    del model.graph.input[:]
    model.graph.input.append(kept)
    return model


def write_all(folder: Path) -> list[str]:
    """Writes `NAME.onnx`, and `NAME.npz` with input `i0` and outputs `o0`, ..., for each case with an input. Returns the names."""
    written = []
    for name in names():
        case = case_named(name)
        if case is None or not case.inputs or not name.startswith("test_"):
            continue
        if any(array.dtype.kind not in "biuf" for array in (*case.inputs.values(), *case.outputs)):
            continue
        save(with_constants(case), folder / f"{name}.onnx")
        arrays = {f"o{i}": array for i, array in enumerate(case.outputs)}
        np.savez(folder / f"{name}.npz", i0=next(iter(case.inputs.values())), **arrays)
        written.append(name)
    return written
