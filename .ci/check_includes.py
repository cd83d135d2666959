"""Checks the arrows between the C and C++ rooms: which folder may include headers of which."""

from __future__ import annotations

import sys
from pathlib import Path

from includes import included, source_files

ROOT = Path(__file__).resolve().parent.parent

# room -> rooms whose headers it may include
ALLOWED = {
    "kernels": {"kernels"},
    "lite_runtime": {"kernels", "lite_runtime"},
    "benchmark": {"lite_runtime/include", "benchmark"},
    "delegate": {"lite_runtime/include", "delegate"},
    "examples": {"lite_runtime/include", "examples"},
}
# The kernel bench times single kernels, so it reads the kernel list.
EXCEPTIONS = {"benchmark/kernel_bench": {"kernels", "lite_runtime"}}


def violations(file: Path) -> list[str]:
    """Every include of `file` that goes against an arrow."""
    path = file.relative_to(ROOT).as_posix()
    room = path.split("/", 1)[0]
    allowed = ALLOWED[room] | next((extra for prefix, extra in EXCEPTIONS.items() if path.startswith(prefix)), set())
    found = []
    for target, _ in included(ROOT, file):
        if not any(target.startswith(f"{folder}/") for folder in allowed):
            found.append(f"{path} includes {target}; {room} may include only {', '.join(sorted(allowed))}")
    return found


def main() -> int:
    files = [file for file in source_files(ROOT, ALLOWED) if "python" not in file.parts]
    found = [line for file in files for line in violations(file)]
    print("\n".join(found) or f"{len(files)} files include only what they may.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
