"""Operators that graph optimizers write."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .registry import IMAGE, case, raw, weight


def _created(operator: str, inputs: list[Any], **attributes: Any) -> Any:
    """Adds a node of an operator without Python function; attributes are bytes, lists of bytes or int, or floats."""
    from tensorflow.core.framework import attr_value_pb2

    values = {"T": attr_value_pb2.AttrValue(type=inputs[0].dtype.as_datatype_enum)}
    for name, given in attributes.items():
        value = values[name] = attr_value_pb2.AttrValue()
        if isinstance(given, bytes):
            value.s = given
        elif isinstance(given, int):
            value.i = given
        elif isinstance(given, float):
            value.f = given
        else:
            field = value.list.s if isinstance(given[0], bytes) else value.list.i
            field.extend(given)
    if operator == "_FusedConv2D":
        values["num_host_args"] = attr_value_pb2.AttrValue(i=0)
        values["TArgs"] = attr_value_pb2.AttrValue()
        values["TArgs"].list.type.extend(value.dtype.as_datatype_enum for value in inputs[2:])
    graph = tf.compat.v1.get_default_graph()
    return graph.create_op(operator, inputs, [inputs[0].dtype], attrs=values, name="fused").outputs[0]


for steps in (["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "LeakyRelu"]):
    label = "_".join(steps).lower()
    case(f"fused_conv2d_{label}", IMAGE)(
        lambda x, steps=steps: _created(
            "_FusedConv2D",
            [x, weight(3, 3, 3, 4), weight(4)],
            num_args=1,
            strides=[1, 2, 2, 1],
            padding=b"SAME",
            fused_ops=[step.encode() for step in steps],
            leakyrelu_alpha=0.3,
        )
    )
    case(f"fused_matmul_{label}", (2, 5))(
        lambda x, steps=steps: _created(
            "_FusedMatMul",
            [x, weight(5, 3), weight(3)],
            num_args=1,
            fused_ops=[step.encode() for step in steps],
            leakyrelu_alpha=0.3,
        )
    )
case("fused_conv2d_batch_norm", IMAGE)(
    lambda x: _created(
        "_FusedConv2D",
        [x, weight(3, 3, 3, 4), weight(4), weight(4) * 2, weight(4) * 3, tf.abs(weight(4)) + 0.2],
        num_args=4,
        strides=[1, 1, 1, 1],
        padding=b"VALID",
        fused_ops=[b"FusedBatchNorm", b"Relu6"],
        epsilon=0.01,
    )
)
case("fused_pad_conv2d", IMAGE)(
    lambda x: raw.FusedPadConv2D(
        input=x,
        paddings=[[0, 0], [1, 2], [2, 1], [0, 0]],
        filter=weight(3, 3, 3, 4),
        mode="REFLECT",
        strides=[1, 1, 1, 1],
        padding="VALID",
    )
)
case("formats", np.array([1, 5, 6, 3], np.int32), np.array([-1, 2], np.int32))(
    lambda x, d: (
        raw.DataFormatVecPermute(x=x, src_format="NHWC", dst_format="NCHW"),
        raw.DataFormatVecPermute(x=x, src_format="NCHW", dst_format="NHWC"),
        raw.DataFormatDimMap(x=d, src_format="NHWC", dst_format="NCHW"),
    )
)
case("approximately", (2, 3), (2, 3))(lambda a, b: raw.ApproximateEqual(x=a, y=b, tolerance=0.7))
