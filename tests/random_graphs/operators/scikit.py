"""Preprocessing operators of scikit-learn's converters: scaling, imputation, encoding of columns."""

from __future__ import annotations

from typing import Any

from ..builder import Builder
from ..values import Value
from .registry import operator

_DOMAIN = "ai.onnx.ml"


def numbers(g: Builder, count: int, low: float, high: float) -> list[float]:
    return [float(number) for number in g.data("float32", (count,), low, high)]


def add(g: Builder, name: str, *operands: Value, **attributes: Any) -> Value:
    return g.node(name.removeprefix("ai.onnx.ml."), *operands, domain=_DOMAIN, **attributes)


def table(g: Builder) -> Value:
    return g.operand("float32", (g.integer(1, 4), g.integer(1, 5)))


@operator("ai.onnx.ml.Scaler")
def scaler(g: Builder, name: str) -> None:
    x = table(g)
    offset, scale = (numbers(g, g.choose((1, x.shape[1])), low, 2.0) for low in (-1.0, 0.5))
    add(g, name, x, offset=offset, scale=scale)


@operator("ai.onnx.ml.Binarizer")
def binarizer(g: Builder, name: str) -> None:
    add(g, name, table(g), threshold=g.choose((None, 0.5)))


@operator("ai.onnx.ml.Normalizer")
def normalizer(g: Builder, name: str) -> None:
    add(g, name, table(g), norm=g.choose((None, "MAX", "L1", "L2")))


@operator("ai.onnx.ml.Imputer")
def imputer(g: Builder, name: str) -> None:
    x = g.node("Round", table(g))
    values = numbers(g, g.choose((1, x.shape[1])), -1.0, 1.0)
    add(g, name, x, imputed_value_floats=values, replaced_value_float=g.choose((0.0, 1.0)))


@operator("ai.onnx.ml.LinearRegressor")
def linear(g: Builder, name: str) -> None:
    x, targets = table(g), g.integer(1, 3)
    weights = numbers(g, targets * x.shape[1], -1.0, 1.0)
    intercepts = numbers(g, targets, -1.0, 1.0) if g.maybe() else None
    add(g, name, x, coefficients=weights, intercepts=intercepts, targets=targets)


@operator("ai.onnx.ml.LinearClassifier")
def classifier(g: Builder, name: str) -> None:
    x, classes = table(g), g.integer(2, 4)
    g.nodes_results(
        name.removeprefix("ai.onnx.ml."),
        x,
        outputs=2,
        domain=_DOMAIN,
        coefficients=numbers(g, classes * x.shape[1], -1.0, 1.0),
        intercepts=numbers(g, classes, -1.0, 1.0),
        classlabels_ints=[3 * index - 4 for index in range(classes)],
        post_transform=g.choose((None, "NONE", "LOGISTIC", "SOFTMAX")),
    )


@operator("ai.onnx.ml.ArrayFeatureExtractor")
def extractor(g: Builder, name: str) -> None:
    x = table(g)
    add(g, name, x, g.operand("int64", (g.integer(1, 3),), 0, x.shape[1] - 1))


@operator("ai.onnx.ml.FeatureVectorizer")
def vectorizer(g: Builder, name: str) -> None:
    rows = g.integer(1, 3)
    parts = [g.operand("float32", (rows, g.integer(1, 4))) for _ in range(g.integer(1, 3))]
    add(g, name, *parts, inputdimensions=[part.shape[1] for part in parts])


@operator("ai.onnx.ml.OneHotEncoder")
def encoder(g: Builder, name: str) -> None:
    x = g.operand("int64", g.shape(g.integer(1, 2)), 0, 4)
    add(g, name, x, cats_int64s=[0, 1, 2, 3, 5], zeros=1)
