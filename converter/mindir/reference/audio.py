"""References of signal processing."""

from __future__ import annotations

import numpy as np

from ..ops import audio as ops
from ._declare import Array, Inputs, case, int32, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [np.asarray(array) for array in inputs if array is not None]


@reference("Rfft")
def rfft(op: ops.Rfft, inputs: Inputs) -> list[Array]:
    """numpy.fft.rfft of the last dimension."""
    return [np.fft.rfft(_given(inputs)[0].astype(np.float64), op.fft_length).astype(np.complex64)]


@reference("Rfft2D")
def rfft2d(op: ops.Rfft2D, inputs: Inputs) -> list[Array]:
    """numpy.fft.rfft2 of the last two dimensions."""
    x = _given(inputs)[0].astype(np.float64)
    return [np.fft.rfft2(x, (op.fft_height, op.fft_width)).astype(np.complex64)]


@reference("FftReal")
def real(op: ops.FftReal, inputs: Inputs) -> list[Array]:
    """The real part."""
    return [_given(inputs)[0].real.astype(np.float32)]


@reference("FftImag")
def imaginary(op: ops.FftImag, inputs: Inputs) -> list[Array]:
    """The imaginary part."""
    return [_given(inputs)[0].imag.astype(np.float32)]


@reference("ComplexAbs")
def magnitude(op: ops.ComplexAbs, inputs: Inputs) -> list[Array]:
    """sqrt(real^2 + imaginary^2)."""
    return [np.abs(_given(inputs)[0].astype(np.complex128)).astype(np.float32)]


@reference("AudioSpectrogram")
def audio_spectrogram(op: ops.AudioSpectrogram, inputs: Inputs) -> list[Array]:
    """Fourier transforms of windowed frames, padded with zeros to a power of two."""
    x = _given(inputs)[0].astype(np.float64)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(op.window_size) / op.window_size)
    length = 1 << (op.window_size - 1).bit_length()
    starts = range(0, x.shape[0] - op.window_size + 1, op.stride)
    frames = np.array([[x[start : start + op.window_size, c] * window for start in starts] for c in range(x.shape[1])])
    frames = frames.reshape(x.shape[1], len(starts), op.window_size)
    power = np.abs(np.fft.rfft(frames, length)) ** 2
    return [(power if op.mag_square else np.sqrt(power)).astype(np.float32)]


def _mel(frequency: Array) -> Array:
    return np.asarray(1127.0 * np.log1p(frequency / 700.0))


@reference("Mfcc")
def mfcc(op: ops.Mfcc, inputs: Inputs) -> list[Array]:
    """Triangles of height 1 on the mel scale, then the cosine transform (type II) of the logarithms."""
    x, rate = _given(inputs)
    bins, filters = x.shape[2], op.filter_bank_channel_num
    width = 0.5 * float(rate.reshape(-1)[0]) / (bins - 1)
    number = np.arange(bins)
    used = (number >= np.floor(1.5 + op.freq_lower_limit / width)) & (number <= np.floor(op.freq_upper_limit / width))
    low, high = _mel(np.array([op.freq_lower_limit, op.freq_upper_limit]))
    points = np.linspace(low, high, filters + 2)
    position = _mel(number * width)
    rising = (position[:, None] - points[:-2]) / (points[1:-1] - points[:-2])
    falling = (points[2:] - position[:, None]) / (points[2:] - points[1:-1])
    bank = np.clip(np.minimum(rising, falling), 0, None) * used[:, None]
    energy = np.log(np.maximum(np.sqrt(x.astype(np.float64)) @ bank, 1e-12))
    angles = np.pi / filters * np.arange(op.dct_coeff_num)[:, None] * (np.arange(filters) + 0.5)
    return [(energy @ (np.sqrt(2 / filters) * np.cos(angles)).T).astype(np.float32)]


for length in (1, 2, 8, 15, 30, 64, 97):
    case(f"{length}", ops.Rfft(fft_length=length), [normal(2, 3, length)])
case("cut", ops.Rfft(fft_length=16), [normal(3, 21)])
case("continued", ops.Rfft(fft_length=12), [normal(3, 5)])
case("one-row", ops.Rfft(fft_length=512), [normal(512)])
case("squares", ops.Rfft2D(fft_height=8, fft_width=8), [normal(2, 8, 8)])
case("odd", ops.Rfft2D(fft_height=5, fft_width=7), [normal(2, 3, 5, 7)])
case("cut-and-continued", ops.Rfft2D(fft_height=6, fft_width=4), [normal(1, 5, 9)])
case("one-line", ops.Rfft2D(fft_height=1, fft_width=16), [normal(3, 1, 16)])
for part in (ops.FftReal(), ops.FftImag(), ops.ComplexAbs()):
    case("some", part, [(normal(3, 5) + 1j * normal(3, 5)).astype(np.complex64)])
    case("many", part, [(normal(20000) + 1j * normal(20000)).astype(np.complex64)])
case("power", ops.AudioSpectrogram(window_size=24, stride=10, mag_square=True), [normal(100, 2)])
case("magnitude", ops.AudioSpectrogram(window_size=32, stride=32), [normal(96, 1)])
case("too-short", ops.AudioSpectrogram(window_size=32, stride=8), [normal(20, 1)])
_MFCC = ops.Mfcc(freq_upper_limit=4000, freq_lower_limit=20, filter_bank_channel_num=20, dct_coeff_num=13)
case("speech", _MFCC, [normal(1, 3, 129) ** 2, int32(16000)], [1])
case("channels", _MFCC, [normal(2, 4, 65) ** 2, int32([8000])])
