"""Transforms of sampled signals, as ONNX has them."""

from __future__ import annotations

from ._declare import Operator, boolean, long, operator


@operator(1150, inputs="x [length] [axis]", onnx="DFT STFT", custom_type="mslite.Dft")
class Dft(Operator):
    """Discrete Fourier transform along one dimension; the last one holds real (1) or complex (2) numbers.

    The signal is cut or filled up with zeros to `length`; without it, or where it is 0, it keeps its size (`onesided`
    and `inverse`: 2 * (size - 1)). The operand `axis` comes before the attribute.
    """

    axis: int = long(0, -2)
    inverse: bool = boolean(1)
    """divides by the length"""
    onesided: bool = boolean(2)
    """forward: the first length / 2 + 1 frequencies; inverse: these are given and the result is real"""


@operator(
    1151,
    inputs="num_mel_bins dft_length sample_rate lower_edge_hertz upper_edge_hertz",
    onnx="MelWeightMatrix",
    custom_type="mslite.MelWeightMatrix",
)
class MelWeightMatrix(Operator):
    """Triangular weights [dft_length / 2 + 1, num_mel_bins] that sum a spectrum into bands of equal mel width."""
