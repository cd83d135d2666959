"""The rules about quantization records. The table names them; `file_rules.py` has the others."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType, QuantType

from .file_rules import PACKS, Found, file_rule, name_of
from .stored import tensors_without_scale
from .view import View


@file_rule
def records_are_valid(view: View) -> Found:
    """The quantization records of stored and computed integers are marked as valid."""
    for index, tensor in enumerate(view.tensors):
        if tensor.dataType in (DataType.INT8, DataType.UINT8, DataType.INT16) and any(
            not record.inited for record in tensor.quantParams or ()
        ):
            yield name_of(view, index), "a quantization record is not marked as valid"


@file_rule
def records_fit_weights(view: View) -> Found:
    """A weight has one record, or one for each channel, the first dimension; that of a matrix product the last, or first."""
    for node in view.nodes:
        if node.operator not in (*PACKS, "FullConnection") and node.node.quantType is not QuantType.QUANT_WEIGHT:
            continue
        for operand in node.inputs[1:]:
            count, dims = len(operand.records), operand.dims
            if operand.is_constant and operand.dtype in (DataType.INT8, DataType.INT16) and count > 1 and dims:
                channels = {dims[0], dims[-1]} if node.operator == "MatMulFusion" else {dims[0]}
                if count not in channels:
                    yield node.name, f"{operand.name} has {count} quantization records for {list(dims)}"


@file_rule
def scales_are_stored(view: View) -> Found:
    """Every valid quantization record stores its scale, also where it is the default; told where the bytes are at hand."""
    for name in tensors_without_scale(view.file) if view.file is not None else ():
        yield name, "the scale of a quantization record is not stored"
