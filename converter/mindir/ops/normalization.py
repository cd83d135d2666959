"""Normalizations."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, enum, long, longs, operator, real, text
from .enums import ActivationType, Format


@operator(19, inputs="x mean variance [scale_factor]", layout="nhwc", caffe="BatchNorm")
class BatchNorm(Operator):
    """(x - mean) / sqrt(variance + epsilon), per channel."""

    epsilon: float = real(0)
    format: Format = enum(1, Format.NCHW)
    is_training: bool = boolean(2)


@operator(
    68,
    inputs="x scale offset mean variance",
    outputs="y [mean] [variance] [saved_mean] [saved_variance]",
    layout="nhwc",
    onnx="BatchNormalization",
    tensorflow="FusedBatchNormV3 FusedBatchNorm",
)
class FusedBatchNorm(Operator):
    """Batch normalization with scale and offset, channels last. In training, the other outputs are those of
    BatchNormTraining."""

    epsilon: float = real(0, 0.0001)
    momentum: float = real(1, 0.9)
    mode: int = long(2)


@operator(74, inputs="x gamma beta", layout="nchw", onnx="InstanceNormalization")
class InstanceNorm(Operator):
    """Normalizes over the pixels of each image and channel, NCHW."""

    epsilon: float = real(0)


@operator(1051, inputs="x gamma beta", layout="nhwc", custom_type="mslite.ChannelsLastInstanceNorm")
class ChannelsLastInstanceNorm(Operator):
    """InstanceNorm in NHWC. Files contain Transposes around an InstanceNorm instead."""

    epsilon: float = real(0)


@operator(211, inputs="x [gamma] [beta]", since_1_3=False)
class GroupNormFusion(Operator):
    """Normalizes over groups of channels, NCHW."""

    num_groups: int = long(0)
    epsilon: float = real(1, 1e-05)
    affine: bool = boolean(2, True)


@operator(
    75, inputs="x [gamma] [beta]", outputs="y [mean] [variance]", onnx="LayerNormalization FusedLayerNormAffineFunction"
)
class LayerNormFusion(Operator):
    """Normalizes over the dimensions from begin_norm_axis on."""

    begin_norm_axis: int = long(0)
    epsilon: float = real(1, 1e-05)
    elementwise_affine: bool = boolean(2)
    begin_params_axis: int = long(3)


@operator(88, layout="axis", tflite="L2_NORMALIZATION")
class L2NormalizeFusion(Operator):
    """x / sqrt(max(sum(x^2), epsilon)) over `axis`."""

    axis: Longs = longs(0)
    epsilon: float = real(1)
    activation_type: ActivationType = enum(2, ActivationType.NO_ACTIVATION)


@operator(84, layout="axis", onnx="LpNormalization")
class LpNormalization(Operator):
    """x divided by its Lp norm along `axis`."""

    axis: int = long(0)
    p: int = long(1)


@operator(85, layout="nhwc", tflite="LOCAL_RESPONSE_NORMALIZATION", onnx="Lrn LRN")
class LRN(Operator):
    """Local response normalization across channels."""

    depth_radius: int = long(0)
    bias: float = real(1)
    alpha: float = real(2)
    beta: float = real(3)
    norm_region: str | None = text(4)


@operator(1050, inputs="x [gamma]", onnx="RMSNormalization", custom_type="mslite.RmsNorm")
class RmsNorm(Operator):
    """x / sqrt(mean(x^2) + epsilon) over the dimensions from `axis` on, times gamma."""

    axis: int = long(0, -1)
    epsilon: float = real(1, 1e-05)
