"""Fake quantization."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum, MulFusion, SubFusion
from mslite.converter.mindir.ops.unary import Floor

from .call import Call
from .registry import tf_operator

_Bounds = npt.NDArray[np.float32]


@tf_operator("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(call: Call) -> Value:
    """Converts fake quantization. Its inputs are x, min, max; min and max are scalars, or vectors for each channel."""
    bounds = [call.constant(index) for index in (1, 2)]
    if bounds[0] is None or bounds[1] is None:
        raise call.block("its range is computed at run time", "Freeze the model's variables")
    return _rounded(call, bounds[0].astype(np.float32), bounds[1].astype(np.float32))


@tf_operator("FakeQuantWithMinMaxArgs")
def fake_quant_fixed(call: Call) -> Value:
    return _rounded(call, np.float32(call.real("min", -6.0)), np.float32(call.real("max", 6.0)))


def _rounded(call: Call, low: _Bounds | np.float32, high: _Bounds | np.float32) -> Value:
    """Rounds to one of 2^bits values between low and high, which are first moved so that 0 is one of these values."""
    bits = call.integer("num_bits", 8)
    if not 2 <= bits <= 16:
        raise call.block(f"{bits} bits are unsupported", "Use 2 to 16", "num_bits")
    first, last = np.float32(int(call.flag("narrow_range"))), np.float32(2**bits - 1)
    with np.errstate(all="ignore"):
        scale = ((high - low) / (last - first)).astype(np.float32)
        zero = first - low / scale
        zero = np.where(zero < first, first, np.where(zero > last, last, np.floor(zero + np.float32(0.5))))
    if not np.all(np.isfinite(zero)) or np.any(scale <= 0):
        raise call.block(f"the range {np.min(low)} to {np.max(high)} is empty", "Export the model again")
    low = ((first - zero) * scale).astype(np.float32)
    high = ((last - zero) * scale).astype(np.float32)
    x = call.emit(Minimum(), call.emit(Maximum(), call.input(0), call.const(low)), call.const(high))
    steps = call.emit(MulFusion(), call.emit(SubFusion(), x, call.const(low)), call.const(np.float32(1) / scale))
    whole = call.emit(Floor(), call.emit(AddFusion(), steps, call.const(np.float32(0.5))))
    return call.emit(AddFusion(), call.emit(MulFusion(), whole, call.const(scale)), call.const(low))
