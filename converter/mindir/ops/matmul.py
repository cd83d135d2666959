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


@operator(200, inputs="x weight [bias]")
class Affine(Operator):
    """Splice followed by a matrix product."""

    context: Longs = longs(0)
    output_dim: int = long(1)
    activation_type: ActivationType = enum(2, ActivationType.NO_ACTIVATION)
    transpose_a: bool = boolean(3)
    transpose_b: bool = boolean(4)


@operator(32, inputs="q k v weights*", since_1_3=False)
class Attention(Operator):
    """Multi-head attention with its projections."""

    head_num: int = long(0)
    head_size: int = long(1)
    cross: bool = boolean(2)
    scale: float = real(3)
