"""Writes the sources of the OpenCL kernels into a C++ file, as texts: texts.py OUTPUT.cc KERNELS.cl..."""

from __future__ import annotations

import sys
from pathlib import Path

PIECE = 8000  # characters; compilers need not take longer literals


def literal(text: str) -> str:
    """A raw string, in pieces."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    return "\n".join(f'R"cl({piece})cl"' for piece in pieces)


def main() -> None:
    output, *kernels = map(Path, sys.argv[1:])
    entries = [f'    {{"{file.stem}", {literal(file.read_text(encoding="utf-8"))}}},' for file in sorted(kernels)]
    lines = [
        '#include "opencl/opencl_programs.h"',
        "",
        "namespace mslite {",
        "const OpenClText kOpenClTexts[] = {",
        *entries,
        "    {nullptr, nullptr},",
        "};",
        "}  // namespace mslite",
    ]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
