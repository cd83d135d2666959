"""Signal processing."""

from __future__ import annotations

from ._declare import Operator, boolean, long, operator, real


@operator(16, tflite="CUSTOM:AudioSpectrogram")
class AudioSpectrogram(Operator):
    """Magnitude of the short-time Fourier transform."""

    window_size: int = long(0)
    stride: int = long(1)
    mag_square: bool = boolean(2)


@operator(95, inputs="spectrogram sample_rate", tflite="CUSTOM:Mfcc")
class Mfcc(Operator):
    """Mel-frequency cepstral coefficients."""

    freq_upper_limit: float = real(0)
    freq_lower_limit: float = real(1)
    filter_bank_channel_num: int = long(2)
    dct_coeff_num: int = long(3)


@operator(123, inputs="x [fft_length]", tflite="CUSTOM:FlexRFFT")
class Rfft(Operator):
    """Fourier transform of real input."""

    fft_length: int = long(0)


@operator(59, tflite="CUSTOM:FlexReal")
class FftReal(Operator):
    """Real part."""


@operator(60, tflite="CUSTOM:FlexImag")
class FftImag(Operator):
    """Imaginary part."""
