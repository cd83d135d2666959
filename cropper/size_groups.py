"""How many bytes of a linked runtime each of its parts takes, from the linker's map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from mslite.cropper.crop import Library
from mslite.cropper.objects import ObjectFile

GROUPS = ("loader", "plan", "exec", "API", "nodes", "kernels", "engines", "C++ library", "tables and padding")
_FOLDERS = {
    "lite_runtime/model": "loader", "lite_runtime/model/upgrade": "loader",
    "lite_runtime/plan": "plan", "lite_runtime/plan/rewrite": "plan",
    "lite_runtime/exec": "exec", "lite_runtime/threads": "exec",
    "lite_runtime/api": "API", "lite_runtime/registry": "API",
    "lite_runtime/crypto": "loader",
    "kernels/shape": "nodes",
    "delegate": "engines", "delegate/engine": "engines",
    "delegate/opencl": "engines", "delegate/opencl/operators": "engines",
    "delegate/openvino": "engines", "delegate/openvino/operators": "engines",
    "delegate/nnapi": "engines", "delegate/nnapi/operators": "engines",
    "delegate/nnrt": "engines", "delegate/nnrt/operators": "engines",
    "delegate/coreml": "engines", "delegate/coreml/operators": "engines",
}  # fmt: skip
# What is made of a file's nodes, operator by operator: attributes and names.
_NODES = {"layout.cc", "unpack.cc", "names.cc", "nodes.cc", "operands.cc"}
_UNITY = re.compile(
    r"unity_(.+?)(?:-\d+)?_cxx\.c[a-z]+"
)  # files of a folder, compiled together (lite_runtime/unity.cmake)
_SECTION = re.compile(r"^ (\.[^\s*]+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) ([^\n]+)$", re.MULTILINE)
_HEADER = ".eh_frame_hdr"  # of all objects, which the linker makes
_LOADED = re.compile(
    r"\.(text|rodata|data|init_array|fini_array|eh_frame|gcc_except_table|got|plt|ctors|dtors|tdata|ARM)"
)


def with_groups(library: Library, sources: Sequence[str]) -> list[ObjectFile]:
    """The objects, their names beginning with their group's, which a linker's map then shows. `sources` are the paths of the
    files that the library was compiled from."""
    named = [(_room(one, sources), one) for one in library.objects]
    # Engines last: linkers take functions that several objects have from the first.
    named.sort(key=lambda pair: pair[0] == "engines")
    return [one.renamed(f"{group}|{one.member.name}") for group, one in named]


def sizes_by_group(linker_map: str, size: int) -> dict[str, int]:
    """Bytes of each group in a linked library of `size` bytes; the rest is what the linker made: tables of symbols and
    relocations, headers, padding."""
    sizes = dict.fromkeys(GROUPS, 0)
    begin = linker_map.find("Linker script and memory map")
    for section, address, length, owner in _SECTION.findall(linker_map, max(begin, 0)):
        if int(address, 16) == 0 or not _LOADED.match(section) or section == _HEADER:
            continue
        group = re.search(r"\(([^|()]+)\|[^()]*\)$", owner)
        is_other = group is None or group[1] not in sizes
        sizes["C++ library" if is_other or group is None else group[1]] += int(length, 16)
    sizes["tables and padding"] = size - sum(sizes.values())
    return sizes


def _room(one: ObjectFile, sources: Sequence[str]) -> str:
    file = one.member.name.removesuffix(".o").removesuffix(".obj")
    if together := _UNITY.fullmatch(file):
        return "nodes" if together[1] == "nodes" else _FOLDERS.get(together[1].replace("-", "/"), "plan")
    if file in _NODES:
        return "nodes"
    groups = {
        _FOLDERS.get(str(PurePosixPath(path).parent), "kernels") for path in sources if PurePosixPath(path).name == file
    }
    if len(groups) == 1:
        return groups.pop()
    # Rules and kernels of a family have one name.
    is_rule = any(symbol.startswith("mslite_shape_") for symbol in one.defined)
    return "nodes" if is_rule else "kernels" if file.endswith(".c") else "plan"
