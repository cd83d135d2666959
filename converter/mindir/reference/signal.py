"""References of signal transforms."""

from __future__ import annotations

import numpy as np

from ..ops import signal as ops
from ._declare import Array, Inputs, case, float32, int32, int64, normal, reference


@reference("Dft")
def dft(op: ops.Dft, inputs: Inputs) -> list[Array]:
    """NumPy's Fourier transforms; complex numbers are pairs."""
    x = inputs[0]
    assert x is not None
    axis = (op.axis if len(inputs) < 3 or inputs[2] is None else int(inputs[2].item())) % x.ndim
    signal = x[..., 0].astype(np.complex128)
    if x.shape[-1] == 2:
        signal += 1j * x[..., 1]
    length = None if len(inputs) < 2 or inputs[1] is None else int(inputs[1].item()) or None
    if op.inverse and op.onesided:
        return [np.fft.irfft(signal, length, axis)[..., None].astype(np.float32)]
    result = (np.fft.ifft if op.inverse else np.fft.fft)(signal, length, axis)
    if op.onesided:
        result = np.take(result, range(result.shape[axis] // 2 + 1), axis)
    return [np.stack([result.real, result.imag], -1).astype(np.float32)]


for _length in (1, 2, 8, 12, 15, 31, 64, 100):
    case(f"length-{_length}", ops.Dft(), [normal(3, _length, 1)])
case("complex", ops.Dft(axis=1), [normal(2, 18, 3, 2)])
case("inverse", ops.Dft(axis=0, inverse=True), [normal(10, 4, 2)])
case("onesided", ops.Dft(axis=-2, onesided=True), [normal(2, 3, 9, 1)])
case("onesided-even", ops.Dft(axis=1, onesided=True), [normal(2, 8, 5, 1)])
case("to-real", ops.Dft(axis=1, inverse=True, onesided=True), [normal(2, 6, 3, 2)])
case("to-odd-real", ops.Dft(axis=1, inverse=True, onesided=True), [normal(2, 6, 3, 2), int64(11)], constants=(1,))
case("longer", ops.Dft(axis=1), [normal(2, 6, 1), int64(9)], constants=(1,))
case("shorter", ops.Dft(axis=1, onesided=True), [normal(2, 12, 1), int32([8])], constants=(1,))
case("many-lines", ops.Dft(axis=-2, onesided=True), [normal(1, 150, 256, 1)])
for _axis in (0, 1, -2):
    case(f"computed-axis-{_axis}", ops.Dft(onesided=True), [normal(4, 6, 5, 1), int64(0), int32(_axis)], constants=(1,))


@reference("MelWeightMatrix")
def mel_weight_matrix(op: ops.MelWeightMatrix, inputs: Inputs) -> list[Array]:
    """Triangles between neighboring edges, which are evenly spaced in mel."""
    bins, length, rate = (int(np.asarray(value).item()) for value in inputs[:3])
    low, high = (2595 * np.log10(1 + float(np.asarray(value).item()) / 700) for value in inputs[3:])
    mels = np.arange(bins + 2) * (high - low) / (bins + 2) + low
    edges = ((length + 1) * (700 * np.expm1(mels / 2595 * np.log(10))) // rate).astype(int)
    result = np.zeros((length // 2 + 1, bins), np.float32)
    for column, (left, center, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        if left == center:
            result[center, column] = 1
        for row in range(left, center + 1):
            if left < center:
                result[row, column] = (row - left) / (center - left)
        for row in range(center, right):
            result[row, column] = (right - row) / (right - center)
    return [result]


case("speech", ops.MelWeightMatrix(), [int64(8), int64(16), int64(8192), float32(0), float32(4096)])
case("int32", ops.MelWeightMatrix(), [int32(20), int32([512]), int32(16000), float32(20), float32([7600])])
