"""Recurrent networks."""

from __future__ import annotations

from ._declare import Operator, boolean, long, operator, real


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
