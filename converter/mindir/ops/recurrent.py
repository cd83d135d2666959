"""Recurrent networks."""

from __future__ import annotations

from ._declare import Floats, Ints, Operator, boolean, integers, long, operator, real, reals, text


@operator(
    87, inputs="x weight_input weight_hidden [bias] [hidden] [cell] [projection]", outputs="y hidden cell", onnx="LSTM"
)
class LSTM(Operator):
    """Long short-term memory over a sequence, gates in the order i o f c."""

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
    """Gated recurrent unit over a sequence, gates in the order z r h."""

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
    """ONNX RNN. The optional inputs that are there follow in their order, as the `has_...` attributes say."""

    direction: str | None = text(0)
    """`forward` (when absent), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks, per direction `Tanh` when absent"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """bound of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input] (the states and y accordingly)"""
    has_bias: bool = boolean(6)
    has_sequence_lengths: bool = boolean(7)
    has_initial_hidden: bool = boolean(8)
    rounding: int = long(9)
    """the hidden state is rounded to 8 bits before each product, as `DynamicQuant` does: 0 not at all, 1 symmetric,
    2 asymmetric, 3 as `DynamicQuantizeLinear` does"""


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

    The optional inputs that are there follow in their order, as the `has_...` attributes say.
    """

    direction: str | None = text(0)
    """`forward` (when absent), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks, per direction `Sigmoid Tanh Tanh` when absent"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """bound of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input] (the states and y accordingly)"""
    input_forget: bool = boolean(6)
    """the forget gate is 1 - the input gate"""
    cell_clip: float = real(7)
    """bound of the cell state; 0: none"""
    projection_clip: float = real(8)
    """bound of the projected hidden state; 0: none"""
    has_bias: bool = boolean(9)
    has_sequence_lengths: bool = boolean(10)
    has_initial_hidden: bool = boolean(11)
    has_initial_cell: bool = boolean(12)
    has_peepholes: bool = boolean(13)
    has_projection: bool = boolean(14)
    has_projection_bias: bool = boolean(15)
    has_normalization: bool = boolean(16)
    """`normalization` [directions, 4 * hidden] scales each gate's pre-activations (without the bias, which is added
    afterwards), brought to mean 0 and variance 1 over the units of the gate"""
    hidden_scale: float = real(17)
    """On stored integers: the scale of the hidden state before it is projected. Constants then have one record for each
    unit of each gate, on dimension 1; within a gate only those of the weights of x and of the hidden state differ."""
    hidden_zero_point: int = long(18)
    gate_scales: Floats = reals(19)
    """On stored integers with normalization: the scales of the gates' pre-activations, i o f c. With products of 8 bits,
    three of each gate: of its sum, of its product with x and of that with the hidden state."""
    input_is_rest: bool = boolean(20)
    """On stored integers: the input gate is 1 - the forget gate; its weights do not count."""
    gate_zero_points: Ints = integers(21)
    """On stored integers: products of 8 bits, whose zero points these are, in the order of `gate_scales`."""
    rounding: int = long(22)
    """the hidden state is rounded to 8 bits before each product, and so is what is projected, as `DynamicQuant` does:
    0 not at all, 1 symmetric, 2 asymmetric, 3 as `DynamicQuantizeLinear` does"""
    whole_sums: bool = boolean(23)
    """On stored integers: a gate's products with x and with the hidden state are added before they are cut to 16 bits.
    Otherwise the first are cut on their own, as TensorFlow Lite has it."""


@operator(
    1114,
    inputs="x weight bias hidden cell",
    outputs="hidden cell",
    tflite="LSTM",
    custom_type="mslite.StoredLSTMCell",
)
class StoredLSTMCell(Operator):
    """One step of an LSTM on stored integers with one product: x [batch, input] and hidden [batch, units] of int8 beside
    each other, weight [4 * units, input + units] of int8 with any zero point, gates i c f o, bias int32, cell int16 in
    Q4.11. Both hidden states are in units of 1/128 around 0."""


@operator(
    1113,
    inputs="x weight_feature weight_time state [bias]",
    outputs="y state",
    tflite="SVDF",
    custom_type="mslite.StoredSVDF",
)
class StoredSVDF(Operator):
    """One step of a layer of singular value filters on stored integers: x [batch, input], weights [filters, input] over
    features and [filters, memory] over time, state [batch, filters * memory], y [batch, filters / rank].

    The newest of a filter's `memory` products with x comes last; `rank` neighboring filters make a unit.
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
    """ONNX GRU (gates z r h). The optional inputs that are there follow in their order, as `has_...` says."""

    direction: str | None = text(0)
    """`forward` (when absent), `reverse` or `bidirectional`"""
    activations: str | None = text(1)
    """ONNX names separated by blanks, per direction `Sigmoid Tanh` when absent"""
    activation_alpha: Floats = reals(2)
    activation_beta: Floats = reals(3)
    clip: float = real(4)
    """bound of the gates' pre-activations; 0: none"""
    layout: int = long(5)
    """0: x is [time, batch, input]; 1: [batch, time, input] (the states and y accordingly)"""
    linear_before_reset: bool = boolean(6)
    """the hidden state is multiplied by its weights (and its bias added) before the reset gate is applied"""
    has_bias: bool = boolean(7)
    has_sequence_lengths: bool = boolean(8)
    has_initial_hidden: bool = boolean(9)
