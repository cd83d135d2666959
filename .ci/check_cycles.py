"""Finds dependency cycles between Python modules, C and C++ files, and folders of these files.

    check_cycles.py [root [package]]

Imports inside functions and under `if TYPE_CHECKING:` count, too. The package `mslite` itself is left out, because its
`__init__` imports names lazily and other modules may import it.

Folders are those on the second level, such as `kernels/resize`. A file directly in a top-level folder counts as a
folder.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp
from includes import included, source_files

FOLDERS = ("kernels", "lite_runtime", "delegate", "benchmark", "codegen", "examples", "android")
# Known includes that cause cycles of folders. Generated projects have kernel files with these names, so the files are
# not moved without need.
KNOWN = {
    ("kernels/activation/activation_f32_micro.c", "kernels/unary/elementwise_micro.h"),
    ("kernels/activation/prelu_vector.c", "kernels/arithmetic/broadcast.h"),
    ("kernels/math/channels_micro.c", "kernels/convolution/stored.h"),
    ("kernels/matmul/matmul.c", "kernels/convolution/fused.h"),
    ("kernels/simd/micro.h", "kernels/math/fixed_point.h"),
    ("kernels/simd/narrow.h", "kernels/math/fixed_point.h"),
    ("kernels/simd/pairs.h", "kernels/math/fixed_point_simd.h"),
    ("lite_runtime/registry/delegation.cc", "lite_runtime/api/log.h"),
    ("lite_runtime/registry/delegation.cc", "lite_runtime/api/tensor.h"),
    ("lite_runtime/registry/kernel_node.cc", "lite_runtime/api/tensor.h"),
    ("lite_runtime/registry/plugin.cc", "lite_runtime/api/log.h"),
    ("lite_runtime/registry/registry.cc", "lite_runtime/api/log.h"),
}

Arrows = dict[tuple[str, str], list[str]]
"""(importing, imported) module, file or folder -> places of the imports or includes."""


def imports(package: str) -> Arrows:
    """Returns all imports between modules of the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package {package} does not exist")
    (folder,) = spec.submodule_search_locations
    graph = grimp.build_graph(package, exclude_type_checking_imports=False, cache_dir=None)
    arrows: Arrows = {}
    for module in graph.modules - {package}:
        path = Path(folder, *module.split(".")[1:])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        for other in graph.find_modules_directly_imported_by(module) - {package}:
            details = graph.get_import_details(importer=module, imported=other)
            arrows[module, other] = [f"{file.resolve()}:{one['line_number']}" for one in details]
    return arrows


def includes(root: Path) -> Arrows:
    """Returns all includes between files of the repository."""
    arrows: Arrows = {}
    for file in source_files(root, FOLDERS):
        path = file.relative_to(root).as_posix()
        for target, line in included(root, file):
            arrows.setdefault((path, target), []).append(f"{file}:{line}")
    return arrows


def between_folders(files: Arrows) -> Arrows:
    """Returns the includes between folders, without those in KNOWN."""
    arrows: Arrows = {}
    for (source, target), places in files.items():
        pair = _folder(source), _folder(target)
        if pair[0] != pair[1] and (source, target) not in KNOWN:
            arrows.setdefault(pair, []).extend(places)
    return arrows


def _folder(path: str) -> str:
    parts = path.split("/")
    return path if len(parts) < 3 else "/".join(parts[:2])


def find_cycles(arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Returns the cycles: sets of names in which each name depends on every other one, directly or indirectly."""
    following: dict[str, set[str]] = {}
    for source, target in arrows:
        following.setdefault(source, set()).add(target)
    reached = {name: _reached(following, name) for name in following}
    found: dict[str, list[str]] = {}
    for name in sorted(following):
        if name in reached[name] and name not in found:
            circle = sorted(other for other in reached[name] if name in reached.get(other, ()))
            found.update(dict.fromkeys(circle, circle))
    return [circle for name, circle in found.items() if circle[0] == name]


def _reached(following: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    work = [start]
    while work:
        new = following.get(work.pop(), set()) - seen
        seen |= new
        work.extend(new)
    return seen


def report(kind: str, arrows: Arrows, root: Path) -> list[str]:
    """Returns the lines of the report: for each cycle its members, and the imports or includes that cause it."""
    lines = []
    for circle in find_cycles(arrows):
        lines.append(f"{len(circle)} {kind} in a cycle: {', '.join(circle)}")
        for (source, target), places in sorted(arrows.items()):
            if source in circle and target in circle:
                lines += [f"  {place.removeprefix(f'{root}/')}: {source} -> {target}" for place in places]
    return lines


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    modules = imports(sys.argv[2] if len(sys.argv) > 2 else "mslite")
    files = includes(root)
    found = report("modules", modules, root) + report("files", files, root)
    found += report("folders", between_folders(files), root)
    gone = sorted(pair for pair in KNOWN if (root / pair[0]).exists() and pair not in files)
    found += [f"{source} does not include {target} any more; remove it from KNOWN" for source, target in gone]
    print("\n".join(found) or f"{len(modules)} imports and {len(files)} includes, no cycle.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
