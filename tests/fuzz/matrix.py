"""Files of one node: every operator with any number and data type of operands, with and without quantization parameters.

    python -m tests.fuzz.matrix <folder> [--step 7] [--cases 2]     # writes the files

`plain` files have default attributes. `spoiled` files are reference cases of kernels, with valid attributes and shapes, in which operands
and attributes are changed, so that they reach the kernels.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.reference import CASES, Case

from .mutate_ms import change_attribute
from .one_node import Operand, one_node_file

TYPES = (
    DataType.FLOAT32, DataType.FLOAT16, DataType.FLOAT64, DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32,
    DataType.INT64, DataType.BOOL, DataType.STRING, DataType.UINT32, DataType.UINT64, DataType.UINT16, DataType.UNKNOWN,
    DataType.TENSOR_LIST, DataType.COMPLEX64,
)  # fmt: skip
SIZES = {
    DataType.FLOAT16: 2, DataType.INT16: 2, DataType.UINT16: 2, DataType.FLOAT32: 4, DataType.INT32: 4, DataType.UINT32: 4,
    DataType.FLOAT64: 8, DataType.INT64: 8, DataType.UINT64: 8, DataType.COMPLEX64: 8,
}  # fmt: skip
OUTPUT_TYPES = (None, DataType.INT8, DataType.INT32, DataType.FLOAT32, DataType.INT64, DataType.UINT8, DataType.INT16)
"""None: the data type of the first input."""
DIMS = ((2, 3), (1, 4, 4, 2), (), (3,), (0,), (2, 3, 4), (1,), (-1, 3))
RECORDS = ("none", "all", "inputs", "outputs", "first", "odd")

_GOOD = QuantParam(scale=0.05, zeroPoint=3, numBits=8, inited=True)
_EXTREME = tuple(QuantParam(scale=scale, zeroPoint=3, inited=True) for scale in (1e38, 1e300, 1e-38, 1e-300, 1e9, 1e-9))
"""Returns quantization parameters that are unusual but valid."""
_ODD = (
    QuantParam(scale=1e38, zeroPoint=0, inited=True), QuantParam(scale=float("nan"), inited=True),
    QuantParam(scale=0.0, inited=True), QuantParam(scale=-1.0, zeroPoint=1 << 30, inited=True),
    QuantParam(scale=float("inf"), inited=True), QuantParam(scale=1e-300, zeroPoint=-(1 << 31), inited=True),
)  # fmt: skip


def _records(kind: str, number: int, is_input: bool, rng: random.Random) -> tuple[QuantParam, ...]:
    if kind == "odd":
        return (rng.choice(_ODD),) * rng.choice((1, 1, 2))
    has = {"none": False, "all": True, "inputs": is_input, "outputs": not is_input, "first": is_input and number == 0}
    return (_GOOD,) * rng.choice((1, 1, 1, 3)) if has[kind] else ()


def _contents(kind: int, dims: Sequence[int], rng: random.Random) -> bytes | None:
    """Returns small or arbitrary integers."""
    count = 1
    for dim in dims:
        count *= dim
    if count < 0:
        return None
    size = SIZES.get(DataType(kind), 1)
    if rng.random() < 0.3:
        return rng.randbytes(count * size)
    return b"".join(rng.randrange(3).to_bytes(size, "little") for _ in range(count))


def plain(step: int = 1, first: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yields every `step`-th file of the matrix: name and bytes."""
    whole = itertools.product(sorted(OPERATORS), range(4), range(3), TYPES, OUTPUT_TYPES, RECORDS)
    for number, (name, inputs, outputs, kind, output_kind, records) in enumerate(whole):
        if number % step != first:
            continue
        rng = random.Random(number)
        read = []
        for i in range(inputs):
            own = kind if i == 0 or rng.random() < 0.5 else rng.choice(TYPES)
            dims = rng.choice(DIMS)
            data = _contents(own, dims, rng) if rng.random() < (0.6 if i else 0.15) else None
            read.append(Operand(own, dims, _records(records, i, True, rng), data))
        made = []
        for i in range(outputs):
            own = kind if output_kind is None else output_kind
            made.append(Operand(own, rng.choice(DIMS), _records(records, i, False, rng)))
        quant_type = QuantType.QUANT_NONE if records == "none" or rng.random() < 0.5 else QuantType.QUANT_ALL
        yield f"{number:07}_{name}", one_node_file(OPERATORS[name](), read, made, quant_type)


def _operand(array: np.ndarray, is_constant: bool) -> Operand:
    return Operand(
        int(data_type_of(array)), array.shape, (), np.ascontiguousarray(array).tobytes() if is_constant else None
    )


def _spoil_operand(operand: Operand, rng: random.Random) -> Operand:
    kind = rng.randrange(6)
    if kind == 0:
        return replace(operand, type=rng.choice(TYPES), data=operand.data and rng.randbytes(8 * len(operand.data)))
    if kind == 1:
        return replace(operand, type=rng.choice(TYPES), data=None)
    if kind == 2:
        wide = operand.data if operand.data is None else _contents(operand.type, operand.dims, rng)
        return replace(operand, data=wide)
    if kind == 3:
        dims = rng.choice(DIMS)
        return replace(operand, dims=dims, data=operand.data and _contents(operand.type, dims, rng))
    if kind == 4:
        return replace(operand, data=None)
    return replace(operand, records=(rng.choice((_GOOD, *_ODD)),) * rng.choice((1, 1, 2, 3)))


def _as_integers(operand: Operand, kind: DataType, records: Sequence[QuantParam], rng: random.Random) -> Operand:
    """Returns a float operand as a quantized one."""
    if operand.type != DataType.FLOAT32:
        return operand
    data = operand.data and rng.randbytes(len(operand.data) // 4 * SIZES.get(kind, 1))
    return replace(operand, type=kind, data=data, records=(rng.choice(records),))


def spoiled(case: Case, variant: int) -> bytes:
    """Returns a file of the case's node with other operands. Even variants are quantized first."""
    rng = random.Random(f"{case.name} {variant}")
    arrays = [array for array in case.inputs if array is not None]
    read = [_operand(array, i in case.constants or rng.random() < 0.2) for i, array in enumerate(arrays)]
    most = len(case.op.declaration.outputs)
    made = [
        Operand(read[0].type if read else DataType.FLOAT32, (2,))
        for _ in range(rng.choice((most, most, most, 1, most + 1)))
    ]
    quant_type = QuantType.QUANT_NONE
    if variant % 2 == 0:
        kind = rng.choice((DataType.INT8, DataType.INT8, DataType.UINT8, DataType.INT16))
        records = (_GOOD, *_EXTREME) if variant % 4 == 0 else (_GOOD,)
        read = [_as_integers(operand, kind, records, rng) for operand in read]
        made = [replace(operand, type=kind, records=(rng.choice(records),)) for operand in made]
        quant_type = rng.choice((QuantType.QUANT_ALL, QuantType.QUANT_NONE))
    operator = replace(case.op)
    if rng.random() < 0.4:
        change_attribute(operator, rng)
    for _ in range(rng.choice((0, 1, 1, 2))):
        everything = read + made
        place = rng.randrange(len(everything) + 2) if everything else 0
        if place < len(read):
            read[place] = _spoil_operand(read[place], rng)
        elif place < len(everything):
            output = made[place - len(read)]
            made[place - len(read)] = replace(_spoil_operand(output, rng), data=None)
        elif read and rng.random() < 0.5:
            read.pop()
        else:
            read.append(rng.choice(read) if read else Operand(DataType.INT32, (2,)))
    return one_node_file(operator, read, made, quant_type)


def spoiled_cases(variants: int, step: int = 1, first: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yields `variants` files of every `step`-th reference case."""
    for number, case in enumerate(CASES):
        if number % step != first:
            continue
        for variant in range(variants):
            yield f"c{number:05}_{variant}_{case.op.name}", spoiled(case, variant)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes `.ms` files with one unusual node each.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", type=int, default=97, help="write every N-th file of the matrix (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first file (%(default)s)")
    parser.add_argument("--cases", type=int, default=1, help="files per reference case (%(default)s)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, data in itertools.chain(plain(given.step, given.first), spoiled_cases(given.cases)):
        (given.folder / f"{name}.ms").write_bytes(data)


if __name__ == "__main__":
    main()
