"""The targets of generated C: instruction sets of kernels, compilers, options, emulators."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.spelling import nearest

CORTEX_M_OPTIMIZATION = "-O2"
"""Optimization level for all Cortex-M targets. Documented code sizes and instruction counts use it."""

COMMON_OPTIONS = ("-std=c99", "-ffp-contract=off")
"""Fused multiply-add is turned off, because the compiler would change float results compared with the runtime."""

# -fno-math-errno and -fno-trapping-math are not used: they change the number of instructions on x86 by less than 1 %.

STRICT_OPTIONS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")

MAXIMUM_THREADS = 4
"""Largest number of threads of a run, the limit of MindSpore Lite. For targets with threads."""


class TargetError(Exception):
    """Raised for an unknown target; the message lists the targets."""


@dataclass(frozen=True)
class Target:
    """A target. `name`: the value of `mslite-codegen --target`."""

    name: str
    family: str
    """`x86`, `arm64`, `arm32` or `cortex-m`."""
    isas: tuple[str, ...]
    """Instruction sets of kernels, the least preferred first."""
    compiler: str
    options: tuple[str, ...]
    """Compiler options for the processor."""
    board: str | None = None
    """Name of an emulated board with this processor, in `boards.BOARDS`."""
    emulator: tuple[str, ...] = ()
    """Command that runs a program for this target on another machine."""
    summary: str = ""
    """Description of the processor."""

    @property
    def is_micro(self) -> bool:
        """Whether it is a microcontroller: no heap, no threads, no files."""
        return self.family == "cortex-m"

    @property
    def optimization(self) -> str:
        return CORTEX_M_OPTIMIZATION if self.is_micro else "-O3"


def _cortex(
    number: str, isa: str | None, cpu: str | None, options: tuple[str, ...], board: str | None, summary: str
) -> Target:
    # A program uses microcontroller kernels of one kind only (micro, dsp or mve). All of these kernels are compiled for
    # each kind; nodes that they do not support run with portable kernels.
    isas = ("scalar", isa or "micro")
    # gcc 12 supports the M85's instructions, but not -mcpu=cortex-m85.
    compiler_options = ("-mthumb", *((f"-mcpu={cpu}",) if cpu else ()), *options)
    if isa == "mve":
        # No conditional conversions of floats: the assembler of gcc 12 reads VCVT with the condition NE as VCVTN.
        compiler_options += ("-fno-if-conversion2",)
    return Target(f"cortex-{number}", "cortex-m", isas, "arm-none-eabi-gcc", compiler_options, board, (), summary)


_SOFT = ("-mfloat-abi=soft",)
_SINGLE = ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
_DOUBLE = ("-mfloat-abi=hard", "-mfpu=fpv5-d16")
_ARM64_EMULATOR = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
_ARM32_EMULATOR = ("qemu-arm", "-L", "/usr/arm-linux-gnueabihf")

_ALL = (
    Target("x86", "x86", ("scalar",), "gcc", (), summary="64-bit x86, plain C"),
    Target("x86-avx2", "x86", ("scalar", "avx2"), "gcc", ("-mavx2", "-mfma", "-mf16c"), summary="64-bit x86, AVX2"),
    Target(
        "arm64", "arm64", ("scalar", "neon"), "aarch64-linux-gnu-gcc", (), None, _ARM64_EMULATOR, "64-bit Arm, NEON"
    ),
    Target(
        "arm64-dot",
        "arm64",
        ("scalar", "neon", "neon_dot"),
        "aarch64-linux-gnu-gcc",
        ("-march=armv8.2-a+dotprod",),
        None,
        _ARM64_EMULATOR,
        "64-bit Arm, NEON with dot products",
    ),
    Target(
        "arm32",
        "arm32",
        ("scalar", "neon"),
        "arm-linux-gnueabihf-gcc",
        ("-march=armv7-a", "-mfpu=neon", "-mfloat-abi=hard"),
        None,
        _ARM32_EMULATOR,
        "32-bit Armv7-A, NEON",
    ),
    _cortex("m0+", None, "cortex-m0plus", _SOFT, "microbit", "Armv6-M, no SIMD"),
    _cortex("m3", None, "cortex-m3", _SOFT, "mps2-an385", "Armv7-M, no SIMD"),
    _cortex("m4", "dsp", "cortex-m4", _SINGLE, "mps2-an386", "DSP extension, single-precision floats"),
    _cortex("m7", "dsp", "cortex-m7", _DOUBLE, "mps2-an500", "DSP extension, double-precision floats"),
    _cortex("m33", "dsp", "cortex-m33", ("-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"), "mps2-an505", "DSP extension"),
    _cortex("m55", "mve", "cortex-m55", ("-mfloat-abi=hard",), "mps3-an547", "Helium vectors"),
    _cortex(
        "m85",
        "mve",
        None,
        ("-march=armv8.1-m.main+dsp+mve.fp+fp.dp", "-mfloat-abi=hard"),
        "mps3-an547",
        "Helium vectors",
    ),
)

TARGETS = {target.name: target for target in _ALL}

_OTHER_NAMES = {
    "x86_64": "x86",
    "x86-64": "x86",
    "aarch64": "arm64",
    "arm32a": "arm32",
    "cortex-m": "cortex-m7",  # MindSpore's only microcontroller target; its toolchain file is for the M7
    "cortex-m0": "cortex-m0+",
    "cortex-m0plus": "cortex-m0+",
    "cortex-m1": "cortex-m0+",
    "cortex-m23": "cortex-m0+",
}


def target_named(text: str) -> Target:
    """Returns the target with this name, in lower or upper case. MindSpore's `x86`, `ARM32`, `ARM64` and `Cortex-M` are
    valid.

    Raises:
        TargetError: for an unknown name.
    """
    name = text.lower()
    name = _OTHER_NAMES.get(name, name)
    if name not in TARGETS:
        near = nearest(name, TARGETS, 1)
        raise TargetError(
            f"target '{text}' is unknown; {f'did you mean {near}? The targets are' if near else 'choose one of'} {', '.join(TARGETS)}"
        )
    return TARGETS[name]
