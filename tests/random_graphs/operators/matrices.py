"""Matmuls."""

from __future__ import annotations

from ..builder import Builder
from ..evaluate import Rejected
from ..values import FLOATS, Value
from .registry import operator

_PRODUCTS = ("float32", "float32", "int32", "int64", "float16", "float64")


def matrix(g: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """Returns the other operand: an existing value, a constant, or a graph input."""
    fits = [v for v in reversed(g.values) if v.dtype == x.dtype and v.shape == shape]
    if fits and g.maybe():
        return g.choose(fits)
    return g.operand(x.dtype, shape, *((-0.7, 0.7) if x.dtype in FLOATS else (0, 3)))


@operator("MatMul")
def matmul(g: Builder, name: str) -> None:
    x = g.pick(_PRODUCTS, low=1, where=lambda v: v.size > 0)
    left = g.maybe(3)
    inner = x.shape[0] if x.rank == 1 else x.shape[-2] if left else x.shape[-1]
    axis = 0 if x.rank == 1 else x.rank - 2 if left else x.rank - 1
    if not x.fixed(axis):
        raise Rejected("an open axis")
    batch = x.shape[:-2]
    how = g.integer(0, 4)
    if not x.fixed_shape:
        how = min(how, 1)
    lead = ((), (1,) * len(batch), batch, tuple(n if g.maybe() else 1 for n in batch), batch[1:])[how]
    free = g.choose((3, 1, 2, 8, 5, 16))
    if how == 0 and g.maybe(5):
        other = matrix(g, x, (inner,))
    else:
        other = matrix(g, x, (*lead, free, inner) if left else (*lead, inner, free))
    g.node(name, *((other, x) if left else (x, other)))


@operator("Gemm")
def gemm(g: Builder, name: str) -> None:
    a = g.pick(("float32", "float32", "float64", "float16", "int32"), 2, 2, where=lambda v: v.size > 0)
    trans_a, trans_b = g.choose((None, 1)), g.choose((None, 1))
    rows, inner = a.shape[::-1] if trans_a else a.shape
    if not a.fixed(0 if trans_a else 1):
        raise Rejected("an open axis")
    columns = g.choose((4, 1, 3, 8, 10))
    b = matrix(g, a, (columns, inner) if trans_b else (inner, columns))
    shapes = [(columns,), (1, columns), (), (1,), (1, 1)]
    if a.fixed_shape:
        shapes += [(rows, 1), (rows, columns)]
    c = g.operand(a.dtype, g.choose(shapes)) if g.opset < 11 or g.maybe() else None
    alpha, beta = g.choose((None, 0.5, 1.0)), g.choose((None, 2.0, 1.0, 0.25))
    g.node(name, a, b, c, transA=trans_a, transB=trans_b, alpha=alpha, beta=beta)


_EQUATIONS = (
    "ij,jk->ik", "bij,bjk->bik", "ij,kj->ik", "ij->ji", "ij->i", "ii->i", "ij,ij->", "i,j->ij", "bij,bkj->bik", "ijk->kij",
    "bhid,bhjd->bhij", "...ij,...jk->...ik", "ij,jk", "abc,cd->abd", "bi,bj->bij", "ij,j->i", "ijk,ikl,il->ij", "ii", "bii->b",
)  # fmt: skip


@operator("Einsum", since=12)
def einsum(g: Builder, name: str) -> None:
    equation = g.choose(_EQUATIONS)
    sizes = {letter: g.integer(1, 5) for letter in equation if letter.isalpha()}
    dtype = g.choose(("float32", "float32", "float64", "int32"))
    lead = g.shape(g.integer(0, 2)) if "..." in equation else ()
    operands = []
    for term in equation.partition("->")[0].split(","):
        shape = (*lead, *(sizes[letter] for letter in term.replace("...", "")))
        fits = [v for v in reversed(g.values) if v.dtype == dtype and v.shape == shape]
        operands.append(g.choose(fits) if fits and g.maybe() else g.operand(dtype, shape))
    g.node(name, *operands, equation=equation)


@operator("Det")
def determinant(g: Builder, name: str) -> None:
    size = g.integer(1, 4)
    g.node(name, g.input("float32", (*g.shape(g.integer(0, 2)), size, size)))


@operator("MatMulInteger", "ConvInteger")
def integer_product(g: Builder, name: str) -> None:
    kinds = g.choose(("uint8", "int8")), g.choose(("uint8", "int8"))
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    if name == "MatMulInteger":
        shapes = (g.integer(1, 5), inner := g.integer(1, 9)), (inner, g.integer(1, 6))
    else:
        channels = g.integer(1, 4)
        shapes = (1, channels, g.integer(3, 6), g.integer(3, 6)), (g.integer(1, 4), channels, 3, g.integer(1, 3))
        kinds = (kinds[0], "uint8" if kinds[0] == "uint8" else "int8")
    x = g.input(kinds[0], shapes[0])
    y = g.operand(kinds[1], shapes[1])
    zeros = [g.constant(g.integer(0, 5), kind) if g.maybe() else None for kind in kinds]
    g.node(name, x, y, *zeros)
