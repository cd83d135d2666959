"""Returns the memory that a command stream reads and writes, which a generated project must provide.

A command is a word: its code in the low 16 bits, a parameter in the others. With bit 14 of the code, a word of payload follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_HAS_PAYLOAD = 0x4000
_STREAM, _NOP, _CONFIGURATION = 2, 5, 1
_REGIONS = {
    "ifm": 0x010F,
    "ofm": 0x011F,
    "weight": 0x0128,
    "scale": 0x0129,
    "ifm2": 0x018F,
    "source": 0x0130,
    "target": 0x0131,
}
_BASES = {
    "ifm": 0x4000,
    "ofm": 0x4010,
    "weight": 0x4020,
    "scale": 0x4022,
    "ifm2": 0x4080,
    "source": 0x4030,
    "target": 0x4031,
}
_LENGTHS = {"weight": 0x4021, "scale": 0x4023, "source": 0x4032, "target": 0x4032}
_DMA, _PRODUCT, _DEPTHWISE, _POOL, _ELEMENTWISE = 0x0010, 0x0002, 0x0003, 0x0005, 0x0006
_USES = {
    _DMA: ("source", "target"),
    _PRODUCT: ("ifm", "ofm", "weight", "scale"),
    _DEPTHWISE: ("ifm", "ofm", "weight", "scale"),
    _POOL: ("ifm", "ofm"),
    _ELEMENTWISE: ("ifm", "ofm"),
}
_INSIDE = 1 << 8
"""Value of a region's parameter for memory within the NPU."""
_PRECISIONS = {"ifm": 0x0105, "ofm": 0x0114, "ifm2": 0x0185}
_CHAINED = 1 << 15
"""Value of a precision on Ethos-U85 for data that stay within the NPU, or constants in the commands."""


@dataclass(frozen=True)
class Use:
    """Bytes of a region that an operation reads or writes; `length` is 1 if only the begin is known."""

    what: str
    region: int
    at: int
    length: int


def uses(actions: bytes, chains: bool) -> Iterator[Use]:
    """Returns the operations of driver actions in order. `chains`: the NPU is an Ethos-U85."""
    state: dict[int, int] = {}
    words = np.frombuffer(actions, "<u4")[1:].tolist()
    stream: list[int] = []
    while words and not stream:
        kind = words[0] & 0xFF
        if kind == _STREAM:
            stream = words[1 : 1 + (words[0] >> 16 | (words[0] >> 8 & 0xFF) << 16)]
        words = words[3 if kind == _CONFIGURATION else 1 :]
    at = 0
    while at < len(stream):
        code, parameter = stream[at] & 0xFFFF, stream[at] >> 16
        at += 1
        if code & _HAS_PAYLOAD:
            state[code] = stream[at] | (parameter & 0xFF) << 32
            at += 1
        elif code in _USES:
            for what in _USES[code]:
                region = state.get(_REGIONS[what], 0)
                is_chained = chains and what in _PRECISIONS and state[_PRECISIONS[what]] & _CHAINED
                if not is_chained and not region & _INSIDE:
                    length = state[_LENGTHS[what]] if what in _LENGTHS else 1
                    yield Use(what, region & 7, state[_BASES[what]], length)
        else:
            state[code] = parameter
