"""Forms of operators before operator set 11: attributes that became inputs, broadcasting that had to be asked for, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mslite import onnx_backend

from .helper import Array, one

X = np.random.default_rng(1).normal(size=(2, 3, 4, 5)).astype(np.float32)
ROW, CHANNELS = X[0, 0, 0], X[0, :, 0, 0]
SPREAD = CHANNELS[:, None, None]
PADDED = np.pad(X, ((0, 0), (0, 0), (1, 2), (1, 0)), constant_values=1.5)
EDGES = [0, 0, 1, 1, 0, 0, 2, 0]


def _softmax(x: Array, axis: int) -> Array:
    """Of all dimensions from `axis` on together."""
    rows = np.exp(x.reshape(int(np.prod(x.shape[:axis])), -1))
    return np.asarray((rows / rows.sum(1, keepdims=True)).reshape(x.shape))


CASES: dict[str, tuple[int, str, list[Array], dict[str, Any], list[Array]]] = {
    "Dropout-1": (1, "Dropout", [], {"is_test": 1}, [X, np.ones_like(X)]),
    "Dropout-7": (7, "Dropout", [], {"ratio": 0.3}, [X, np.ones_like(X)]),
    "Dropout-10": (10, "Dropout", [], {"ratio": 0.3}, [X, X == X]),
    "Dropout-12": (12, "Dropout", [np.float32(0.3)], {}, [X, X == X]),
    "Clip-6": (6, "Clip", [], {"max": 0.5}, [np.minimum(X, np.float32(0.5))]),
    "Slice-1": (1, "Slice", [], {"starts": [1, 0], "ends": [3, -1], "axes": [2, 3]}, [X[:, :, 1:3, :-1]]),
    "Upsample-1": (1, "Upsample", [], {"height_scale": 2.0, "width_scale": 3.0}, [X.repeat(2, 2).repeat(3, 3)]),
    "Upsample-7": (7, "Upsample", [], {"scales": [1.0, 1.0, 2.0, 3.0]}, [X.repeat(2, 2).repeat(3, 3)]),
    "Tile-1": (1, "Tile", [np.float32(2), np.float32(1)], {}, [np.tile(X, (1, 2, 1, 1))]),
    "TopK-1": (1, "TopK", [], {"k": 1, "axis": -1}, [X.max(-1, keepdims=True), X.argmax(-1)[..., None]]),
    "Pad-1": (1, "Pad", [], {"paddings": EDGES, "value": 1.5}, [PADDED]),
    "Pad-2": (2, "Pad", [], {"pads": EDGES, "value": 1.5}, [PADDED]),
    "Softmax-1": (1, "Softmax", [], {}, [_softmax(X, 1)]),
    "Softmax-11": (11, "Softmax", [], {"axis": 2}, [_softmax(X, 2)]),
    "Split-1": (1, "Split", [], {"split": [1, 3], "axis": 2}, [X[:, :, :1], X[:, :, 1:]]),
    "Cast-1": (1, "Cast", [], {"to": "INT32"}, [X.astype(np.int32)]),
    "Reshape-1": (1, "Reshape", [], {"shape": [0, -1, 5]}, [X.reshape(2, -1, 5)]),
    "Add-1": (1, "Add", [CHANNELS], {"broadcast": 1, "axis": 1}, [X + SPREAD]),
    "Mul-6": (6, "Mul", [ROW], {"broadcast": 1}, [X * ROW]),
    "Less-1": (1, "Less", [CHANNELS], {"broadcast": 1, "axis": 1}, [X < SPREAD]),
    "PRelu-6": (6, "PRelu", [CHANNELS], {}, [np.where(X > 0, X, X * SPREAD)]),
    "GlobalLpPool-1": (1, "GlobalLpPool", [], {"p": 2.0}, [np.sqrt((X**2).sum((2, 3), keepdims=True))]),
}


@pytest.mark.parametrize("case", CASES)
def test_first_versions(case: str) -> None:
    opset, operator, more, attributes, wanted = CASES[case]
    constants = {f"c{index}": np.asarray(array) for index, array in enumerate(more)}
    model = one(operator, {"x": X}, constants, opset, len(wanted), **attributes)
    for got, want in zip(onnx_backend.run_model(model, [X]), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
