"""Reads properties that only the bytes of a file show: fields that are stored although they have the default value."""

from __future__ import annotations

from collections.abc import Iterator

from mslite.converter.mindir.flatbuffer import Source

_TENSORS, _RECORDS, _NAME, _SCALE, _INITED = 7, 7, 9, 0, 6
"""Field slots: MetaGraph.allTensors, Tensor.quantParams, Tensor.name, QuantParam.scale and inited."""


def tensors_without_scale(file: bytes | memoryview) -> Iterator[str]:
    """Returns the names of tensors with valid quantization parameters but no stored scale."""
    for tensor in Source(memoryview(file)).root().tables(_TENSORS) or ():
        records = tensor.tables(_RECORDS) or ()
        if any(record.scalar(_INITED, "bool") and record.position(_SCALE) is None for record in records):
            yield tensor.text(_NAME) or ""
