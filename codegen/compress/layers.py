"""Makes a step with compressed constants, which are decompressed in tiles.

For a tile, the kernel is prepared and its weights are packed as if the layer had only the tile's output channels. So
kernels need no changes for compression, and the results are bit-identical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from mslite.codegen import sources
from mslite.codegen.compress.encode import BLOCK, NIBBLES, RAW, Encoded, best, encode, form_bytes
from mslite.codegen.program import Call, Program, Step, Storage
from mslite.converter.mindir.graph import numpy_type

STATIC = Path(__file__).parent / "static"
_INPUTS = 4
_PHASES = 4
_ALIGNMENT = 8
_OVERHEAD = 112
"""Bytes of flash for the additional parameters of a compressed step."""
_SIGNS = {
    0: ".add = 0x78787878U, .flip = 0x80808080U",
    8: ".add = 0, .flip = 0",
    -120: ".add = 0x80808080U, .flip = 0",
}
"""`base` -> constants of the C code that converts four 4-bit integers to bytes."""
_CYCLES = {RAW: 25, NIBBLES: 70}
"""Estimated instructions per block, by format."""
_SPARSE_CYCLES = 118


@dataclass(frozen=True)
class Tiles:
    """Compressed constants of a step. `steps`: the first and the last tile, made by `Program.cut_channels`; `count`:
    number of tiles."""

    operand: int
    """Index of the compressed input."""
    channels: int
    """Output channels of a tile."""
    count: int
    steps: tuple[Step, Step]
    encoded: tuple[Encoded, ...]
    plain_size: int

    @property
    def size(self) -> int:
        """Bytes in flash."""
        forms = sum(len(one.forms) for one in self.encoded)
        return -(-forms // 4) + sum(len(one.data) for one in self.encoded) + _OVERHEAD

    @property
    def saved(self) -> int:
        return self.plain_size - self.size


def whole(step: Step) -> Tiles | None:
    """Compresses the largest constant of a step as one tile. Returns None if there is none or the step is not
    supported."""
    found = _operand(step)
    if found is None or len(step.outputs) != 1 or len(step.inputs) > _INPUTS or len(step.parts) > _PHASES:
        return None
    operand, data = found
    channels = step.outputs[0].shape[-1] if step.outputs[0].shape else 1
    return Tiles(operand, channels, 1, (step, step), (best(data),), len(data))


def tiled(program: Program, step: Step, plain: Tiles, channels: int) -> Tiles | None:
    """Compresses the constant in tiles of `channels` output channels. Returns None if the kernel does not support
    them."""
    total = step.outputs[0].shape[-1] if step.outputs[0].shape else 0
    if program.cut_channels is None or set(step.packed) != {1} or not 0 < channels < total:
        return None
    if any(operand is not None for operand in step.inputs[2:]):
        return None
    cuts = [program.cut_channels(step, at, min(channels, total - at)) for at in range(0, total, channels)]
    steps = [cut for cut in cuts if cut is not None and set(cut.packed) == {1}]
    if len(steps) < len(cuts) or any(_numbers(cut) != _numbers(steps[0]) for cut in steps[:-1]):
        return None
    way = plain.encoded[0]
    encoded = tuple(encode(cut.packed[1], way.borrows, way.base) for cut in steps)
    return Tiles(plain.operand, channels, len(steps), (steps[0], steps[-1]), encoded, plain.plain_size)


def _numbers(step: Step) -> tuple[object, ...]:
    return step.derived, step.parts, len(step.packed[1])


def _operand(step: Step) -> tuple[int, bytes] | None:
    """Returns the input index and the bytes of the largest constant, or None."""
    found: list[tuple[int, int, bytes]] = []
    for place, operand in enumerate(step.inputs):
        if operand is None:
            continue
        if place in step.packed:
            found.append((len(step.packed[place]), place, step.packed[place]))
        elif operand.storage is Storage.CONSTANT and operand.alias_of is None and operand.data is not None:
            found.append((operand.data.nbytes, place, operand.data.tobytes()))
    return max(found)[1:] if found else None


def with_tiles(step: Step, tiles: Tiles) -> Step:
    """Returns the step that decompresses its constants. With one tile, its output may overlap inputs as before."""
    first, last = tiles.steps
    blocks = [len(one.forms) for one in (tiles.encoded[0], tiles.encoded[-1])]
    output = step.outputs[0]
    element = numpy_type(output.dtype).itemsize
    total = output.shape[-1] if output.shape else 1
    rows = output.size // (total * element) if total else 0
    is_single = tiles.count == 1
    shared_at = max(blocks) * BLOCK
    scratch_at = shared_at + _rounded(max(first.shared_size, last.shared_size))
    output_at = scratch_at + _rounded(max(first.scratch_size, last.scratch_size))
    apart = not is_single and rows > 1
    size = output_at + (_rounded(rows * tiles.channels * element) if apart else 0)
    last_channels = total - (tiles.count - 1) * tiles.channels
    forms = form_bytes(tuple(form for one in tiles.encoded for form in one.forms))
    fields = [
        f".tiles = {tiles.count}, .blocks = {blocks[0]}, .last_blocks = {blocks[1]}",
        f".forms_size = {len(forms)}",
        f".shared_at = {shared_at}, .scratch_at = {scratch_at}, .output_at = {output_at if apart else 0}",
        f".rows = {rows}, .row_size = {total * element}",
        f".tile_size = {tiles.channels * element}, .last_size = {last_channels * element}",
        f".operand = {tiles.operand}, .input_count = {len(step.inputs)}",
        sign_fields(tiles.encoded[0]),
    ]
    call = Call(
        function="mslite_compressed_run",
        header="compressed/compressed.h",
        type="mslite_compressed",
        numbers=lambda isa: _initializer(first, last, fields, isa),
        files={f"src/compressed/{name}": _source(name) for name in ("compressed.h", "compressed.c")},
        kernels=(step.kernel,),
        more_instructions=_instructions(step, tiles, rows),
        plain_constants=sum(map(len, step.packed.values())) + _others(step) if step.packed else _others(step),
    )
    data = forms + b"".join(one.data for one in tiles.encoded)
    return replace(
        step,
        kernel=f"{step.kernel}_compressed",
        derived=b"",
        parts=(1,),
        shared_size=0,
        scratch_size=size,
        packed={**step.packed, tiles.operand: data},
        in_place=step.in_place if is_single else -1,
        overlaps=step.overlaps if is_single else (),
        rows=None,
        call=call,
        note=_note(tiles),
    )


def sign_fields(encoded: Encoded) -> str:
    """Returns the fields of the C struct for converting 4-bit integers to bytes."""
    return _SIGNS[encoded.base] + (", .borrows = 0x00800080U" if encoded.borrows else "")


def _others(step: Step) -> int:
    """Returns the bytes of constants that are not packed."""
    return sum(
        operand.size
        for place, operand in enumerate(step.inputs)
        if operand is not None and operand.storage is Storage.CONSTANT and place not in step.packed
    )


def _note(tiles: Tiles) -> str:
    forms = [form for one in tiles.encoded for form in one.forms]
    nibbles = sum(form == NIBBLES for form in forms)
    sparse = sum(form > NIBBLES for form in forms)
    kind = "4 bits" if nibbles >= sparse else "sparse"
    where = "" if tiles.count == 1 else f", {tiles.channels} channels at a time"
    return f"{kind}{where}"


def _rounded(size: int) -> int:
    return size + -size % _ALIGNMENT


def _instructions(step: Step, tiles: Tiles, rows: int) -> int:
    """Returns the estimated instructions of decompression and, with several tiles, of reading the input again."""
    unpacking = sum(_CYCLES.get(form, _SPARSE_CYCLES) for one in tiles.encoded for form in one.forms)
    again = 0
    if tiles.count > 1:
        terms = step.macs // max(1, int(np.prod(step.outputs[0].shape)))
        again = (tiles.count - 1) * rows * terms // 2 + rows * tiles.count * 20
    return unpacking + again


def _initializer(first: Step, last: Step, fields: Sequence[str], isa: str) -> str:
    """Returns the initializer of the C struct, with the kernel's parameters as compound literals."""

    def pointer(step: Step) -> str:
        if not step.derived:
            return "NULL"
        name, text = sources.derived_initializer(step.kernel, step.derived, isa)
        return f"&(const {name}){text}"

    run = sources.run_function(first.kernel, isa)[1]
    parts = ", ".join(map(str, first.parts))
    lines = [
        f".run = {run}",
        f".numbers = {pointer(first)}",
        f".last_numbers = {pointer(last)}",
        f".parts = {{{parts}}}",
    ]
    inner = "".join("  " + line.replace("\n", "\n  ") + ",\n" for line in [*lines, *fields])
    return f"{{\n{inner}}}"


@cache
def _source(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")
