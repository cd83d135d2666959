"""Compares tensors of the result with those of the source model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Array

TOLERANCE, TOLERANCE_FLOAT16, TOLERANCE_QUANTIZED = 2e-4, 2e-2, 5e-2
"""Largest allowed difference, as a share of the largest magnitude in the tensor. Quantized tensors are compared as
float
values; their tolerance is larger because rounding differences propagate through a quantized model."""

AGREES = "agrees with the program in 2 runs on random inputs"
"""The note of a conversion whose result agrees with its `torch.export` program."""


@dataclass(frozen=True)
class Difference:
    """The difference of a tensor from that of the source model."""

    name: str
    error: float
    allowed: float

    @property
    def is_too_large(self) -> bool:
        return not self.error <= self.allowed

    def __str__(self) -> str:
        return f"'{self.name}' differs by {self.error:.3g}, allowed is {self.allowed:.3g}"


def difference(name: str, got: Array, want: Array, share: float, least: float = 0.0) -> Difference:
    """Compares two tensors. The error is infinite if shapes, NaN or infinities differ. Floats may always differ by
    `least`."""
    if got.shape != want.shape:
        return Difference(f"{name} (shape {got.shape} instead of {want.shape})", float("inf"), 0.0)
    if not want.size:
        return Difference(name, 0.0, 0.0)
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.where(np.isfinite(a), 0, a), np.where(finite, 0, b), equal_nan=True):
        return Difference(f"{name} (NaN or infinities at different positions)", float("inf"), 0.0)
    scale = float(np.abs(b[finite]).max(initial=0.0))
    error = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    return Difference(name, error, max(share * max(scale, 1e-6), least) if want.dtype.kind == "f" else 0.0)
