"""Vector registers that functions keep on the stack lie where aligned moves may touch them.

gcc 12 assumes 32 bytes of alignment for some local variables that it gives 16; such a function ends the process, on the
processors whose instruction set it is for and on no other. So the code is read, which any x86-64 machine can do.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / os.environ.get("MSLITE_BUILD", "build") / "lite_runtime/libmindspore-lite.so"
FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:")
ALIGN = re.compile(r"\tand\s+\$0x(?P<mask>f+[0-9a-f]+),%rsp")
PUSH = re.compile(r"\tpush")
RESERVE = re.compile(r"\tsub\s+\$0x(?P<bytes>[0-9a-f]+),%rsp")
MOVE = re.compile(r"\tvmov(?:dqa\d*|aps|apd)\s(?P<operands>.*\(%rsp.*)")
OFFSET = re.compile(r"(?P<sign>-?)0x(?P<number>[0-9a-f]+)\(%rsp")
PROLOGUE = 40
"""Instructions behind the alignment of the stack pointer in which it may still go down."""


def misaligned(disassembly: str) -> tuple[dict[str, int], int]:
    """Functions with the number of their aligned moves to places that are not aligned, and the number of all such moves."""
    found: dict[str, int] = {}
    name, align, below, since, moves = "", 0, 0, 0, 0
    for line in disassembly.splitlines():
        if function := FUNCTION.match(line):
            name, align = function["name"], 0
        elif match := ALIGN.search(line):
            align, below, since = -int(match["mask"], 16) & (2**64 - 1), 0, 0
        elif align:
            since += 1
            if since < PROLOGUE:
                below += 8 if PUSH.search(line) else 0
                below += int(match["bytes"], 16) if (match := RESERVE.search(line)) else 0
            if match := MOVE.search(line):
                moves += 1
                place = OFFSET.search(match["operands"])
                offset = int(place["sign"] + place["number"], 16) if place else 0
                size = 64 if "%zmm" in line else 32 if "%ymm" in line else 16
                if size <= align and (offset - below) % size:
                    found[name] = found.get(name, 0) + 1
    return found, moves


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86-64 code")
@pytest.mark.skipif(not LIBRARY.is_file(), reason=f"{LIBRARY} was not built")
def test_the_library() -> None:
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    found, moves = misaligned(listing)
    assert moves > 100, "the listing is read"
    assert found == {}


def test_what_is_found() -> None:
    code = """
0000000000001000 <good>:
  1000:\tand    $0xffffffffffffffc0,%rsp
  1004:\tpush   %rbp
  1005:\tsub    $0x78,%rsp
  1009:\tvmovaps %zmm0,0x40(%rsp)
0000000000002000 <bad>:
  2000:\tand    $0xffffffffffffffc0,%rsp
  2004:\tsub    $0x3c0,%rsp
  2008:\tvmovdqa %ymm3,0x190(%rsp,%rcx,8)
"""
    assert misaligned(code) == ({"bad": 1}, 2)
