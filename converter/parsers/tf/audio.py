"""Spectrograms, MFCC, real Fourier transforms."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import audio as ops
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import tf_operator


@tf_operator("AudioSpectrogram")
def spectrogram(call: Call) -> Value:
    op = ops.AudioSpectrogram(
        window_size=call.integer("window_size"),
        stride=call.integer("stride"),
        mag_square=call.flag("magnitude_squared"),
    )
    return call.emit(op, call.input(0))


@tf_operator("Mfcc")
def mfcc(call: Call) -> Value:
    op = ops.Mfcc(
        freq_upper_limit=call.real("upper_frequency_limit", 4000.0),
        freq_lower_limit=call.real("lower_frequency_limit", 20.0),
        filter_bank_channel_num=call.integer("filterbank_channel_count", 40),
        dct_coeff_num=call.integer("dct_coefficient_count", 13),
    )
    return call.emit(op, call.input(0), call.int32(1))


@tf_operator("RFFT")
def real_fourier(call: Call) -> Value:
    length = call.require_integer(1, "the length")
    return call.emit(ops.Rfft(fft_length=length), call.input(0), call.int32(1))


@tf_operator("Real", "Imag")
def part(call: Call) -> Value:
    """Converts Real and Imag; the real part of a float tensor is the tensor itself."""
    x = call.input(0)
    if x.dtype not in (DataType.COMPLEX64, DataType.COMPLEX128) and call.operator == "Real":
        return x
    return call.emit(ops.FftReal() if call.operator == "Real" else ops.FftImag(), x)


@tf_operator("ComplexAbs")
def magnitude(call: Call) -> Value:
    """Converts ComplexAbs: sqrt(re^2 + im^2)."""
    return call.emit(ops.ComplexAbs(), call.input(0))


@tf_operator("RFFT2D")
def real_fourier_2d(call: Call) -> Value:
    lengths = call.require_integers(1, "the lengths")
    if len(lengths) != 2:
        raise call.block(f"{len(lengths)} lengths are given, not 2")
    return call.emit(ops.Rfft2D(fft_height=lengths[0], fft_width=lengths[1]), call.input(0))
