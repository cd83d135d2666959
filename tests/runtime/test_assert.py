"""Assert, Depend and Dropout in a `.ms` file, as other converters leave them there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite import Context, Model, ModelType
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.control_flow import Assert, Depend
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.training import Dropout


def loaded(folder: Path) -> Model:
    """y is the numbers of x, in a graph that asserts `condition` first."""
    condition, x = Value("condition", DataType.BOOL, (3,)), Value("x", DataType.FLOAT32, (2, 2))
    done, ordered, y = (
        Value("done", DataType.BOOL, (1,)),
        Value("o", DataType.FLOAT32, (2, 2)),
        Value("y", DataType.FLOAT32, (2, 2)),
    )
    nodes = [
        Node(Assert(), "check", (condition, x), (done,)),
        Node(Depend(), "order", (x, done), (ordered,)),
        Node(Dropout(), "drop", (ordered,), (y,)),
    ]
    (path,) = save(Module([Graph("main", [condition, x], [y], nodes)]), folder / "net.ms")
    model = Model()
    model.build_from_file(str(path), ModelType.MINDIR_LITE, Context())
    return model


def run(model: Model, condition: list[bool]) -> np.ndarray:
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(np.array(condition))
    inputs[1].set_data_from_numpy(np.arange(4, dtype=np.float32).reshape(2, 2))
    return np.array(model.predict(inputs)[0].get_data_to_numpy())


def test_what_holds_passes(tmp_path: Path) -> None:
    np.testing.assert_array_equal(run(loaded(tmp_path), [True, True, True]), [[0, 1], [2, 3]])


def test_what_does_not_hold_ends_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = loaded(tmp_path)
    with pytest.raises(RuntimeError) as caught:
        run(model, [True, False, True])
    text = str(caught.value) + capfd.readouterr().err
    assert "check" in text
    assert "Assert" in text
    np.testing.assert_array_equal(run(model, [True, True, True]), [[0, 1], [2, 3]])
