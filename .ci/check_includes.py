"""Checks the arrows between the C and C++ rooms: which folder may include headers of which, and none in a circle."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# room of lite_runtime/ -> other rooms of it whose headers it may include
RUNTIME = {
    "include": set[str](),
    "threads": set[str](),
    "model": {"include"},
    "plan": {"include", "model", "threads"},
    "plan/rewrite": {"include", "model", "plan"},
    "exec": {"include", "model", "plan", "threads"},
    "codegen": {"include", "model", "plan", "plan/rewrite"},
    # The public API in two halves.
    "registry": {"include", "model", "plan", "api"},
    "api": {"include", "model", "plan", "plan/rewrite", "exec", "registry"},
    "python": {"include", "model", "plan", "codegen"},
}
# room -> rooms whose headers it may include
ALLOWED = {
    "kernels": {"kernels"},
    **{
        f"lite_runtime/{room}": {f"lite_runtime/{other}" for other in {room, *others}}
        | (set() if room == "include" else {"kernels"})
        for room, others in RUNTIME.items()
    },
    "benchmark": {"lite_runtime/include", "benchmark"},
    "delegate": {"lite_runtime/include", "delegate"},
    "examples": {"lite_runtime/include", "examples"},
}
# The kernel bench times single kernels, so it reads the kernel list.
EXCEPTIONS = {"benchmark/kernel_bench": {"kernels", "lite_runtime/plan"}}
# Where an include is looked up, room by room.
SEARCH = ("kernels", "lite_runtime", "lite_runtime/include", "benchmark", "delegate")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OF_PYTHON = re.compile(r"^\s*#\s*include\s+<(nanobind/[^>]*|Python\.h)>", re.MULTILINE)


def path_of(header: str, file: Path) -> str | None:
    """Where an included header lies, or None for generated and foreign ones."""
    if (file.parent / header).exists():
        return (file.parent / header).resolve().relative_to(ROOT).as_posix()
    for folder in SEARCH:
        if (ROOT / folder / header).exists():
            return f"{folder}/{header}"
    return None


def room_of(path: str) -> str | None:
    """The innermost room that holds the file; None where no room does."""
    return max((room for room in ALLOWED if path.startswith(f"{room}/")), key=len, default=None)


def violations(path: str, included: list[str], text: str) -> list[str]:
    """Every include of a file that goes against an arrow."""
    room = room_of(path)
    if room is None:
        return [f"{path} lies in no room that .ci/check_includes.py knows"]
    allowed = ALLOWED[room] | next((extra for prefix, extra in EXCEPTIONS.items() if path.startswith(prefix)), set())
    found = [
        f"{path} includes {target}; {room} may include only {', '.join(sorted(allowed))}"
        for target in included
        if room_of(target) not in allowed
    ]
    if room != "lite_runtime/python":
        found += [
            f"{path} includes <{header}>; only lite_runtime/python knows Python" for header in OF_PYTHON.findall(text)
        ]
    return found


def circle(includes: dict[str, list[str]]) -> list[str]:
    """Files each of which includes the next, the last the first; empty where there is no such thing."""
    done: set[str] = set()

    def search(path: str, trail: list[str]) -> list[str]:
        if path in trail:
            return trail[trail.index(path) :]
        if path in done:
            return []
        for target in includes.get(path, []):
            if found := search(target, [*trail, path]):
                return found
        done.add(path)
        return []

    return next((found for path in includes if (found := search(path, []))), [])


def main() -> int:
    files = [
        file
        for room in sorted({room.split("/", 1)[0] for room in ALLOWED})
        for file in sorted((ROOT / room).rglob("*"))
        if file.suffix in (".c", ".cc", ".h", ".inc", ".cpp")
    ]
    includes: dict[str, list[str]] = {}
    found = []
    for file in files:
        path, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        includes[path] = [target for header in INCLUDE.findall(text) if (target := path_of(header, file)) is not None]
        found += violations(path, includes[path], text)
    if around := circle(includes):
        found.append("Headers in a circle: " + " includes ".join([*around, around[0]]))
    print("\n".join(found) or f"{len(files)} files include only what they may.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
