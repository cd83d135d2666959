"""Fourier transforms, and parts of complex tensors."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.audio import ComplexAbs, FftImag, FftReal, Rfft, Rfft2D
from mslite.converter.mindir.ops.enums import DataType

from .call import Call
from .registry import tflite_operator

_PARTS = {
    "REAL": FftReal(),
    "IMAG": FftImag(),
    "COMPLEX_ABS": ComplexAbs(),
    "CUSTOM:FlexReal": FftReal(),
    "CUSTOM:FlexImag": FftImag(),
    "CUSTOM:FlexComplexAbs": ComplexAbs(),
}


@tflite_operator(*_PARTS)
def part(call: Call) -> Value:
    if call.source(0).dtype is not DataType.COMPLEX64:
        raise call.block(f"its input is of type {call.source(0).type_name}, not COMPLEX64", "Use complex64")
    return call.emit(_PARTS[call.node.name], call.input(0))


def _check_result(call: Call) -> None:
    if call.output().dtype is not DataType.COMPLEX64:
        raise call.block(f"its result is of type {call.output().type_name}, not COMPLEX64", "Use complex64")


@tflite_operator("RFFT2D")
def rfft2d(call: Call) -> Value:
    """Converts RFFT2D. Its inputs are x and the transform's [height, width]."""
    _check_result(call)
    lengths = call.integers(1, "the lengths of the transform")
    if len(lengths) != 2:
        raise call.block(f"{len(lengths)} lengths are given, not 2")
    return call.emit(Rfft2D(fft_height=lengths[0], fft_width=lengths[1]), call.input(0))


@tflite_operator("CUSTOM:FlexRFFT")
def rfft(call: Call) -> Value:
    """Converts FlexRFFT. Its inputs are x and the transform's [length]."""
    _check_result(call)
    lengths = call.integers(1, "the length of the transform")
    if len(lengths) != 1:
        raise call.block(f"{len(lengths)} lengths are given, not 1")
    return call.emit(Rfft(fft_length=lengths[0]), call.input(0))
