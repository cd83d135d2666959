"""Operators of ai.onnx.ml that consist of arithmetic, as skl2onnx exports them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from .body import Body
from .registry import expands

MACHINE_LEARNING = "ai.onnx.ml"


def _float(body: Body, x: str) -> str:
    """Returns x as float32, the type of most results."""
    return x if body.element_type(x) == TensorProto.FLOAT else body.cast(x, TensorProto.FLOAT)


def _row(body: Body, values: Sequence[float] | None) -> str:
    return body.const(values or (), np.float32)


@expands("Scaler", domain=MACHINE_LEARNING)
def scaler(body: Body) -> None:
    """Returns (x - offset) * scale, per column."""
    offset, scale = _row(body, body.reals("offset")), _row(body, body.reals("scale"))
    body.result(0, body.op("Mul", body.op("Sub", _float(body, body.input(0)), offset), scale))


@expands("Binarizer", domain=MACHINE_LEARNING)
def binarizer(body: Body) -> None:
    """Returns 1 above the threshold, else 0."""
    x = body.input(0)
    above = body.op("Greater", x, body.number(body.real("threshold", 0.0), x))
    body.result(0, body.cast_like(above, x))


@expands("ArrayFeatureExtractor", domain=MACHINE_LEARNING)
def array_feature_extractor(body: Body) -> None:
    """Selects columns of x."""
    x = body.input(0)
    if body.rank(x) == 1:
        x = body.unsqueeze(x, 0)
    body.result(0, body.op("Gather", x, body.reshape(body.input(1), -1), axis=body.rank(body.input(0)) - 1 or 1))


@expands("FeatureVectorizer", domain=MACHINE_LEARNING)
def feature_vectorizer(body: Body) -> None:
    """Concatenates the columns of all inputs."""
    body.ignore("inputdimensions")
    parts = [_float(body, body.input(index)) for index in range(len(body.node.input))]
    parts = [
        part if body.rank(name) > 1 else body.unsqueeze(part, 0)
        for part, name in zip(parts, body.node.input, strict=True)
    ]
    body.result(0, body.op("Concat", *parts, axis=1))


@expands("Imputer", domain=MACHINE_LEARNING)
def imputer(body: Body) -> None:
    """Replaces one value of x, which may be NaN, by other values."""
    x, floats = body.input(0), body.has_attribute("imputed_value_floats")
    if not floats:
        integers = body.integers("imputed_value_int64s")
        missing = body.op("Equal", x, body.const(body.integer("replaced_value_int64", 0), np.int64))
        body.result(0, body.op("Where", missing, body.const(integers or (0,), np.int64), x))
        return
    replaced = body.real("replaced_value_float", 0.0)
    missing = body.op("IsNaN", x) if np.isnan(replaced) else body.op("Equal", x, body.const(replaced, np.float32))
    body.result(0, body.op("Where", missing, _row(body, body.reals("imputed_value_floats")), x))


@expands("Normalizer", domain=MACHINE_LEARNING)
def normalizer(body: Body) -> None:
    """Divides each row of x by its norm."""
    x, norm = _float(body, body.input(0)), body.text("norm", "MAX")
    axis = body.rank(body.input(0)) - 1
    if norm == "L2":
        size = body.op("Sqrt", body.total(body.op("Mul", x, x), axis))
    elif norm == "L1":
        size = body.total(body.op("Abs", x), axis)
    elif body.version < 18:
        size = body.op("ReduceMax", x, axes=[axis], keepdims=1)
    else:
        size = body.op("ReduceMax", x, body.ints(axis), keepdims=1)
    safe = body.op("Where", body.op("Equal", size, body.const(0.0, np.float32)), body.const(1.0, np.float32), size)
    body.result(0, body.op("Div", x, safe))


def _linear(body: Body, rows: int, counted: str) -> str:
    """Returns x times the transposed coefficients [rows, columns], plus the intercepts."""
    coefficients, intercepts = body.reals("coefficients") or (), body.reals("intercepts")
    if rows < 1 or not coefficients or len(coefficients) % rows:
        raise body.block(f"do not fit {rows} {counted}", "Export the model again", "coefficients")
    matrix = np.array(coefficients, np.float32).reshape(rows, -1)
    result = body.op("MatMul", _float(body, body.input(0)), body.const(np.ascontiguousarray(matrix.T)))
    return body.op("Add", result, _row(body, intercepts)) if intercepts else result


def _transformed(body: Body, scores: str) -> str:
    after = body.text("post_transform", "NONE")
    if after not in ("NONE", "LOGISTIC", "SOFTMAX"):
        raise body.block(f"'{after}' is not supported", "Use NONE, LOGISTIC or SOFTMAX", "post_transform")
    if after == "LOGISTIC":
        return body.op("Sigmoid", scores)
    return body.op("Softmax", scores, axis=1) if after == "SOFTMAX" else scores


@expands("LinearRegressor", domain=MACHINE_LEARNING)
def linear_regressor(body: Body) -> None:
    body.result(0, _transformed(body, _linear(body, body.integer("targets", 1), "targets")))


@expands("LinearClassifier", domain=MACHINE_LEARNING)
def linear_classifier(body: Body) -> None:
    """Returns the class with the largest score for each row, and the scores."""
    body.ignore("multi_class")
    if body.has_attribute("classlabels_strings"):
        raise body.block("strings are not supported", "Train with integers as classes", "classlabels_strings")
    if body.rank(body.input(0)) != 2:
        raise body.block("an input without a batch is not supported", "Export the model with inputs [batch, columns]")
    labels, columns = body.integers("classlabels_ints") or (), (body.dims(body.input(0)) or [None])[-1]
    rows = len(body.reals("coefficients") or ()) // columns if columns else len(labels)
    if len(labels) < 2 or rows != len(labels) or len(body.reals("intercepts") or labels) != rows:
        remedy = "Export the model with skl2onnx, which writes one row of coefficients and an intercept for each class"
        raise body.block("a classifier with more or less than one score for each class is not supported", remedy)
    scores = _linear(body, len(labels), "classes")
    body.result(1, _transformed(body, scores))
    body.result(0, body.op("Gather", body.ints(*labels), body.op("ArgMax", scores, axis=1, keepdims=0)))


@expands("OneHotEncoder", domain=MACHINE_LEARNING)
def one_hot_encoder(body: Body) -> None:
    """Returns float32 [..., categories]: 1 if x is the category, else 0."""
    if body.has_attribute("cats_strings"):
        raise body.block("strings are not supported", "Encode them outside of the model", "cats_strings")
    if not body.boolean("zeros", True):
        raise body.block("an error for unknown categories is not supported", "Export with zeros = 1", "zeros")
    categories = body.const(body.integers("cats_int64s") or (), np.int64)
    column = body.unsqueeze(body.cast(body.input(0), TensorProto.INT64), body.rank(body.input(0)))
    body.result(0, body.cast(body.op("Equal", column, categories), TensorProto.FLOAT))
