"""Checks the dependencies between C and C++ folders: which folder may include headers of which."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from includes import included, source_files

ROOT = Path(__file__).resolve().parent.parent

# folder in lite_runtime/ -> other folders in lite_runtime/ whose headers it may include
RUNTIME = {
    "include": set[str](),
    "threads": set[str](),
    "model": {"include"},
    "plan": {"include", "model", "threads"},
    "plan/rewrite": {"include", "model", "plan"},
    "crypto": {"include", "model"},
    "exec": {"include", "model", "plan", "threads"},
    "codegen": {"include", "model", "plan", "plan/rewrite"},
    # The public API consists of registry and api.
    "registry": {"api", "include", "model", "plan", "threads"},
    "api": {"crypto", "exec", "include", "model", "plan", "plan/rewrite", "registry", "threads"},
    # The training library. It includes codegen, because it writes weights for generated C in the order used there.
    "training": {"api", "codegen", "exec", "include", "model", "plan", "plan/rewrite"},
    "python": {"include", "model", "plan", "codegen", "crypto"},
}
# folder -> folders whose headers it may include, and single headers
ALLOWED = {
    "kernels": {"kernels"},
    **{
        f"lite_runtime/{room}": {f"lite_runtime/{other}" for other in {room, *others}}
        | (set() if room == "include" else {"kernels"})
        for room, others in RUNTIME.items()
    },
    "benchmark": {"lite_runtime/include", "benchmark"},
    # Backends access the nodes of a model only through the public interface. They share code about operators
    # (attributes, shape inference, geometry, memory layout) with the CPU, but cannot access graphs and sessions.
    "delegate": {
        "lite_runtime/include",
        "delegate",
        "kernels",
        "lite_runtime/model/half.h",
        "lite_runtime/model/message.h",
        "lite_runtime/model/names.h",
        "lite_runtime/model/sha256.h",
        "lite_runtime/model/unpack.h",
        "lite_runtime/plan/half_precision.h",
        "lite_runtime/plan/memory.h",
        "lite_runtime/plan/shapes.h",
        "lite_runtime/plan/work.h",
        "lite_runtime/registry/engines.h",
        "lite_runtime/registry/kernel_device.h",
        "lite_runtime/registry/opencl_access.h",
        "lite_runtime/registry/placement.h",
    },
    "android": {"lite_runtime/include", "android"},
    "examples": {"lite_runtime/include", "examples"},
}
EXCEPTIONS = {
    # The kernel benchmark times single kernels, so it needs the kernel list.
    "benchmark/kernel_bench": {"kernels", "lite_runtime/plan"},
    # The converter plans training steps for other machines.
    "lite_runtime/python/codegen.cc": {"lite_runtime/api/session_options.h", "lite_runtime/api/trainer.h"},
    # The build check builds the converted model.
    "lite_runtime/python/build_check.cc": {
        "lite_runtime/api/session_options.h",
        "lite_runtime/plan/rewrite/rewrite.h",
    },
}
OF_PYTHON = re.compile(r"^\s*#\s*include\s+<(nanobind/[^>]*|Python\.h)>", re.MULTILINE)


def folder_of(path: str) -> str | None:
    """Returns the innermost folder in ALLOWED that contains the file, or None."""
    return max((room for room in ALLOWED if path.startswith(f"{room}/")), key=len, default=None)


def violations(file: Path) -> list[str]:
    """Returns a message for every include of `file` that is not allowed."""
    path = file.relative_to(ROOT).as_posix()
    room = folder_of(path)
    if room is None:
        return [f"{path}: its folder has no rule in .ci/check_includes.py"]
    allowed = ALLOWED[room] | next((extra for prefix, extra in EXCEPTIONS.items() if path.startswith(prefix)), set())
    found = [
        f"{path} includes {target}; {room} may include only {', '.join(sorted(allowed))}"
        for target, _ in included(ROOT, file)
        if folder_of(target) not in allowed and target not in allowed
    ]
    if room != "lite_runtime/python":
        headers = OF_PYTHON.findall(file.read_text(encoding="utf-8"))
        found += [f"{path} includes <{header}>; only lite_runtime/python may use Python" for header in headers]
    return found


def main() -> int:
    files = source_files(ROOT, sorted({room.split("/", 1)[0] for room in ALLOWED}))
    found = [line for file in files for line in violations(file)]
    print("\n".join(found) or f"{len(files)} files have only allowed includes.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
