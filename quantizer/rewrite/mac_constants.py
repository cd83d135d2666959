"""Quantizes the constants of convolutions and matmuls: weights, and biases with the scale of the accumulator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import FullConnection
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.calibration.bias_correction import mean_output_shift
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.metrics import relative_error
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.precision.devices import device_of, is_per_channel, weight_scheme
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.encoding import packed_constant
from mslite.quantizer.weights.stored_weight import constant_of, quantize_weight, rescaled

_BIAS_SHARE = 0.5
"""A bias uses at most this share of the integer range, so that the accumulator does not overflow."""
_BIAS_LIMITS = {Precision.INT8: (1 << 31) - 1, Precision.INT16: (1 << 47) - 1}
_MIN_MULTIPLIERS = {Precision.INT8: 0.0, Precision.INT16: 2.0**-31}
"""Smallest multiplier from accumulator to output. Kernels for int16 treat smaller ones as 0; with int8 activations, the
accumulators are then smaller than one output step."""
_BIAS_TYPES = {Precision.INT8: (DataType.INT32, np.int32), Precision.INT16: (DataType.INT64, np.int64)}


@dataclass(frozen=True)
class MacConstants:
    """Constants of a quantized convolution or matmul. `relative_error` is that of the weight in the 2-norm."""

    weight: Value
    bias: Value | None
    relative_error: float
    bias_shift: float
    """The largest bias correction, relative to the largest bias; 0 without correction."""


class RoundedWeightCache:
    """Caches weights rounded to nearest and their errors, because unrolled recurrent layers read a weight many times.

    Keys are ids of constants, so the values must stay alive.
    """

    def __init__(self) -> None:
        self._weights: dict[tuple[int, str, Scheme, bool], StoredWeight] = {}
        self._errors: dict[int, tuple[StoredWeight, float]] = {}

    def of(self, node: Node, scheme: Scheme, per_channel: bool) -> StoredWeight:
        """Returns the quantized weight (second input) of a convolution or matmul."""
        key = (id(node.inputs[1]), f"{node.op}", scheme, per_channel)
        if key not in self._weights:
            self._weights[key] = quantize_weight(node, 1, scheme, per_channel)
        return self._weights[key]

    def error(self, weight: StoredWeight, real: npt.NDArray[np.float64]) -> float:
        """Returns |w' - w| / |w| in the 2-norm."""
        if id(weight) not in self._errors:
            self._errors[id(weight)] = (weight, relative_error(weight.real(), real))
        return self._errors[id(weight)][1]


def mac_constants(
    node: Node,
    x: QuantParam,
    y: QuantParam,
    precision: Precision,
    settings: QuantizerSettings,
    calibration: Calibration,
    given: Mapping[str, StoredWeight],
    rounded: RoundedWeightCache,
) -> MacConstants:
    """Quantizes the constants of `node`, a float convolution or matmul with a constant weight.

    `x` and `y` are the quantization parameters of its input and output. `given` weights (by the constant's name)
    replace rounding to nearest. `rounded` is the cache for shared weights.
    """
    source = node.inputs[1]
    real = source.array().astype(np.float64)
    scheme = weight_scheme(settings)
    weight = given.get(source.name)
    if weight is None and calibration.tuned is not None:
        weight = calibration.tuned.weights.get(source.name)
    if weight is None:
        weight = rounded.of(node, scheme, is_per_channel(node, settings))
    bias = node.inputs[2].array().astype(np.float64) if len(node.inputs) > 2 else None
    shift = mean_shift(node, weight, settings, calibration)
    if shift is not None:
        shape = bias.shape if bias is not None else shift.shape
        bias = (np.zeros(shape) if bias is None else bias) - shift.reshape(shape)
    factors = _factors(bias, weight, x, y, precision)
    if max(factors) > 1:
        weight = rescaled(weight, real, factors, scheme)
    error = rounded.error(weight, real)
    largest = float(np.abs(bias).max()) if bias is not None and bias.size else 0.0
    return MacConstants(
        packed_constant(weight, source, source.name)
        if scheme.bits < 8 or settings.prune.method == "MAGNITUDE"
        else constant_of(weight, source, source.name),
        None if bias is None else _bias_constant(node, bias, weight, x, precision),
        error,
        float(np.abs(shift).max()) / largest if shift is not None and largest else 0.0,
    )


def mean_shift(
    node: Node, weight: StoredWeight, settings: QuantizerSettings, calibration: Calibration
) -> npt.NDArray[np.float64] | None:
    """Returns the change of the mean of each output channel by rounding of the weight; None without bias correction."""
    if not settings.full.bias_correction or not device_of(settings).bias_correction:
        return None
    means = calibration.means.get(node.name)
    mean = None if means is None else means.mean()
    if mean is None:
        return None
    shift = mean_output_shift(node, weight.real().astype(np.float64) - node.inputs[1].array().astype(np.float64), mean)
    if shift is None or (len(node.inputs) > 2 and node.inputs[2].array().size != shift.size):
        return None
    return shift


def _factors(
    bias: npt.NDArray[np.float64] | None, weight: StoredWeight, x: QuantParam, y: QuantParam, precision: Precision
) -> list[float]:
    """Returns factors by which the weight's scales must grow.

    They ensure that the bias fits into its integers, and that the multiplier to the output is not 0 in the kernels.
    """
    scales = np.array([item.scale for item in weight.records]) * x.scale
    factors = np.maximum(_MIN_MULTIPLIERS[precision] * y.scale / scales, 1.0)
    if bias is not None:
        magnitudes = np.abs(bias).reshape(-1)
        if len(weight.records) == 1 or magnitudes.size != scales.size:
            magnitudes = np.full(scales.shape, magnitudes.max() if magnitudes.size else 0.0)
        factors = np.maximum(factors, magnitudes / (scales * _BIAS_SHARE * _BIAS_LIMITS[precision]))
    return [float(factor) for factor in factors]


def _bias_constant(
    node: Node, bias: npt.NDArray[np.float64], weight: StoredWeight, x: QuantParam, precision: Precision
) -> Value:
    """Returns the integer bias, round(bias / (input scale * weight scale)), which is added to the accumulator."""
    dtype, kind = _BIAS_TYPES[precision]
    limit = _BIAS_LIMITS[precision]
    records = tuple(
        QuantParam(scale=item.scale * x.scale, zeroPoint=0, numBits=32, dstDtype=int(dtype)) for item in weight.records
    )
    steps = bias / np.array([item.scale for item in records]).reshape([-1] if len(records) > 1 else [])
    rounded = np.sign(steps) * np.floor(np.abs(steps) + 0.5)
    name = node.inputs[2].name if len(node.inputs) > 2 else f"{node.name}_bias"
    data = np.clip(rounded, -limit, limit).astype(kind)
    return Value(name, dtype, tuple(data.shape), data=data, format=node.inputs[1].format, quant=records)


def with_bias(node: Node) -> None:
    """Sets the attribute `has_bias`, if the operator has it."""
    if isinstance(node.op, FullConnection) and not node.op.has_bias:
        node.op = dataclasses.replace(node.op, has_bias=True)
