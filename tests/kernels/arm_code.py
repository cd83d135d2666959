"""Disassembles the machine code that compilers generate from kernels for ARM processors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("MSLITE_BUILD", ROOT / "build"))
# The same flags as in kernels/CMakeLists.txt.
FLAGS = ["-std=c99", "-O3", "-DNDEBUG", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]


@dataclass(frozen=True)
class Processor:
    """The compiler command for a processor, as in kernels/CMakeLists.txt, and patterns for its assembly."""

    name: str
    triple: str
    gcc_flags: tuple[str, ...]
    clang_flags: tuple[str, ...]
    jump: str
    """A jump to a known target, which is the first group."""
    branch: str
    """Any instruction that may change the control flow."""
    stack: str
    """Instructions that use the stack."""

    @property
    def compilers(self) -> list[str]:
        return [f"{self.triple}-gcc", "clang-14", "clang-16", "clang-19", "clang-22"]


ARM64 = Processor(
    name="arm64",
    triple="aarch64-linux-gnu",
    gcc_flags=("-fno-schedule-insns",),
    clang_flags=(),
    jump=r"(?:b|b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s+([0-9a-f]+)\b",
    branch=r"(b|cb|tb)\S*\s",
    stack=r"\[sp",
)

_ARMV7 = ("-march=armv7-a+fp", "-mfloat-abi=hard", "-mfpu=neon")
_ARMV7_GCC = ("-funsafe-math-optimizations", "-fno-associative-math", "-fno-reciprocal-math", "-fsigned-zeros")
ARMV7 = Processor(
    name="armv7",
    triple="arm-linux-gnueabihf",
    gcc_flags=(*_ARMV7, *_ARMV7_GCC, "-fno-schedule-insns"),
    clang_flags=("-march=armv7-a", *_ARMV7[1:], "-mllvm", "-pre-RA-sched=source"),
    jump=r"(?:b(?:[a-z]{2})?(?:\.[nw])?|cbn?z\s+\w+,)\s+([0-9a-f]+)\b",
    branch=r"(b|bl|blx|bx|b(eq|ne|cs|cc|mi|pl|hi|ls|ge|lt|gt|le)|cbn?z)(\.[nw])?\s",
    stack=r"\bsp\b",
)


@dataclass(frozen=True)
class Loop:
    """A straight loop with multiply-adds."""

    products: int
    length: int
    spills: int


@cache
def loops(
    processor: Processor, compiler: str, source: str, isa: str, flags: tuple[str, ...], multiply: str
) -> list[Loop]:
    """Returns the innermost loops of a source with the instruction `multiply`."""
    objdump = f"{processor.triple}-objdump"
    if shutil.which(compiler) is None or shutil.which(objdump) is None:
        pytest.skip(f"{compiler} or {objdump} is not installed")
    if not (BUILD / "generated").is_dir():
        pytest.skip(f"{BUILD} has no generated headers")
    target: tuple[str, ...] = processor.gcc_flags
    if compiler.startswith("clang"):
        target = (f"--target={processor.triple}", *processor.clang_flags)
    name = f"{processor.name}-code-{compiler}-{isa}-{Path(source).stem}{''.join(flags)}.o"
    output = BUILD / re.sub(r"[^\w.-]", "_", name)
    command = [
        compiler,
        *target,
        *FLAGS,
        *flags,
        f"-DMSLITE_ISA={isa}",
        "-I",
        "kernels",
        "-I",
        str(BUILD / "generated"),
    ]
    subprocess.run([*command, "-c", f"kernels/{source}", "-o", str(output)], check=True, cwd=ROOT)
    listing = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", str(output)], check=True, capture_output=True, text=True
    )
    output.unlink()
    found = []
    for function in listing.stdout.split("\n\n"):
        lines = [line.split(":", 1) for line in function.splitlines() if re.match(r"\s*[0-9a-f]+:\t", line)]
        code = [(int(address, 16), text.strip()) for address, text in lines]
        index = {address: i for i, (address, _) in enumerate(code)}
        for i, (_, text) in enumerate(code):
            jump = re.match(processor.jump, text)
            start = index.get(int(jump[1], 16), len(code)) if jump else len(code)
            body = [entry for _, entry in code[start : i + 1]]
            products = sum(entry.startswith(multiply + "\t") for entry in body)
            if products and not any(re.match(processor.branch, entry) for entry in body[:-1]):
                found.append(Loop(products, len(body), sum(bool(re.search(processor.stack, entry)) for entry in body)))
    return found
