"""Reductions and scans along axes."""

from __future__ import annotations

from ._declare import Operator, boolean, enum, long, operator, real
from .enums import ReduceMode


@operator(
    118,
    inputs="x [axes]",
    tflite="SUM MEAN REDUCE_MAX REDUCE_MIN REDUCE_PROD",
    onnx="ReduceMean ReduceMax ReduceMin ReduceProd ReduceSum ReduceSumSquare ReduceL2 ReduceL1 ReduceLogSum ReduceLogSumExp",
    tensorflow="Sum Max Min Mean Prod All",
    caffe="Reduction",
)
class ReduceFusion(Operator):
    """Reduction over `axes` (default: all) with the function of `mode`."""

    keep_dims: bool = boolean(0)
    mode: ReduceMode = enum(1, ReduceMode.ReduceMean)
    reduce_to_end: bool = boolean(2)
    coeff: float = real(3)


@operator(9, inputs="x [axes]")
class All(Operator):
    """Logical AND over axes."""

    keep_dims: int = long(0)


@operator(
    11, outputs="index [value]", layout="axis", tflite="ARG_MAX", onnx="ArgMax", tensorflow="ArgMax", caffe="ArgMax"
)
class ArgMaxFusion(Operator):
    """Index of the largest elements along `axis`."""

    axis: int = long(0)
    top_k: int = long(1, 1)
    keep_dims: bool = boolean(2)
    out_max_value: bool = boolean(3)


@operator(12, outputs="index [value]", layout="axis", tflite="ARG_MIN", onnx="ArgMin", tensorflow="ArgMin")
class ArgMinFusion(Operator):
    """Index of the smallest elements along `axis`."""

    axis: int = long(0)
    top_k: int = long(1)
    keep_dims: bool = boolean(2)
    out_max_value: bool = boolean(3)


@operator(192, inputs="x axis", onnx="CumSum", tensorflow="Cumsum")
class CumSum(Operator):
    """Cumulative sum along `axis`."""

    exclusive: bool = boolean(0)
    reverse: bool = boolean(1)


@operator(161, inputs="x k", outputs="value index", tflite="TOPK_V2", onnx="TopK", tensorflow="TopKV2")
class TopKFusion(Operator):
    """The k largest (or smallest) elements along `axis`."""

    sorted: bool = boolean(0, True)
    axis: int = long(1)
    largest: int = long(2)
    """1: the largest; negative: the smallest (mslite only; MindSpore Lite always returns the largest)"""


@operator(164, inputs="x segment_ids num_segments")
class UnsortedSegmentSum(Operator):
    """Sums rows that share a segment id."""


# ---- mslite's operators ----


@operator(1060, inputs="x [axes]", onnx="ReduceLogSumExp", custom_type="mslite.ReduceLogSumExp")
class ReduceLogSumExp(Operator):
    """log(sum(exp(x))) over `axes` (default: all); the maximum is subtracted first."""

    keep_dims: bool = boolean(0)


@operator(1061, inputs="x axis", onnx="CumProd", tensorflow="Cumprod", custom_type="mslite.CumProd")
class CumProd(Operator):
    """Cumulative product along `axis`."""

    exclusive: bool = boolean(0)
    reverse: bool = boolean(1)
