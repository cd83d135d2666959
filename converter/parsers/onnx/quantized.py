"""Quantized tensors of an ONNX graph, built in the form that each reader needs.

ONNX expresses quantization as casts around float operators. The output of QuantizeLinear is built when it is read:
as integers with quantization parameters (for DequantizeLinear), or as plain integers by the exact formula (for
operators that compute with integers). The output of DequantizeLinear of a constant is built as floats, or as stored
integers for operators with quantized weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto

from mslite.converter.mindir.graph import Array, Value, constant, numpy_type
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, SliceFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Cast, Clip, Round
from mslite.converter.mindir.positive_scales import has_negative, with_positive_scales
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN, SHIFTS, SIGNED, dequantized_array

from .blocks import block_count, blocks_repeated
from .call import Call
from .constant_only_types import CONSTANT_ONLY_TYPES
from .deferred import Deferred

RANGES: dict[int, tuple[DataType, int, int]] = {
    TensorProto.INT8: (DataType.INT8, -128, 127),
    TensorProto.UINT8: (DataType.UINT8, 0, 255),
    TensorProto.INT16: (DataType.INT16, -(1 << 15), (1 << 15) - 1),
    TensorProto.UINT16: (DataType.UINT16, 0, (1 << 16) - 1),
    TensorProto.INT4: (DataType.INT8, -8, 7),
    TensorProto.UINT4: (DataType.UINT8, 0, 15),
    25: (DataType.UINT8, 0, 3),  # UINT2 and INT2, which older releases of the onnx package lack
    26: (DataType.INT8, -2, 1),
}
"""Output types of QuantizeLinear: the type here, the minimum and the maximum."""


@dataclass(eq=False)
class Parameters:
    """Scale and zero point: per-tensor, per-channel along `axis`, or per-block along it."""

    scale: Value
    point: Value | None
    axis: int
    block: int
    result: DataType = DataType.UNKNOWN
    """The output type of DequantizeLinear; UNKNOWN: the type of the scale."""

    @property
    def record(self) -> tuple[float, int] | None:
        """Returns the per-tensor scale and zero point if they are constants."""
        scale, point = self.scale.data, self.zero
        if scale is None or scale.size != 1 or point is None or point.size != 1 or point.dtype.kind == "f":
            return None
        return float(scale.reshape(-1)[0].astype(np.float64)), int(point.reshape(-1)[0].astype(np.int64))

    @property
    def zero(self) -> Array | None:
        """Returns the zero point if it is constant, None if it is computed."""
        return np.zeros(1, np.int64) if self.point is None else self.point.data

    def equals(self, other: Parameters) -> bool:
        def same(a: Value | None, b: Value | None) -> bool:
            if a is b:
                return True
            if a is None or b is None or a.data is None or b.data is None:
                return False
            return bool(np.array_equal(a.data, b.data))

        points = same(self.point, other.point) or (self.record is not None and self.record == other.record)
        # The axis does not matter for one scale.
        places = self.record is not None or (self.axis, self.block) == (other.axis, other.block)
        return same(self.scale, other.scale) and points and places

    def spread(self, call: Call, given: Value, x: Value) -> Value:
        """Returns a scale or zero point as float32, in a shape that broadcasts to x."""
        shape, value = call.shape(given), as_float(call, given)
        if shape is not None and (not shape or all(dim == 1 for dim in shape)):
            return call.const(value.data.reshape(())) if value.data is not None else value
        if self.block:
            return self._spread_blocks(call, value, x)
        rank = call.require_rank(x)
        axis = call.axis(self.axis, rank)
        following = rank - axis - 1
        if shape is None or len(shape) != 1:
            if shape is not None and len(shape) == rank:
                return value
            raise call.block("the scale is neither a scalar nor a vector", "Export the model again")
        if following == 0:
            return value
        dims = (-1,) + (1,) * following
        if value.data is not None:
            return call.const(value.data.reshape(dims))
        return call.emit(Reshape(), value, call.ints(dims))

    def _spread_blocks(self, call: Call, value: Value, x: Value) -> Value:
        shape = call.require_shape(x, "blockwise quantization")
        axis = self.axis % max(len(shape), 1)
        if value.data is None:
            block = min(self.block, max(shape[axis], 1))
            blocks = block_count(shape[axis], block)
            wide = [*shape[:axis], blocks, block, *shape[axis + 1 :]]
            thin = [*shape[:axis], blocks, 1, *shape[axis + 1 :]]
            whole = [*shape[:axis], blocks * block, *shape[axis + 1 :]]
            spread = call.emit(BroadcastTo(), call.emit(Reshape(), value, call.ints(thin)), call.ints(wide))
            spread = call.emit(Reshape(), spread, call.ints(whole))
            if whole[axis] == shape[axis]:
                return spread
            op = SliceFusion(axes=tuple(range(len(shape))))
            return call.emit(op, spread, call.ints([0] * len(shape)), call.ints(shape))
        try:
            return call.const(blocks_repeated(value.data, axis, self.block, shape))
        except ValueError as error:
            raise call.block(str(error), "Export the model again") from None


def as_float(call: Call, value: Value) -> Value:
    """Returns `value` as float32."""
    if value.data is not None:
        return call.const(value.data.astype(np.float32)) if value.dtype is not DataType.FLOAT32 else value
    if call.dtype(value) is DataType.FLOAT32:
        return value
    result = call.emit(Cast(), value, call.ints(int(DataType.FLOAT32)))
    result.dtype = DataType.FLOAT32
    return result


def scaled(call: Call, integers: Value, parameters: Parameters, like: Value) -> Value:
    """Returns scale * (integers - zero point), computed in float32."""
    point = parameters.point
    if point is not None and (point.data is None or bool(np.any(point.data))):
        integers = call.emit(SubFusion(), integers, parameters.spread(call, point, like))
    scale = parameters.scale
    if scale.data is not None and bool(np.all(scale.data == 1)):
        return integers
    return call.emit(MulFusion(), integers, parameters.spread(call, scale, like))


@dataclass(eq=False)
class Quantized(Deferred):
    """The output of a QuantizeLinear of `x`."""

    call: Call
    x: Value
    parameters: Parameters
    element_type: int
    _forms: dict[str, Value] = field(default_factory=dict)

    @property
    def dtype(self) -> DataType:
        return RANGES[self.element_type][0]

    def has_quant_params(self) -> bool:
        """Returns whether MindIR can store it: one constant scale, and a full 8 or 16-bit range."""
        record = self.parameters.record
        has_bytes = self.element_type not in CONSTANT_ONLY_TYPES
        return record is not None and record[0] > 0 and bool(np.isfinite(record[0])) and has_bytes

    def records(self, shifted: bool = True) -> tuple[QuantParam, ...]:
        record = self.parameters.record
        assert record is not None
        shift = SHIFTS.get(self.dtype, 0) if shifted else 0
        bits = 8 * numpy_type(self.dtype).itemsize
        return (
            QuantParam(
                scale=record[0],
                zeroPoint=record[1] - shift,
                numBits=bits,
                dstDtype=int(self.dtype),
                roundType=ROUND_HALF_TO_EVEN,
            ),
        )

    def _form(self, key: str, value: Value) -> Value:
        return self._forms.setdefault(key, value)

    def stored(self) -> Value:
        """Returns the integers with quantization parameters; requires `has_quant_params`."""
        if "stored" not in self._forms:
            dtype = SIGNED.get(self.dtype, self.dtype)
            value = self.call.emit(
                QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(dtype)), as_float(self.call, self.x)
            )
            value.dtype, value.quant = dtype, self.records()
            self._form("stored", value)
        return self._forms["stored"]

    def boundary(self) -> Value:
        """Returns the integers in the source's type, for an output of the model."""
        value = self.stored()
        if self.dtype not in SHIFTS:
            return value
        if "boundary" not in self._forms:
            outside = self.call.emit(QuantDTypeCast(src_t=int(value.dtype), dst_t=int(self.dtype)), value)
            outside.dtype, outside.quant = self.dtype, self.records(shifted=False)
            self._form("boundary", outside)
        return self._forms["boundary"]

    def real(self, parameters: Parameters) -> Value:
        """Returns the output of DequantizeLinear with these parameters, as float32."""
        same = parameters.equals(self.parameters)
        if same and "real" in self._forms:
            return self._forms["real"]
        if same and self.has_quant_params():
            value = self.stored()
            result = self.call.emit(QuantDTypeCast(src_t=int(value.dtype), dst_t=int(DataType.FLOAT32)), value)
            result.dtype = DataType.FLOAT32
            return self._form("real", result)
        result = scaled(self.call, self.integers(), parameters, self.x)
        return self._form("real", result) if same else result

    def integers(self) -> Value:
        """Returns the integers as float32, by the exact formula: rounded half to even, then clipped."""
        if "integers" not in self._forms:
            call, parameters = self.call, self.parameters
            scale = parameters.spread(call, parameters.scale, self.x)
            value = call.emit(Round(), call.emit(DivFusion(), as_float(call, self.x), scale))
            point = parameters.point
            if point is not None and (point.data is None or bool(np.any(point.data))):
                value = call.emit(AddFusion(), value, parameters.spread(call, point, self.x))
            _, low, high = RANGES[self.element_type]
            value = call.emit(Clip(min=float(low), max=float(high)), value)
            given = parameters.scale.data
            if given is not None and not (np.all(np.isfinite(given)) and np.all(given)):
                # Quotients that are NaN become integers by this cast.
                value = call.emit(Cast(), value, call.ints(int(self.dtype)))
                value.dtype = self.dtype
                value = as_float(call, value)
            self._form("integers", value)
        return self._forms["integers"]

    def plain(self) -> Value:
        """Returns the integers in the form that every other operator reads."""
        if "plain" not in self._forms:
            value = self.call.emit(Cast(), self.integers(), self.call.ints(int(self.dtype)))
            value.dtype = self.dtype
            self._form("plain", value)
        return self._forms["plain"]


@dataclass(eq=False)
class DequantizedConstant(Deferred):
    """The output of a DequantizeLinear of a constant with constant parameters."""

    call: Call
    stored: Value | None
    """Stored integers with quantization parameters; None if MindIR does not support these parameters."""
    axis: int
    result: Array | None = None
    """The floats, if there is no stored form."""
    dtype: DataType = DataType.FLOAT32

    def stored_weight(self) -> Value | None:
        return self.stored

    def transposed(self, perm: tuple[int, ...], name: str) -> DequantizedConstant:
        """Returns it with permuted dimensions; requires a stored form."""
        assert self.stored is not None
        stored = constant(self.call.scope.session.values.unique(name), self.stored.array().transpose(perm))
        stored.quant = self.stored.quant
        axis = perm.index(self.axis) if perm else 0
        self.call.scope.axes[id(stored)] = axis
        return DequantizedConstant(self.call, stored, axis, dtype=self.dtype)

    def plain(self) -> Value:
        """Returns the floats."""
        if self.stored is None:
            assert self.result is not None
            return self.call.const(self.result)
        array = dequantized_array(self.stored.array(), self.stored.quant, self.axis)
        return self.call.scope.derived(self.stored, "real", array.astype(numpy_type(self.dtype)))


def quantized_constant(call: Call, x: Value, parameters: Parameters, element_type: int) -> Array:
    """Quantizes a constant with constant parameters. Raises Blocked if their shapes do not match."""
    data, zero = x.array().astype(np.float32), parameters.zero
    assert zero is not None
    dtype, low, high = RANGES[element_type]
    with np.errstate(all="ignore"):
        scales = _spread(call, parameters.scale.array(), parameters, data.shape).astype(np.float32)
        points = _spread(call, zero, parameters, data.shape).astype(np.float32)
        steps = np.nan_to_num(np.rint(data / scales), nan=0.0) + points
    result: Array = np.clip(steps, low, high).astype(numpy_type(dtype))
    return result


def _spread(call: Call, array: Array, parameters: Parameters, shape: tuple[int, ...]) -> Array:
    """Returns scales or zero points in a shape that broadcasts to a constant. Raises Blocked."""
    if array.size == 1:
        return array.reshape(())
    axis = call.axis(parameters.axis, len(shape))
    if parameters.block:
        try:
            return blocks_repeated(array, axis, parameters.block, shape)
        except ValueError as error:
            raise call.block(str(error), "Export the model again") from None
    if array.ndim != 1 or array.size != shape[axis]:
        raise call.block(f"{array.size} scales or zero points do not fit {shape}", "Export the model again")
    return array.reshape((-1,) + (1,) * (len(shape) - axis - 1))


def coded(call: Call, x: Value, parameters: Parameters) -> DequantizedConstant:
    """Returns the deferred output for a constant with constant parameters. Raises Blocked for mismatching shapes."""
    data, scales = x.array(), parameters.scale.array()
    zero = parameters.zero
    assert zero is not None
    dtype = parameters.result if parameters.result is not DataType.UNKNOWN else parameters.scale.dtype
    if parameters.block or (scales.size != 1 and scales.ndim != 1):
        try:
            shape = data.shape
            axis = parameters.axis % max(data.ndim, 1)
            spread = blocks_repeated(scales, axis, parameters.block or 1, shape).astype(np.float32)
            points = blocks_repeated(zero, axis, parameters.block or 1, shape) if zero.size > 1 else zero.reshape(())
            real = (data.astype(np.float32) - points.astype(np.float32)) * spread
        except ValueError as error:
            raise call.block(str(error), "Export the model again") from None
        return DequantizedConstant(call, None, 0, real.astype(numpy_type(dtype)))
    count = scales.size
    # MindIR cannot store infinite or NaN scales, a per-tensor scale of 0, or float data as quantized.
    is_real = not np.all(np.isfinite(scales)) or (count == 1 and not scales.any()) or data.dtype.kind == "f"
    axis = call.axis(parameters.axis, data.ndim) if count > 1 else 0
    if count < 1 or (count > 1 and data.shape[axis] != count) or zero.size not in (1, count):
        raise call.block(
            f"{count} scales and {zero.size} zero points do not fit {data.shape}", "Export the model again"
        )
    if is_real:
        dims = [1] * data.ndim
        if count > 1:
            dims[axis] = count
        factors, points = (array.astype(np.float32).reshape(dims if array.size > 1 else ()) for array in (scales, zero))
        with np.errstate(invalid="ignore"):
            real = (data.astype(np.float32) - points) * factors
        return DequantizedConstant(call, None, 0, real.astype(numpy_type(dtype)))
    kind = x.dtype
    shift = SHIFTS.get(kind, 0)
    if shift:
        data = (data.astype(np.int32) - shift).astype(numpy_type(SIGNED[kind]))
    bits = 8 * data.dtype.itemsize
    points = np.broadcast_to(zero.reshape(-1), (count,)).astype(np.int64) - shift
    records = tuple(
        QuantParam(scale=float(scale), zeroPoint=int(point), numBits=bits, dstDtype=int(kind))
        for scale, point in zip(scales.reshape(-1).astype(np.float64), points, strict=True)
    )
    if has_negative(records):
        data, records = with_positive_scales(data, records, axis) or (data, records)
    stored = constant(call.scope.session.values.unique(f"{x.name}/stored"), data)
    stored.quant = records
    call.scope.axes[id(stored)] = axis
    return DequantizedConstant(call, stored, axis, dtype=dtype)
