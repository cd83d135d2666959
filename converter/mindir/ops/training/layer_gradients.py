"""Gradients of layers, and layers of training. Those without a kernel are read and written, not run."""

from __future__ import annotations

from .._declare import Longs, Operator, boolean, enum, long, longs, operator, real
from ..enums import ActivationType, Format, PadMode, ResizeMethod


@operator(18, inputs="x y dy", outputs="dx", training=True)
class AvgPoolGrad(Operator):
    """Gradient of AvgPool."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad_mode: PadMode = enum(2, PadMode.PAD)
    format: Format = enum(3, Format.NCHW)


@operator(20, inputs="dy x scale saved_mean saved_variance [reserve]", outputs="dx dscale doffset", training=True)
class BatchNormGrad(Operator):
    """Gradient of batch normalization, channels last, with the mean and variance of the forward pass."""

    epsilon: float = real(0)
    is_training: bool = boolean(1)
    """the statistics were computed from x; else (default) they are constants. Files up to 1.3 do not have it: true"""


@operator(
    1902,
    inputs="x scale offset mean variance",
    outputs="y mean variance saved_mean saved_variance",
    layout="nhwc",
    training=True,
    custom_type="mslite.BatchNormTraining",
)
class BatchNormTraining(Operator):
    """FusedBatchNorm with the statistics of the batch, which are outputs for the gradient; updates the running
    statistics.

    Running statistics become (1 - momentum) * old + momentum * new, as in MindSpore Lite and PyTorch; in ONNX,
    momentum is the weight of the old value. The running variance is updated with the unbiased variance, or, if
    `biased`, with the biased variance, as MindSpore Lite does for matrices.
    """

    epsilon: float = real(0, 1e-5)
    momentum: float = real(1, 0.1)
    biased: bool = boolean(2)


@operator(26, inputs="dy", outputs="dbias", training=True)
class BiasAddGrad(Operator):
    """Gradient of BiasAdd."""


@operator(33, inputs="dy x [weight_shape]", outputs="dweight", training=True)
class Conv2DBackpropFilterFusion(Operator):
    """Gradient of a convolution with respect to its weight."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    stride: Longs = longs(2)
    dilation: Longs = longs(3)
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad_list: Longs = longs(5)
    mode: int = long(6)
    group: int = long(7)
    in_channel: int = long(8)
    out_channel: int = long(9)
    activation_type: ActivationType = enum(10, ActivationType.NO_ACTIVATION)


@operator(34, inputs="dy weight [shape]", outputs="dx", training=True)
class Conv2DBackpropInputFusion(Operator):
    """Gradient of a convolution with respect to its input."""

    format: Format = enum(0, Format.NCHW)
    kernel_size: Longs = longs(1)
    stride: Longs = longs(2)
    dilation: Longs = longs(3)
    pad_mode: PadMode = enum(4, PadMode.PAD)
    pad: Longs = longs(5)
    pad_list: Longs = longs(6)
    mode: int = long(7)
    group: int = long(8)
    in_channel: int = long(9)
    out_channel: int = long(10)
    activation_type: ActivationType = enum(11, ActivationType.NO_ACTIVATION)


@operator(43, inputs="dy x [weight_shape]", outputs="dweight", training=True)
class DeConv2DGradFilter(Operator):
    """Gradient of a transposed convolution with respect to its weight."""

    in_channel: int = long(0)
    out_channel: int = long(1)
    kernel_size: Longs = longs(2)
    pad_mode: PadMode = enum(3, PadMode.PAD)
    pad_list: Longs = longs(4)
    stride: Longs = longs(5)
    dilation: Longs = longs(6)
    group: int = long(7)
    format: Format = enum(8, Format.NCHW)
    activation_type: ActivationType = enum(9, ActivationType.NO_ACTIVATION)


@operator(49, inputs="x [seed]", outputs="y [mask] [seed]", training=True, onnx="Dropout", tensorflow="Dropout")
class Dropout(Operator):
    """The identity without a seed. With a seed, int32 [number, step], sets random elements to 0 and divides by
    keep_prob.

    The mask, 1 for kept elements, depends on the seed only; the output seed is that of the next step.
    """

    keep_prob: float = real(0, 0.5)


@operator(50, inputs="dy mask", outputs="dx", training=True)
class DropoutGrad(Operator):
    """Gradient of Dropout: dy mask / keep_prob."""

    keep_prob: float = real(0)


@operator(186, inputs="x dy variance mean gamma", outputs="dx [dgamma] [dbeta]", training=True)
class LayerNormGrad(Operator):
    """Gradient of LayerNorm. The epsilon must already be added to the variance that LayerNormFusion returns."""

    begin_norm_axis: int = long(0)
    begin_params_axis: int = long(1)


@operator(
    167,
    inputs="x hidden cell weight y hidden_out cell_out dy dhidden dcell [intermediate]",
    outputs="dx dhidden dcell dweight",
    training=True,
    since_1_3=False,
)
class LSTMGrad(Operator):
    """Gradient of LSTM with flat weights (four inputs). The gates are recomputed: `intermediate` is not read."""

    bidirectional: bool = boolean(0)
    has_bias: bool = boolean(1)
    input_size: int = long(2)
    hidden_size: int = long(3)
    num_layers: int = long(4)
    num_directions: int = long(5)
    dropout: float = real(6)
    zoneout_cell: float = real(7)
    zoneout_hidden: float = real(8)


@operator(
    204,
    inputs="y dy dhidden dcell weight hidden cell intermediate [unused]",
    outputs="dx dhidden dcell",
    training=True,
    since_1_3=False,
)
class LSTMGradData(Operator):
    """Gradient of an LSTM with flat weights with respect to its inputs; the gradients of the gates are written to
    `intermediate`."""

    bidirectional: bool = boolean(0)
    has_bias: bool = boolean(1)
    input_size: int = long(2)
    hidden_size: int = long(3)
    num_layers: int = long(4)
    num_directions: int = long(5)
    dropout: float = real(6)
    zoneout_cell: float = real(7)
    zoneout_hidden: float = real(8)


@operator(205, inputs="x hidden y intermediate [unused]", outputs="dweight", training=True, since_1_3=False)
class LSTMGradWeight(Operator):
    """Gradient of an LSTM with flat weights with respect to the weights, from the `intermediate` of LSTMGradData."""

    bidirectional: bool = boolean(0)
    has_bias: bool = boolean(1)
    input_size: int = long(2)
    hidden_size: int = long(3)
    num_layers: int = long(4)
    num_directions: int = long(5)
    dropout: float = real(6)
    zoneout_cell: float = real(7)
    zoneout_hidden: float = real(8)


@operator(93, inputs="x y dy", outputs="dx", training=True)
class MaxPoolGrad(Operator):
    """Gradient of MaxPool."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad_mode: PadMode = enum(2, PadMode.PAD)
    format: Format = enum(3, Format.NCHW)


@operator(187, inputs="dy size", outputs="dx", training=True)
class ResizeGrad(Operator):
    """Gradient of Resize."""

    method: ResizeMethod = enum(0, ResizeMethod.LINEAR)
    align_corners: bool = boolean(1)
