"""Operators of onnxruntime that ONNX has in another form, or since a later operator set."""

from __future__ import annotations

from .body import Body
from .registry import expands


@expands("ExpandDims")
def expand_dims(body: Body) -> None:
    axis = body.contents(body.input(1))
    if axis is None or axis.size != 1:
        raise body.block("the axis is computed at run time", "Give it as a constant")
    place = int(axis.reshape(-1)[0])
    if place < 0 and body.version < 11:
        place += body.rank(body.input(0)) + 1
    body.result(0, body.unsqueeze(body.input(0), place))


@expands("GatherND")
def gather_nd(body: Body) -> None:
    body.standard()


@expands("Range")
def range_operator(body: Body) -> None:
    """The step is optional."""
    if body.has_input(2):
        body.standard()
    else:
        start = body.input(0)
        body.result(0, body.op("Range", start, body.input(1), body.number(1, start)))


@expands("Trilu")
def trilu(body: Body) -> None:
    body.standard(upper=body.integer("upper", 1))


@expands("GridSample")
def grid_sample(body: Body) -> None:
    """Same names of the modes as in operator set 16; version 20 changed them."""
    mode = body.text("mode", "bilinear")
    if body.version >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    body.standard(
        mode=mode, padding_mode=body.text("padding_mode", "zeros"), align_corners=body.integer("align_corners")
    )


@expands("Pad")
def pad(body: Body) -> None:
    body.standard(mode=body.text("mode", "constant"))


@expands("Unique")
def unique(body: Body) -> None:
    """Outputs: distinct elements in order of first occurrence, the index in these per element, and their counts."""
    values, _, inverse, counts = body.many("Unique", [body.input(0)], 4, sorted=0)
    for index, name in enumerate((values, inverse, counts)):
        body.result(index, name)


@expands("CDist")
def pairwise_distances(body: Body) -> None:
    """Returns |a_i - b_j|^2 = |a_i|^2 + |b_j|^2 - 2 a_i b_j of rows, or its square root."""
    a, b, metric = body.input(0), body.input(1), body.text("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean"):
        raise body.block(f"'{metric}' is not supported", "Use sqeuclidean or euclidean", "metric")
    rows = body.total(body.op("Mul", a, a), 1)
    columns = body.transpose(body.total(body.op("Mul", b, b), 1), 1, 0)
    product = body.op("MatMul", a, body.transpose(b, 1, 0))
    twice = body.op("Mul", product, body.number(2.0, a, b))
    squares = body.op("Sub", body.op("Add", rows, columns), twice)
    squares = body.op("Max", squares, body.number(0.0, a, b))
    body.result(0, body.op("Sqrt", squares) if metric == "euclidean" else squares)


@expands("SampleOp")
def sample(body: Body) -> None:
    body.result(0, body.input(0))
