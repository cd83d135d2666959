"""GELU of 16 bits: straight lines between 513 points, computed in float32.

LiteRT takes erfc and tanh from the C library, whose last bit is not the same everywhere (glibc rounds both correctly from
2.41 on). Ours are rounded correctly. That is the only difference: the same table with the C library's functions is
LiteRT's, and with correctly rounded ones ours.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.integer_models import Tensor, loaded, model, reference

F = np.float32
Function = Callable[[float], float]
STEPS = 512


def _library(name: str) -> Function:
    path = ctypes.util.find_library("m")
    if path is None:
        pytest.skip("no C library to take functions from")
    function = getattr(ctypes.CDLL(path), name)
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    return lambda x: float(function(x))


def _gelu(x: np.float32, erfc: Function) -> np.float32:
    return F(F(F(0.5) * x) * F(erfc(float(F(x * F(-math.sqrt(0.5)))))))


def _gelu_tanh(x: np.float32, tanh: Function) -> np.float32:
    inner = F(F(math.sqrt(2 / math.pi)) * F(x + F(F(F(F(0.044715) * x) * x) * x)))
    return F(F(F(0.5) * x) * F(F(1) + F(tanh(float(inner)))))


def _nearest(x: np.float32) -> np.float32:
    return F(math.copysign(math.floor(abs(float(x)) + 0.5), float(x)))


def _table(scale_x: float, scale_y: float, gelu: Callable[[np.float32], np.float32]) -> npt.NDArray[np.int64]:
    """Each point is moved by half of the error in the middle of its step."""
    low, high = F(F(scale_x) * F(-32768)), F(F(scale_x) * F(32767))
    step = F(F(high - low) / F(STEPS))
    inverse = F(F(65536) / F(F(F(scale_y) * F(32767)) - F(F(scale_y) * F(-32768))))
    points = []
    for index in range(STEPS):
        at = F(low + F(F(index) * step))
        value, middle, after = (gelu(x) for x in (at, F(at + F(step / F(2))), F(low + F(F(index + 1) * step))))
        point = _nearest(F(value * inverse))
        between = _nearest(F(F(F(after * inverse) + point) / F(2)))
        error = F(between - _nearest(F(middle * inverse)))
        points.append(F(point - _nearest(F(error / F(2)))))
    points.append(_nearest(F(gelu(high) * inverse)))
    return np.clip(np.array(points, np.float64), -32768, 32767).astype(np.int64)


def _looked_up(table: npt.NDArray[np.int64], x: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    wide = x.astype(np.int64)
    at = STEPS // 2 + (wide >> 7)
    slope = (table[at + 1] - table[at]).astype(np.int16).astype(np.int64)
    return (table[at] + ((slope * (wide & 127) + 64) >> 7)).astype(np.int16)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_gelu_of_16_bits(seed: int, approximate: bool, tmp_path: Path) -> None:
    chance = np.random.default_rng(seed)
    x = np.arange(-32768, 32768).astype(np.int16)
    scale_x = float(F(np.exp(chance.uniform(np.log(1e-5), np.log(1e-2)))))
    scale_y = float(F(scale_x * np.exp(chance.uniform(-1, 1))))
    tensors = [Tensor("x", x.shape, "int16", quant=(scale_x, 0)), Tensor("y", x.shape, "int16", quant=(scale_y, 0))]
    content = model("GELU", tensors, options=("GeluOptions", {0: ("bool", approximate)}))
    library = _library("tanhf" if approximate else "erfcf")
    exact: Function = math.tanh if approximate else math.erfc
    formula = _gelu_tanh if approximate else _gelu
    (theirs,) = reference(content, [x])
    (mine,) = loaded(content, tmp_path).predict([x])
    np.testing.assert_array_equal(theirs, _looked_up(_table(scale_x, scale_y, lambda v: formula(v, library)), x))
    np.testing.assert_array_equal(
        mine.get_data_to_numpy(), _looked_up(_table(scale_x, scale_y, lambda v: formula(v, exact)), x)
    )
