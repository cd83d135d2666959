"""Rules of each `target_device`: which operators are quantized, and with which schemes."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Node
from mslite.quantizer.precision.schemes import INT8_ACTIVATION, INT8_WEIGHT, INT16_ACTIVATION, Scheme
from mslite.quantizer.settings import QuantizerSettings, TargetDevice


@dataclass(frozen=True)
class Device:
    """The rules of one device. `operators` are names; None means all supported operators."""

    operators: frozenset[str] | None = None
    activation: Scheme = INT8_ACTIVATION
    weight: Scheme = INT8_WEIGHT
    bias_correction: bool = True
    per_channel: bool = True
    keeps_range: bool = False
    """Whether quantization parameters also store `min` and `max` of the range."""


_DEVICES = {
    TargetDevice.CPU: Device(),
    TargetDevice.KIRIN: Device(
        operators=frozenset({"Conv2DFusion", "FullConnection"}),
        activation=Scheme(unsigned=True),
        bias_correction=False,
    ),
    TargetDevice.DSP: Device(),
    TargetDevice.NVGPU: Device(
        operators=frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "MatMulFusion", "Activation"}),
        activation=Scheme(symmetric=True, narrow=True),
        keeps_range=True,
    ),
    TargetDevice.ASCEND: Device(
        operators=frozenset({"Conv2DFusion", "MatMulFusion"}),
        weight=INT8_WEIGHT,
    ),
}


def device_of(settings: QuantizerSettings) -> Device:
    """Returns the rules of the configured `target_device`."""
    return _DEVICES[settings.full.target_device]


def activation_scheme(settings: QuantizerSettings, bits: int) -> Scheme:
    """Returns the scheme of activations with `bits` bits (8 or 16)."""
    return INT16_ACTIVATION if bits > 8 else device_of(settings).activation


def weight_scheme(settings: QuantizerSettings) -> Scheme:
    """Returns the scheme of weights for FULL_QUANT: at most 8 bits, even with int16 activations."""
    base = device_of(settings).weight
    bits = min(settings.common.bit_num, 8)
    return Scheme(bits, base.symmetric, base.narrow and bits > 1)


def is_per_channel(node: Node, settings: QuantizerSettings) -> bool:
    """Whether a node's weight has one scale per channel. Grouped transposed convolutions have one scale."""
    if not settings.full.per_channel or not device_of(settings).per_channel:
        return False
    if node.op.name != "Conv2dTransposeFusion":
        return True
    group = getattr(node.op, "group", 1)
    return group in (0, 1) or group == getattr(node.op, "in_channel", 0) == getattr(node.op, "out_channel", 0)
