"""Rules about quantization parameters. The table lists them by name; `file_rules.py` has the others."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import DataType, QuantType

from .file_rules import PACKS, Found, file_rule, name_of
from .stored import tensors_without_scale
from .view import View


@file_rule
def records_are_valid(view: View) -> Found:
    """Quantization parameters of integer constants and activations are marked as valid."""
    for index, tensor in enumerate(view.tensors):
        if tensor.dataType in (DataType.INT8, DataType.UINT8, DataType.INT16) and any(
            not record.inited for record in tensor.quantParams or ()
        ):
            yield name_of(view, index), "a quantization record is not marked as valid"


@file_rule
def records_fit_weights(view: View) -> Found:
    """A weight has one scale, or one per output channel: the first dimension; of a matmul the last or first one."""
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
    """Valid quantization parameters store the scale even if it is the default; checked if the bytes are available."""
    for name in tensors_without_scale(view.file) if view.file is not None else ():
        yield name, "the scale of a quantization record is not stored"
