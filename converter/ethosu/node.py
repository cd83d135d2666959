"""Reads and writes the Custom node for a subgraph on the NPU.

Its inputs are the command stream and the constants (uint8), then the inputs of the subgraph. While the NPU runs, inputs
and outputs are in the scratch buffer, at the offsets of the attribute `places`. Numbers in attributes are
little-endian, 8 bytes each.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.mindir.ops.custom import Custom

TYPE = "ethos-u"

_NUMBERS = ("scratch", "fast_scratch", "cycles", "macs", "sram")
_TEXTS = ("accelerator", "vela")


@dataclass(frozen=True)
class NpuCall:
    """The attributes of the Custom node."""

    accelerator: str
    vela: str
    """Version, system configuration and memory mode of vela."""
    scratch: int
    """Size of the scratch buffer in bytes."""
    fast_scratch: int
    """Size of a second, faster scratch buffer in bytes; 0 if there is only one."""
    places: tuple[int, ...]
    """Offsets of the inputs, then of the outputs, in the scratch buffer."""
    cycles: int
    macs: int
    sram: int


def custom_of(call: NpuCall) -> Custom:
    attributes = [(name, getattr(call, name).encode()) for name in _TEXTS]
    attributes += [(name, struct.pack("<q", getattr(call, name))) for name in _NUMBERS]
    attributes.append(("places", struct.pack(f"<{len(call.places)}q", *call.places)))
    return Custom(type=TYPE, attr=tuple(attributes))


def call_of(attributes: Iterable[tuple[str | None, bytes | None]], operands: int) -> NpuCall:
    """Reads the attributes of a node with `operands` inputs and outputs. Raises ValueError if they are damaged."""
    found = {name: data for name, data in attributes if name is not None and data is not None}
    try:
        texts = [found[name].decode() for name in _TEXTS]
        numbers = [struct.unpack("<q", found[name])[0] for name in _NUMBERS]
        places = struct.unpack(f"<{operands}q", found["places"])
    except (KeyError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"its attributes are damaged ({error}); convert the model again") from None
    if min(*numbers, *places) < 0:
        raise ValueError("its attributes are damaged (a size is negative); convert the model again")
    accelerator, vela = texts
    scratch, fast_scratch, cycles, macs, sram = numbers
    return NpuCall(accelerator, vela, scratch, fast_scratch, places, cycles, macs, sram)
