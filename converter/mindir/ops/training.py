"""Gradients, losses, optimisers and collectives. Those without a kernel are read and written, not run."""

from __future__ import annotations

from ._declare import (
    Longs,
    Operator,
    boolean,
    enum,
    integer,
    long,
    longs,
    operator,
    real,
    text,
)
from .enums import ActivationType, Format, PadMode, ReduceMode, Reduction, ResizeMethod


@operator(3, inputs="dy x", outputs="dx", training=True)
class ActivationGrad(Operator):
    """Gradient of Activation, by dy and x (ELU: y; the ReLU family: either); SIGMOID and TANH read y, then dy."""

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)
    alpha: float = real(1)


@operator(183, inputs="x dy", outputs="dx", training=True)
class AbsGrad(Operator):
    """Gradient of Abs."""


@operator(
    4,
    inputs="weight m v beta1_power beta2_power learning_rate beta1 beta2 epsilon gradient",
    outputs="weight [m] [v]",
    training=True,
)
class Adam(Operator):
    """Adam optimiser step. Kernels want all results: MindSpore's files, where it changes operands, are rewritten so."""

    use_locking: bool = boolean(0)
    use_nesterov: bool = boolean(1)


@operator(
    220,
    inputs="weight m v learning_rate beta1 beta2 epsilon decay gradient",
    outputs="weight [m] [v]",
    training=True,
    since_1_3=False,
)
class AdamWeightDecay(Operator):
    """Adam step with decoupled weight decay. Kernels want all results."""

    use_locking: bool = boolean(0)


@operator(7, inputs="dy a b", outputs="da db", training=True)
class AddGrad(Operator):
    """Gradient of Add."""


@operator(201, training=True, since_1_3=False)
class AllGather(Operator):
    """Gathers a tensor from all devices."""

    group: str | None = text(0)
    rank_size: int = integer(1)


@operator(
    10, inputs="weight accumulator learning_rate gradient momentum", outputs="weight [accumulator]", training=True
)
class ApplyMomentum(Operator):
    """Momentum optimiser step. Kernels want all results."""

    use_nesterov: bool = boolean(0)
    use_locking: bool = boolean(1)
    gradient_scale: float = real(2)


@operator(14, inputs="variable value", outputs="variable", training=True)
class Assign(Operator):
    """Sets a variable."""


@operator(15, inputs="variable value", outputs="variable", training=True)
class AssignAdd(Operator):
    """Adds to a variable."""


@operator(18, inputs="x y dy", outputs="dx", training=True)
class AvgPoolGrad(Operator):
    """Gradient of AvgPool."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad_mode: PadMode = enum(2, PadMode.PAD)
    format: Format = enum(3, Format.NCHW)


@operator(20, inputs="dy x scale saved_mean saved_variance reserve", outputs="dx dscale doffset", training=True)
class BatchNormGrad(Operator):
    """Gradient of BatchNorm."""

    epsilon: float = real(0)
    is_training: bool = boolean(1)


@operator(26, inputs="dy", outputs="dbias", training=True)
class BiasAddGrad(Operator):
    """Gradient of BiasAdd."""


@operator(24, inputs="logits labels [weight]", outputs="loss", training=True)
class BinaryCrossEntropy(Operator):
    """Binary cross entropy loss."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(25, inputs="logits labels dloss [weight]", outputs="dx", training=True)
class BinaryCrossEntropyGrad(Operator):
    """Gradient of BinaryCrossEntropy."""

    reduction: Reduction = enum(0, Reduction.MEAN)


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


@operator(48, inputs="dy a b", outputs="da db", training=True)
class DivGrad(Operator):
    """Gradient of Div."""


@operator(49, outputs="y [mask]", training=True, onnx="Dropout", tensorflow="Dropout")
class Dropout(Operator):
    """Zeroes random elements in training; the identity in inference."""

    keep_prob: float = real(0, 0.5)


@operator(50, inputs="dy mask", outputs="dx", training=True)
class DropoutGrad(Operator):
    """Gradient of Dropout."""

    keep_prob: float = real(0)


@operator(62, inputs="dy shape", outputs="dx", training=True)
class FlattenGrad(Operator):
    """Gradient of Flatten."""


@operator(186, inputs="x dy variance mean gamma", outputs="dx dgamma dbeta", training=True)
class LayerNormGrad(Operator):
    """Gradient of LayerNorm."""

    begin_norm_axis: int = long(0)
    begin_params_axis: int = long(1)


@operator(80, inputs="dy x", outputs="dx", training=True)
class LogGrad(Operator):
    """Gradient of Log."""


@operator(
    167,
    inputs="x hidden cell weight y hidden_out cell_out dy dhidden dcell intermediate",
    outputs="dx dhidden dcell dweight",
    training=True,
    since_1_3=False,
)
class LSTMGrad(Operator):
    """Gradient of LSTM."""

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
    """Gradient of an LSTM for its data."""

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
    """Gradient of an LSTM for its weights."""

    bidirectional: bool = boolean(0)
    has_bias: bool = boolean(1)
    input_size: int = long(2)
    hidden_size: int = long(3)
    num_layers: int = long(4)
    num_directions: int = long(5)
    dropout: float = real(6)
    zoneout_cell: float = real(7)
    zoneout_hidden: float = real(8)


@operator(91, inputs="a b dy", outputs="da db", training=True)
class MaximumGrad(Operator):
    """Gradient of Maximum."""

    grad_x: bool = boolean(0)
    grad_y: bool = boolean(1)


@operator(93, inputs="x y dy", outputs="dx", training=True)
class MaxPoolGrad(Operator):
    """Gradient of MaxPool."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    pad_mode: PadMode = enum(2, PadMode.PAD)
    format: Format = enum(3, Format.NCHW)


@operator(97, inputs="a b dy", outputs="da db", training=True)
class MinimumGrad(Operator):
    """Gradient of Minimum."""

    grad_x: bool = boolean(0)
    grad_y: bool = boolean(1)


@operator(100, inputs="dy a b", outputs="da db", training=True)
class MulGrad(Operator):
    """Gradient of Mul."""


@operator(102, inputs="dy", outputs="dx", training=True)
class NegGrad(Operator):
    """Gradient of Neg."""


@operator(207, inputs="log_probabilities labels weights", outputs="loss total_weight", training=True, since_1_3=False)
class NLLLoss(Operator):
    """Negative log likelihood loss."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(
    208, inputs="log_probabilities dloss labels weights total_weight", outputs="dx", training=True, since_1_3=False
)
class NLLLossGrad(Operator):
    """Gradient of NLLLoss."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(109, inputs="dy x", outputs="dx", training=True)
class PowerGrad(Operator):
    """Gradient of Power."""

    power: float = real(0)
    scale: float = real(1)
    shift: float = real(2)


@operator(202, training=True, since_1_3=False)
class ReduceScatter(Operator):
    """Reduces over devices and scatters the result."""

    group: str | None = text(0)
    mode: ReduceMode = enum(1, ReduceMode.ReduceMean)
    rank_size: int = integer(2)


@operator(187, inputs="dy size", outputs="dx", training=True)
class ResizeGrad(Operator):
    """Gradient of Resize."""

    method: ResizeMethod = enum(0, ResizeMethod.LINEAR)
    align_corners: bool = boolean(1)


@operator(184, inputs="y dy", outputs="dx", training=True)
class RsqrtGrad(Operator):
    """Gradient of Rsqrt."""


@operator(
    129,
    inputs="weight gradient learning_rate accumulator momentum stat",
    outputs="weight [accumulator] [stat]",
    training=True,
)
class SGD(Operator):
    """Stochastic gradient descent step; at the first (stat > 0) the accumulator is the gradient. Kernels want all results."""

    nesterov: bool = boolean(0)
    dampening: float = real(1)
    weight_decay: float = real(2)


@operator(131, inputs="logits labels", outputs="loss", training=True)
class SigmoidCrossEntropyWithLogits(Operator):
    """Sigmoid cross entropy loss."""


@operator(132, inputs="logits labels dloss", outputs="dx", training=True)
class SigmoidCrossEntropyWithLogitsGrad(Operator):
    """Gradient of SigmoidCrossEntropyWithLogits."""


@operator(136, inputs="prediction target", outputs="loss", training=True)
class SmoothL1Loss(Operator):
    """Smooth L1 (Huber) loss."""

    beta: float = real(0)


@operator(137, inputs="prediction target dloss", outputs="dx", training=True)
class SmoothL1LossGrad(Operator):
    """Gradient of SmoothL1Loss."""

    beta: float = real(0)


@operator(139, inputs="logits labels", outputs="loss [dlogits]", training=True)
class SoftmaxCrossEntropyWithLogits(Operator):
    """Softmax cross entropy loss."""


@operator(143, inputs="logits labels", outputs="loss", training=True)
class SparseSoftmaxCrossEntropyWithLogits(Operator):
    """Softmax cross entropy loss with integer labels."""

    is_grad: bool = boolean(0)


@operator(185, inputs="y dy", outputs="dx", training=True)
class SqrtGrad(Operator):
    """Gradient of Sqrt."""


@operator(179, inputs="dy shape begin end strides", outputs="dx", training=True)
class StridedSliceGrad(Operator):
    """Gradient of StridedSlice."""

    begin_mask: int = long(0)
    end_mask: int = long(1)
    ellipsis_mask: int = long(2)
    new_axis_mask: int = long(3)
    shrink_axis_mask: int = long(4)


@operator(153, inputs="dy a b", outputs="da db", training=True)
class SubGrad(Operator):
    """Gradient of Sub."""
