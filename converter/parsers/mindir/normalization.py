"""Normalization, matmul and fully connected layers."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import normalization as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.matmul import MatMulFusion

from .call import Call
from .entries import Entry
from .generic import convert_same_operator, with_unsupported_results
from .layout import in_layout
from .registry import primitive


@primitive(
    "BatchNorm",
    "FusedBatchNormEx",
    operators="FusedBatchNorm BatchNorm",
    arguments="input scale bias mean variance is_training epsilon momentum data_format",
)
def batch_norm(call: Call) -> Entry:
    """Converts BatchNorm with scale, offset, mean and variance; with fewer operands, it is mslite's BatchNorm."""
    if len(call.entries) < 5 and call.operator == "BatchNorm":
        return convert_same_operator(call, ops.BatchNorm)
    if call.boolean("is_training") and not call.scope.session.trains:
        remedy = "Export the model for inference, with net.set_train(False)"
        raise call.block("batch statistics are unsupported at inference", remedy, "is_training")
    op = ops.FusedBatchNorm(epsilon=call.real("epsilon", 1e-5), momentum=call.real("momentum", 0.1), mode=0)
    return with_unsupported_results(call, in_layout(call, op, [call.input(index) for index in range(5)], 1))


@primitive(
    "LayerNorm", operators="LayerNormFusion", arguments="input_x gamma beta begin_norm_axis begin_params_axis epsilon"
)
def layer_norm(call: Call) -> Entry:
    op = ops.LayerNormFusion(
        begin_norm_axis=call.integer("begin_norm_axis", 1),
        begin_params_axis=call.integer("begin_params_axis", 1),
        epsilon=call.real("epsilon", 1e-7),
        elementwise_affine=True,
    )
    return with_unsupported_results(call, [call.emit(op, *(call.input(index) for index in range(3)))])


@primitive("GroupNorm", operators="GroupNormFusion", arguments="input num_groups weight bias eps")
def group_norm(call: Call) -> Value:
    """Converts GroupNorm of a tensor [batch, channels, ...]."""
    groups, weight, bias = call.integer("num_groups", 1), call.optional(2), call.optional(3)
    op = ops.GroupNormFusion(num_groups=groups, epsilon=call.real("eps", 1e-5), affine=weight is not None)
    if weight is None:
        return call.emit(op, call.input(0))
    bias = call.const(np.zeros(call.require_shape(weight, "GroupNorm"), np.float32)) if bias is None else bias
    return call.emit(op, call.input(0), weight, bias)


@primitive("L2Normalize", operators="L2NormalizeFusion", arguments="input_x axis epsilon")
def l2_normalize(call: Call) -> Value:
    op = ops.L2NormalizeFusion(axis=call.integers("axis") or (0,), epsilon=call.real("epsilon", 1e-4))
    return call.emit(op, call.input(0))


@primitive(
    "MatMul",
    "BatchMatMul",
    "MatMulExt",
    "BatchMatMulExt",
    "Mm",
    operators="MatMulFusion",
    arguments="input mat2 transpose_a transpose_b",
)
def matmul(call: Call) -> Value:
    op = MatMulFusion(
        transpose_a=call.boolean("transpose_a", False, "transpose_x1"),
        transpose_b=call.boolean("transpose_b", False, "transpose_x2"),
    )
    return call.emit(op, call.input(0), call.input(1))


@primitive("Dense", operators="MatMulFusion AddFusion", arguments="input weight bias")
def dense(call: Call) -> Value:
    product = call.emit(MatMulFusion(transpose_b=True), call.input(0), call.input(1))
    bias = call.optional(2)
    return product if bias is None else call.emit(AddFusion(), product, bias)
