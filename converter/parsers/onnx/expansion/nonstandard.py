"""Nonstandard operators that some exporters write in the standard domain."""

from __future__ import annotations

from .body import Body
from .formulas import gelu
from .registry import expands


@expands("logical_not", domain="")
def logical_not(body: Body) -> None:
    body.result(0, body.op("Not", body.input(0)))


@expands("GeLUFunction", domain="")
def gelu_function(body: Body) -> None:
    body.result(0, gelu(body, body.input(0)))


@expands("Lrn", domain="")
def local_response_normalization(body: Body) -> None:
    """LRN with another name."""
    alpha, beta = body.real("alpha", 0.0001), body.real("beta", 0.75)
    size = body.integer("size", 1)
    body.result(0, body.op("LRN", body.input(0), alpha=alpha, beta=beta, bias=body.real("bias", 1.0), size=size))


@expands("DynamicSlice", domain="")
def dynamic_slice(body: Body) -> None:
    """Inputs: data, starts, ends, axes, steps, as in Slice since operator set 10."""
    body.result(0, body.op("Slice", *(body.input(index) for index in range(len(body.node.input)))))


@expands("Splice", domain="")
def splice(body: Body) -> None:
    """x [batch, rows, columns]: gathers the rows `forward_indexes` and concatenates each group of len(context) rows."""
    context, rows = body.integers("context") or (), body.integers("forward_indexes") or ()
    body.ignore("output_dim")
    if not context or not rows or len(rows) % len(context):
        reason = f"{len(rows)} rows are not a multiple of {len(context)}, the length of the context"
        raise body.block(reason, "Export the model with the indices of the rows", "forward_indexes")
    chosen = body.op("Gather", body.input(0), body.ints(*rows), axis=1)
    body.result(0, body.reshape(chosen, 0, len(rows) // len(context), -1))
