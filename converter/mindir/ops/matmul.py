"""Matrix products."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, enum, long, longs, operator, real
from .enums import ActivationType


@operator(
    89,
    inputs="a b [bias]",
    since_1_3=False,
    tflite="BATCH_MATMUL",
    onnx="MatMul Gemm",
    tensorflow="BatchMatMul BatchMatMulV2 MatMul",
)
class MatMulFusion(Operator):
    """Batched matrix product with broadcast batch dimensions, bias and activation."""

    transpose_a: bool = boolean(0)
    transpose_b: bool = boolean(1)
    activation_type: ActivationType = enum(2, ActivationType.NO_ACTIVATION)


@operator(67, inputs="x weight [bias]", tflite="FULLY_CONNECTED FAKE_QUANT", caffe="InnerProduct")
class FullConnection(Operator):
    """Fully connected layer; weight [out, in]."""

    has_bias: bool = boolean(0)
    use_axis: bool = boolean(1)
    axis: int = long(2)
    activation_type: ActivationType = enum(3, ActivationType.NO_ACTIVATION)


@operator(200, inputs="x weight [bias] [previous]")
class Affine(Operator):
    """Splice followed by a matrix product. `previous`, the result of the run before, is not needed."""

    context: Longs = longs(0)
    output_dim: int = long(1)
    activation_type: ActivationType = enum(2, ActivationType.NO_ACTIVATION)
    transpose_a: bool = boolean(3)
    transpose_b: bool = boolean(4)


@operator(32, inputs="q k v weights*", outputs="y [keys] [values]", since_1_3=False)
class Attention(Operator):
    """Multi-head attention with its projections. The operands behind q, k and v are, weights [in, out]:

    weight of q, k, v side by side, weight of the output, then bias of q, k, v and bias of the output, or what is added
    to the products of q and k [1 or batch, heads, q rows, k rows]; last the mask [batch, q rows, k rows], 1 where a row
    may look. `cross`: the weight of q stands before that of k and v. With 11 or 15 operands: relative positions, weights
    of q, k, v and positions, u, v [heads, size], weight of the output, biases of q, k, v and the output.
    """

    head_num: int = long(0)
    head_size: int = long(1)
    cross: bool = boolean(2)
    """the weight of q is an operand of its own"""
    scale: float = real(3)
    """of the products; 0: 1 / sqrt(head_size), or 1 where something is added to them"""


# ---- of mslite: products of integers whose scales and zero points are known at run time ----


@operator(
    1220,
    inputs="a b a_zero b_zero [scale] [bias] [row_scale]",
    onnx="MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul",
    custom_type="mslite.MatMulInteger",
)
class MatMulInteger(Operator):
    """Batched product (a - a_zero) (b - b_zero) of 8-bit integers, signed or unsigned, in int32; sums wrap.

    a_zero: one, or one per row of a; b_zero: one, or one per column of b. With a scale (one, or one per column) the
    result is float32: the sum rounded to float32, times scale [* row_scale, one per a_zero], plus the bias of each column.
    """
