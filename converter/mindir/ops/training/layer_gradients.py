"""Gradients of layers; dropout, which is a layer of training. Those without a kernel are read and written, not run."""

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
    """Gradient of batch normalization, channels last, with the mean and the variance that it divided by."""

    epsilon: float = real(0)
    is_training: bool = boolean(1)
    """the statistics are those of x; otherwise, as where the file says nothing, constants. Files up to 1.3 cannot say it: they mean those of x"""


@operator(
    1902,
    inputs="x scale offset mean variance",
    outputs="y mean variance saved_mean saved_variance",
    layout="nhwc",
    training=True,
    custom_type="mslite.BatchNormTraining",
)
class BatchNormTraining(Operator):
    """FusedBatchNorm by the statistics of the batch, which y's gradient wants, and the running ones moved towards them.

    `momentum` weighs the new: running statistics become (1 - momentum) old + momentum new, as MindSpore Lite trains with
    FusedBatchNorm's and PyTorch does; that of ONNX weighs the old. The running variance is moved towards the unbiased one,
    unless `biased`, as MindSpore Lite does for matrices.
    """

    epsilon: float = real(0, 1e-5)
    momentum: float = real(1, 0.1)
    biased: bool = boolean(2)


@operator(26, inputs="dy", outputs="dbias", training=True)
class BiasAddGrad(Operator):
    """Gradient of BiasAdd."""


@operator(33, inputs="dy x [weight_shape]", outputs="dweight", training=True)
class Conv2DBackpropFilterFusion(Operator):
    """Gradient of a convolution for its weight."""

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
    """Gradient of a convolution for its input."""

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
    """Gradient of a transposed convolution for its weight."""

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
    """Without a seed the identity. With one, int32 [number, step], it zeroes random elements and divides by keep_prob.

    The mask, 1 where an element stays, depends on the seed alone; the seed that comes out is that of the next step.
    """

    keep_prob: float = real(0, 0.5)


@operator(50, inputs="dy mask", outputs="dx", training=True)
class DropoutGrad(Operator):
    """Gradient of Dropout: dy mask / keep_prob."""

    keep_prob: float = real(0)


@operator(186, inputs="x dy variance mean gamma", outputs="dx [dgamma] [dbeta]", training=True)
class LayerNormGrad(Operator):
    """Gradient of LayerNorm. It adds no epsilon: to the variance that LayerNormFusion gives it must be added before."""

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
    """Gradient of LSTM with flat weights (four operands). The gates are computed again: `intermediate` is not read."""

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
    """Gradient of an LSTM with flat weights for its data; the gradients of its gates take the place of `intermediate`."""

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
    """Gradient of an LSTM with flat weights for them, of what LSTMGradData left in `intermediate`."""

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
