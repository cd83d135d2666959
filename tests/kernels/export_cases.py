"""Writes all kernel cases to one file for machines without Python, such as QEMU. `run_cases` reads it.

    python -m tests.kernels.export_cases cases.bin

All numbers are little-endian int64 unless stated otherwise. File: magic "MSLCASES", number of cases. Case: name, primitive, tolerance
(float64), inputs, outputs. Text and bytes: length, bytes. Inputs and outputs: count; each: data type, rank, dimensions, constant (0 or 1),
bytes.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import BinaryIO

from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.reference import CASES, Array
from mslite.converter.mindir.serialization import primitive_bytes

from .calls import expected, inputs_of


def _number(file: BinaryIO, *values: int) -> None:
    file.write(struct.pack(f"<{len(values)}q", *values))


def _bytes(file: BinaryIO, data: bytes) -> None:
    _number(file, len(data))
    file.write(data)


def _tensor(file: BinaryIO, array: Array, constant: bool) -> None:
    _number(file, int(data_type_of(array)), array.ndim, *array.shape, int(constant))
    _bytes(file, array.tobytes())


def main() -> None:
    with Path(sys.argv[1]).open("wb") as file:
        file.write(b"MSLCASES")
        _number(file, len(CASES))
        for case in CASES:
            _bytes(file, case.name.encode())
            _bytes(file, bytes(primitive_bytes(case.op)))
            file.write(struct.pack("<d", case.tolerance))
            inputs = inputs_of(case)
            _number(file, len(inputs))
            for i, array in enumerate(inputs):
                _tensor(file, array, i in case.constants)
            outputs = expected(case.name)
            _number(file, len(outputs))
            for array in outputs:
                _tensor(file, array, False)
    print(f"{len(CASES)} cases in {sys.argv[1]}")


if __name__ == "__main__":
    main()
