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


@operator(59, tflite="REAL CUSTOM:FlexReal")
class FftReal(Operator):
    """Real part."""


@operator(60, tflite="IMAG CUSTOM:FlexImag")
class FftImag(Operator):
    """Imaginary part."""


@operator(1130, tflite="RFFT2D", custom_type="mslite.Rfft2D")
class Rfft2D(Operator):
    """Fourier transforms of real images (the last two dimensions): `[..., fft_height, fft_width / 2 + 1]` complex64.

    Images are cropped or padded with zeros to the lengths of the transform.
    """

    fft_height: int = long(0)
    fft_width: int = long(1)


@operator(1131, tflite="COMPLEX_ABS", custom_type="mslite.ComplexAbs")
class ComplexAbs(Operator):
    """Magnitudes of complex numbers."""
