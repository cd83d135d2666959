"""Registry of converters for TensorFlow operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mslite.converter.mindir.graph import Value

    from .call import Call

Converter = Callable[["Call"], "Value | Sequence[Value]"]

CONVERTERS: dict[str, Converter] = {}

ON_COMPLEX: dict[str, Converter] = {}
"""Converters of nodes with complex operands; see `complex_numbers`."""

COMPLEX_PASSES = frozenset(
    {
        "Identity",
        "IdentityN",
        "StopGradient",
        "PreventGradient",
        "Snapshot",
        "PartitionedCall",
        "StatefulPartitionedCall",
    }
)
"""Operators with converters that are the same for complex and other values."""

CALL_BY_NAME = "_Call"
"""Key of the converter for nodes that call a function of the model by name."""

QUANTIZED = ("Quantized", "Requantiz", "Uniform", "QuantizeV2", "QuantizeAndDequantize", "Dequantize", "QuantizeDown")
"""Prefixes of the names of TensorFlow's operators on quantized types."""


def tf_operator(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter for operators with these names."""

    def register(converter: Converter) -> Converter:
        for name in names:
            if name in CONVERTERS:
                raise TypeError(f"TensorFlow operator {name} has two converters")
            CONVERTERS[name] = converter
        return converter

    return register
