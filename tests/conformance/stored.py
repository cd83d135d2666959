"""What only the bytes of a file tell: fields that are stored though they hold the default."""

from __future__ import annotations

from collections.abc import Iterator

from mslite.converter.mindir.flatbuffer import Source

_TENSORS, _RECORDS, _NAME, _SCALE, _INITED = 7, 7, 9, 0, 6
"""Slots: MetaGraph.allTensors, Tensor.quantParams, Tensor.name, QuantParam.scale and inited."""


def tensors_without_scale(file: bytes | memoryview) -> Iterator[str]:
    """The names of tensors with a valid quantization record whose scale is not stored."""
    for tensor in Source(memoryview(file)).root().tables(_TENSORS) or ():
        records = tensor.tables(_RECORDS) or ()
        if any(record.scalar(_INITED, "bool") and record.position(_SCALE) is None for record in records):
            yield tensor.text(_NAME) or ""
