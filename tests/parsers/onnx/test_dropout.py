"""Dropout as models state it: for inference, for training, and as an input says when the model runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import compute, one

X = np.arange(1, 4001, dtype=np.float32).reshape(40, 100)


def test_training_when_the_model_runs(tmp_path: Path) -> None:
    constants = {"ratio": np.float32(0.25)}
    inputs = {"x": X, "training": np.array(True)}
    model = one("Dropout", {"x": X}, {**constants, "training": np.array(True)}, outputs=2)
    with pytest.raises(ConversionError, match="training mode is not supported"):
        parse(model)
    model.graph.initializer.pop()
    model.graph.input.add(name="training").type.tensor_type.elem_type = 9
    model.graph.input[-1].type.tensor_type.shape.SetInParent()
    y, mask = compute(model, inputs, tmp_path)
    np.testing.assert_allclose(y, np.where(mask, X / np.float32(0.75), 0), rtol=1e-6)
    assert 0.7 < mask.mean() < 0.8
    y, mask = compute(model, {**inputs, "training": np.array(False)}, tmp_path)
    np.testing.assert_array_equal(y, X)
    assert mask.all()


@pytest.mark.parametrize("training", [True, False])
def test_nothing_is_dropped(training: bool, tmp_path: Path) -> None:
    """The mask is true even where an element equals nothing, itself included."""
    x = np.array([1.0, np.nan, -np.inf], np.float32)
    constants = {"ratio": np.float32(0 if training else 0.5), "training": np.array(training)}
    y, mask = compute(one("Dropout", {"x": x}, constants, outputs=2), {"x": x}, tmp_path)
    np.testing.assert_array_equal(y, x)
    assert mask.all()
