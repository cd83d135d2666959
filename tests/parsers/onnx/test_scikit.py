"""The arithmetic among the operators of ai.onnx.ml, and regions, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, one, random
from .microsoft import foreign

ML = "ai.onnx.ml"
ROWS = random(4, 3)

CASES: list[tuple[str, Array, dict[str, Any]]] = [
    ("Scaler", ROWS, {"offset": [0.5, 1.0, -1.0], "scale": [2.0, 0.5, 1.0]}),
    ("Scaler", np.array([[1, 2, 3]], np.int64), {"offset": [0.5], "scale": [2.0]}),
    ("Binarizer", ROWS, {"threshold": 0.1}),
    ("Normalizer", ROWS, {"norm": "MAX"}),
    ("Normalizer", ROWS, {"norm": "L1"}),
    ("Normalizer", ROWS, {"norm": "L2"}),
    ("LinearRegressor", ROWS, {"coefficients": [1.0, 2, 3, 4, 5, 6], "intercepts": [0.5, -1.0], "targets": 2}),
    ("Imputer", np.where(ROWS > 0, np.float32(np.nan), ROWS), {"imputed_value_floats": [1, 2, 3.0], "replaced_value_float": float("nan")}),
    ("LabelEncoder", np.array([[1, 5], [3, 9]], np.int64), {"keys_int64s": [1, 3, 9], "values_floats": [0.5, -1.5, 7.0], "default_float": 2.5}),
    ("LabelEncoder", np.array([1.5, -2.0, 8.0], np.float32), {"keys_floats": [-2.0, 1.5], "values_int64s": [70, 1 << 40], "default_int64": -3}),
    ("LabelEncoder", np.array([[4, 5, 4]], np.int64), {"keys_int64s": [4, 5], "values_int64s": [5, 4]}),
    ("OneHotEncoder", np.array([[1, 5], [3, 1]], np.int64), {"cats_int64s": [1, 3, 7]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "attributes"), CASES)
def test_classical(name: str, x: Array, attributes: dict[str, Any], tmp_path: Path) -> None:
    inputs = {"x": x}
    check(foreign(name, inputs, domain=ML, **attributes), inputs, tmp_path)


CLASSIFIERS: list[tuple[Array, dict[str, Any]]] = [
    (ROWS, {"coefficients": [1.0, 2, 3, -1, -2, -3], "intercepts": [0.5, -0.5], "classlabels_ints": [4, -7], "post_transform": "LOGISTIC"}),
    (ROWS, {"coefficients": [-4.0, -3, -2, -1, 0, 1, 2, 3, 4], "intercepts": [0.0, 0.5, 1.0], "classlabels_ints": [0, 1, 2], "multi_class": 1, "post_transform": "SOFTMAX"}),
    (np.array([[1, -2, 3]], np.int64), {"coefficients": [-4.0, -3, -2, -1, 0, 1, 2, 3, 4], "intercepts": [0.5, 0.0, 0.25], "classlabels_ints": [3, 2, 9]}),
]  # fmt: skip


@pytest.mark.parametrize(("x", "attributes"), CLASSIFIERS)
def test_linear_classifier(x: Array, attributes: dict[str, Any], tmp_path: Path) -> None:
    check(foreign("LinearClassifier", {"x": x}, outputs=2, domain=ML, **attributes), {"x": x}, tmp_path)


@pytest.mark.parametrize(
    ("name", "attributes", "remedy"),
    [
        ("LinearClassifier", {"coefficients": [1.0, 2, 3], "classlabels_ints": [0, 1]}, "skl2onnx"),
        ("LinearClassifier", {"coefficients": [1.0, 2, 3], "classlabels_strings": ["a", "b"]}, "integers as classes"),
        ("ZipMap", {"classlabels_int64s": [0, 1, 2]}, "zipmap"),
    ],
)
def test_refused(name: str, attributes: dict[str, Any], remedy: str) -> None:
    outputs = 2 if name == "LinearClassifier" else 1
    model = foreign(name, {"x": ROWS}, outputs=outputs, domain=ML, **attributes)
    with pytest.raises(ConversionError, match=remedy):
        parse(model)


def test_columns(tmp_path: Path) -> None:
    inputs = {"x": ROWS}
    check(foreign("ArrayFeatureExtractor", inputs, {"columns": np.array([[2, 0]])}, domain=ML), inputs, tmp_path)


def test_feature_vectorizer(tmp_path: Path) -> None:
    inputs = {"x": ROWS, "y": random(4, 2, seed=1)}
    check(foreign("FeatureVectorizer", inputs, domain=ML, inputdimensions=[3, 2]), inputs, tmp_path)


def test_max_roi_pool(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 8, 9)}
    rois = np.array([[0, 0, 0, 7, 5], [1, 2, 1, 6, 7], [0, 3, 3, 3, 3]], np.float32)
    check(one("MaxRoiPool", inputs, {"rois": rois}, pooled_shape=[2, 3], spatial_scale=1.0), inputs, tmp_path)
