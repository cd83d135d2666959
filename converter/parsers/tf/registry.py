"""The table of TensorFlow operators and the functions that convert them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mslite.converter.mindir.graph import Value

    from .call import Call

Converter = Callable[["Call"], "Value | Sequence[Value]"]

CONVERTERS: dict[str, Converter] = {}

ON_COMPLEX: dict[str, Converter] = {}
"""Converters of nodes that read complex numbers; see `complex_numbers`."""

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
"""Operators that pass complex numbers on like all others."""

CALL_BY_NAME = "_Call"
"""The entry for nodes whose operator is a function of the model."""

QUANTIZED = ("Quantized", "Requantiz", "Uniform", "QuantizeV2", "QuantizeAndDequantize", "Dequantize", "QuantizeDown")
"""How the names of TensorFlow's operators on quantized types begin."""


def tf_operator(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter for operators of these names."""

    def register(converter: Converter) -> Converter:
        for name in names:
            if name in CONVERTERS:
                raise TypeError(f"TensorFlow operator {name} has two converters")
            CONVERTERS[name] = converter
        return converter

    return register
