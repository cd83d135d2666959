"""Recurrent layers."""

from __future__ import annotations

from ._declare import Floats, Ints, Operator, boolean, integers, long, operator, real, reals, text


@operator(
    87, inputs="x weight_input weight_hidden [bias] [hidden] [cell] [projection]", outputs="y hidden cell", onnx="LSTM"
)
class LSTM(Operator):
    """LSTM over a sequence, gates in the order i o f c."""

    bidirectional: bool = boolean(0)
    has_bias: bool = boolean(1)
    input_size: int = long(2)
    hidden_size: int = long(3)
    num_layers: int = long(4)
    num_directions: int = long(5)
    dropout: float = real(6)
    zoneout_cell: float = real(7)
    zoneout_hidden: float = real(8)
    proj_size: int = long(9)


@operator(172, inputs="x weight_input weight_hidden bias hidden [sequence_lengths]", outputs="y hidden", onnx="GRU")
class GRU(Operator):
    """GRU over a sequence, gates in the order z r h."""

    bidirectional: bool = boolean(0)


@operator(
    1110,
    inputs="x weight_input weight_hidden [bias] [sequence_lengths] [initial_hidden]",
    outputs="y hidden",
    onnx="RNN",
    tflite="UNIDIRECTIONAL_SEQUENCE_RNN RNN",
    custom_type="mslite.RNN",
)
class RNNSequence(Operator):
    """ONNX RNN. Optional inputs are in the declared order; the `has_...` attributes mark those that are given."""

    direction: str | None = text(0)
    """`forward` (default), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks; default for each direction: `Tanh`"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """limit of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input], and also the states and y"""
    has_bias: bool = boolean(6)
    has_sequence_lengths: bool = boolean(7)
    has_initial_hidden: bool = boolean(8)
    rounding: int = long(9)
    """quantization of the hidden state to 8 bits before each matmul: 0 none, 1 symmetric, 2 asymmetric, as
    `DynamicQuant`;
    3 as `DynamicQuantizeLinear`"""


@operator(
    1111,
    inputs=(
        "x weight_input weight_hidden [bias] [sequence_lengths] [initial_hidden] [initial_cell] [peepholes]"
        " [projection] [projection_bias] [normalization]"
    ),
    outputs="y hidden cell",
    onnx="LSTM",
    tflite="UNIDIRECTIONAL_SEQUENCE_LSTM LSTM",
    custom_type="mslite.LSTM",
)
class LSTMSequence(Operator):
    """ONNX LSTM (gates i o f c) with an optional projection [directions, projected, hidden] of the hidden state.

    Optional inputs are in the declared order; the `has_...` attributes mark those that are given.
    """

    direction: str | None = text(0)
    """`forward` (default), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks; default for each direction: `Sigmoid Tanh Tanh`"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """limit of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input], and also the states and y"""
    input_forget: bool = boolean(6)
    """the forget gate is 1 - the input gate"""
    cell_clip: float = real(7)
    """limit of the cell state; 0: none"""
    projection_clip: float = real(8)
    """limit of the projected hidden state; 0: none"""
    has_bias: bool = boolean(9)
    has_sequence_lengths: bool = boolean(10)
    has_initial_hidden: bool = boolean(11)
    has_initial_cell: bool = boolean(12)
    has_peepholes: bool = boolean(13)
    has_projection: bool = boolean(14)
    has_projection_bias: bool = boolean(15)
    has_normalization: bool = boolean(16)
    """each gate's pre-activations are normalized over the units of the gate and multiplied by `normalization`
    [directions, 4 * hidden]; the bias is added afterwards"""
    hidden_scale: float = real(17)
    """quantized: scale of the hidden state before the projection. Constants then have one scale for each unit of each
    gate, on
    dimension 1; within a gate only the scales of the weights of x and of the hidden state differ."""
    hidden_zero_point: int = long(18)
    gate_scales: Floats = reals(19)
    """quantized, with normalization: scales of the gates' pre-activations, i o f c. With 8-bit matmul results, three
    for each gate:
    of the sum, of the matmul with x and of the matmul with the hidden state."""
    input_is_rest: bool = boolean(20)
    """quantized: the input gate is 1 - the forget gate; its weights are ignored"""
    gate_zero_points: Ints = integers(21)
    """quantized: zero points of 8-bit matmul results, in the order of `gate_scales`"""
    rounding: int = long(22)
    """quantization of the hidden state, and of the input of the projection, to 8 bits before each matmul: 0 none, 1
    symmetric,
    2 asymmetric, as `DynamicQuant`; 3 as `DynamicQuantizeLinear`"""
    whole_sums: bool = boolean(23)
    """quantized: a gate's matmuls with x and with the hidden state are added before they are requantized to 16 bits;
    else they are
    requantized separately, as in TensorFlow Lite"""


@operator(
    1114,
    inputs="x weight bias hidden cell",
    outputs="hidden cell",
    tflite="LSTM",
    custom_type="mslite.StoredLSTMCell",
)
class StoredLSTMCell(Operator):
    """One step of a quantized LSTM with one matmul: int8 x [batch, input] and hidden [batch, units] are concatenated,
    weight
    [4 * units, input + units] is int8 with any zero point, gates i c f o, bias int32, cell int16 in Q4.11. The scale
    of both hidden states is 1/128, with zero point 0."""


@operator(
    1113,
    inputs="x weight_feature weight_time state [bias]",
    outputs="y state",
    tflite="SVDF",
    custom_type="mslite.StoredSVDF",
)
class StoredSVDF(Operator):
    """One step of a quantized SVDF layer: x [batch, input], weights [filters, input] for features and [filters,
    memory] for time,
    state [batch, filters * memory], y [batch, filters / rank].

    The newest of the `memory` values of a filter is the last; `rank` neighboring filters form a unit.
    """

    rank: int = long(0, 1)


@operator(
    1112,
    inputs="x weight_input weight_hidden [bias] [sequence_lengths] [initial_hidden]",
    outputs="y hidden",
    onnx="GRU",
    custom_type="mslite.GRU",
)
class GRUSequence(Operator):
    """ONNX GRU (gates z r h). Optional inputs are in the declared order; the `has_...` attributes mark those that are
    given."""

    direction: str | None = text(0)
    """`forward` (default), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks; default for each direction: `Sigmoid Tanh`"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """limit of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input], and also the states and y"""
    linear_before_reset: bool = boolean(6)
    """the reset gate is applied after the matmul with the hidden state and its bias"""
    has_bias: bool = boolean(7)
    has_sequence_lengths: bool = boolean(8)
    has_initial_hidden: bool = boolean(9)
