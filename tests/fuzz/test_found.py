"""What libFuzzer found in the loader and the kernels, as small as it can be said."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import DataType, QuantType, ResizeMethod, WeightQuantCompressType
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.mindir.ops.resize import ResizeND
from mslite.converter.mindir.ops.tables import QuantParam

from .one_node import Operand, one_node_file
from .sanitized import run_files, runtime_program

pytestmark = pytest.mark.nonconforming("odd nodes are what these files are for")

RECORD = (QuantParam(scale=0.1, inited=True),)
F32, I16, I64 = DataType.FLOAT32, DataType.INT16, DataType.INT64
FOUND: dict[str, tuple[Operator, list[Operand], list[Operand]]] = {
    # Its kernel on int16 read the record of a result that has none.
    "softmax": (Softmax(axis=(1,)), [Operand(I16, (2, 3), RECORD)], [Operand(I16, (2, 3), ())]),
    # Products of sizes overflowed 64 bits.
    "attribute": (
        Conv2DFusion(kernel_size=(1, 1), group=1 << 62),
        [Operand(F32, (1, 4, 4, -1), ()), Operand(F32, (2, 1, 1, 2), (), bytes(16))],
        [Operand(F32, (1, 4, 4, 2), ())],
    ),
    # Packed, as the file says, in 8 bits: as they are, and nobody counted the bytes.
    **{
        f"{bits} bits": (
            AddFusion(),
            [
                Operand(F32, (6, 10), ()),
                Operand(
                    F32, (6, 10), (QuantParam(scale=0.5, numBits=bits),), bytes(96), WeightQuantCompressType.BITPACKING
                ),
            ],
            [Operand(F32, (6, 10), ())],
        )
        for bits in (0, 7, 8, 9, 16, 32)
    },
    # 13 seconds for nothing, when it runs and when it is folded.
    "rows": (LayerNormFusion(begin_norm_axis=1), [Operand(F32, ((1 << 31) - 1, 0, 3), ())], [Operand(F32, (2,), ())]),
    "folded": (
        LayerNormFusion(begin_norm_axis=1),
        [Operand(F32, ((1 << 31) - 1, 0, 3), (), b"")],
        [Operand(F32, (2,), ())],
    ),
    # Float values that no integer holds: a common scale, a region, what stands outside of it.
    "sizes": (
        ResizeND(keep_aspect_ratio_policy="not_larger"),
        [Operand(F32, (2, 1000), ()), Operand(I64, (2,), (), struct.pack("<2q", 1 << 62, 1 << 62))],
        [Operand(F32, (2, 2), ())],
    ),
    "region": (
        ResizeND(method=ResizeMethod.LINEAR, coordinate_transformation_mode="tf_crop_and_resize"),
        [
            Operand(F32, (4, 4), ()),
            Operand(I64, (2,), (), struct.pack("<2q", 3, 3)),
            Operand(F32, (4,), (), struct.pack("<4f", -1e30, float("nan"), float("inf"), 1e30)),
        ],
        [Operand(F32, (3, 3), ())],
    ),
    "outside": (
        ResizeND(coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=1e30),
        [
            Operand(DataType.INT32, (4, 4), ()),
            Operand(I64, (2,), (), struct.pack("<2q", 3, 3)),
            Operand(F32, (4,), (), struct.pack("<4f", -1, -1, 2, 2)),
        ],
        [Operand(DataType.INT32, (3, 3), ())],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_mended(name: str, tmp_path: Path) -> None:
    operator, inputs, outputs = FOUND[name]
    path = tmp_path / f"{name}.ms"
    path.write_bytes(one_node_file(operator, inputs, outputs, QuantType.QUANT_ALL))
    run_files(runtime_program(), [path]).check()
