"""Fully connected layers (InnerProduct)."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.matmul import FullConnection
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Blob, Call
from .registry import caffe_layer


def inner_product(call: Call, x: Value, shape: tuple[int, ...], axis: int, weight: Value, bias: Value | None) -> Value:
    """Emits a fully connected layer: the dimensions of x from `axis` on, flattened, times weight [out, in], plus
    bias."""
    features = prod(shape[axis:])
    rows = call.reshape(x, shape, (prod(shape[:axis]), features)) if axis == 1 else _rows(call, x, features)
    operands = [rows, weight] + ([] if bias is None else [bias])
    y = call.emit(FullConnection(has_bias=bias is not None), *operands)
    outputs = weight.shape[0] if weight.shape is not None else 1
    if axis == 1:
        return y
    return call.reshape(y, (prod(shape[:axis]), outputs), (*shape[:axis], outputs))


def _rows(call: Call, x: Value, features: int) -> Value:
    return call.emit(Reshape(), x, call.ints((-1, features)))


@caffe_layer("InnerProduct")
def inner_product_layer(call: Call) -> Blob:
    x, given = call.bottom(), call.parameter("inner_product")
    axis, outputs = call.axis(given.axis, x.rank), given.num_output
    features = prod(x.shape[axis:])
    if outputs < 1:
        raise call.block(f"{outputs} is not a valid number of outputs", attribute="num_output")
    weight = call.weight(0, (features, outputs) if given.transpose else (outputs, features))
    bias = call.const(call.weight(1, (outputs,))) if given.bias_term else None
    matrix = call.const(weight.T if given.transpose else weight)
    return Blob(inner_product(call, x.value, x.shape, axis, matrix, bias), (*x.shape[:axis], outputs))
