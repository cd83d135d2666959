"""Signal transforms of ONNX."""

from __future__ import annotations

from ._declare import Operator, boolean, long, operator


@operator(1150, inputs="x [length] [axis]", onnx="DFT STFT", custom_type="mslite.Dft")
class Dft(Operator):
    """Discrete Fourier transform along one dimension; the last dimension is 1 (real) or 2 (complex).

    The signal is cropped or padded with zeros to `length`; if it is missing or 0, the size is kept (`onesided` and
    `inverse`: 2 * (size - 1)). The input `axis` overrides the attribute.
    """

    axis: int = long(0, -2)
    inverse: bool = boolean(1)
    """inverse transform, divided by the length"""
    onesided: bool = boolean(2)
    """forward: the first length / 2 + 1 frequencies only; inverse: these are the input, and the output is real"""


@operator(
    1151,
    inputs="num_mel_bins dft_length sample_rate lower_edge_hertz upper_edge_hertz",
    onnx="MelWeightMatrix",
    custom_type="mslite.MelWeightMatrix",
)
class MelWeightMatrix(Operator):
    """Triangular weights [dft_length / 2 + 1, num_mel_bins] from a spectrum to bands of equal width on the mel
    scale."""
