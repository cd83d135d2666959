"""Checks the requirements of Android's loader for a shared library, and the system symbols that a static library needs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from mslite.cropper.archive import read_archive
from mslite.cropper.objects import ObjectFile

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PAGE = 16384

# Symbols that Debian's compilers and glibc's headers use in place of bionic's: pattern -> why this is acceptable.
OF_GLIBC = {
    r"__errno_location": "glibc's errno; bionic's is __errno",
    r"__isoc99_s?scanf|__isoc99_fscanf": "glibc's sscanf and fscanf; bionic has them under their own names",
    r"__(f|v|vf|s|sn|vs|vsn)?printf_chk": "glibc's checked forms of printf; bionic checks in the plain ones",
    r"__(memcpy|memmove|memset|read|pread|strcpy|strcat|strncpy)_chk|__fread_chk": "checked forms; bionic has its own of most",
    r"bcmp": "clang's memcmp(...) == 0 where the C library is glibc; for Android it calls memcmp",
    r"pthread_cond_clockwait": "libstdc++'s condition_variable::wait_for; libc++ waits on bionic's timedwait below level 30",
    r"malloc_trim": "called where __GLIBC__ is defined",
    r"__libc_single_threaded": "read by libstdc++'s headers; libc++ does not know it",
}
# Symbols of the compiler and the C++ library, which the NDK links from its own libraries.
OF_COMPILERS = {
    r"_Z.*": "C++: libc++ in the NDK",
    r"__cxa_.*|__dynamic_cast|__gxx_personality_v0|__once_proxy|__dso_handle": "the C++ runtime: libc++abi, libstdc++'s call_once, crtbegin",
    r"_Unwind_.*|__aeabi_.*|__gnu_.*": "libgcc; libunwind and compiler-rt in the NDK",
    r"__aarch64_(cas|swp|ld(add|clr|eor|set))\d+_\w+": "atomics of libgcc; compiler-rt in the NDK",
    r"__stack_chk_fail|__stack_chk_guard": "stack protector",
    r"_GLOBAL_OFFSET_TABLE_|__tls_get_addr": "the linker's",
}
_NEEDED = re.compile(r"lib(c|m)\.so\.6|ld-linux.*\.so\.\d+")


def link(archive: Path, compiler: str, target: Path) -> Path:
    """Links the archive to a shared library with the flags of the presets `cross-*`."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    flags = next(preset for preset in presets if preset["name"] == "cross")["cacheVariables"][
        "CMAKE_SHARED_LINKER_FLAGS"
    ]
    exports = archive.parent / "mslite" / "exports.map"
    command = [
        compiler, "-shared", "-o", target, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-Wl,--gc-sections",
        f"-Wl,--version-script={exports}", "-Wl,--no-undefined", "-Wl,-z,relro", "-Wl,-z,now", *flags.split(),
        "-Wl,-z,max-page-size=16384",  # as in lite_runtime/small.cmake
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return target


def problems(library: Path) -> Iterator[str]:
    """Returns what Android's loader would reject in a library that was linked with Debian's compilers."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        for segment in elf.iter_segments("PT_LOAD"):
            if segment["p_align"] < PAGE or segment["p_align"] % PAGE != 0:
                yield f"a segment is aligned to {segment['p_align']} bytes, which 16 KiB pages cannot load"
            if segment["p_flags"] & 3 == 3:
                yield "a segment is code that can be written"
        dynamic = elf.get_section_by_name(".dynamic")
        tags: list[Any] = list(dynamic.iter_tags())
        if any(
            tag.entry.d_tag == "DT_TEXTREL" or (tag.entry.d_tag == "DT_FLAGS" and tag.entry.d_val & 4) for tag in tags
        ):
            yield "relocations in code"
        for tag in tags:
            if tag.entry.d_tag == "DT_NEEDED" and not _NEEDED.fullmatch(tag.needed):
                yield f"needs {tag.needed}"
        versions = elf.get_section_by_name(".gnu.version")
        names = {version["vd_ndx"]: next(auxiliary).name for version, auxiliary in _definitions(elf)}
        for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
            if symbol["st_shndx"] in ("SHN_UNDEF", "SHN_ABS") or not symbol.name:
                continue
            version = names.get(versions.get_symbol(index)["ndx"])
            if version != "MSLITE_0":
                yield f"exports {symbol.name}, which is no public name"


def _definitions(elf: Any) -> Iterator[tuple[Any, Any]]:
    section = elf.get_section_by_name(".gnu.version_d")
    return section.iter_versions() if section is not None else iter(())


def imports(*archives: Path) -> set[str]:
    """Returns the undefined symbols of archives."""
    objects = [ObjectFile(member) for path in archives for member in read_archive(path.read_bytes(), str(path))]
    defined = {symbol for one in objects for symbol in one.defined}
    return {symbol for one in objects for symbol in one.undefined} - defined


def bionic_names() -> set[str]:
    """Returns the symbols of API level 24."""
    lines = (HERE / "bionic_24.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def absent_from_bionic(names: set[str]) -> set[str]:
    """Returns the symbols that are neither in Android nor in the NDK's own libraries."""
    known = re.compile("|".join((*OF_GLIBC, *OF_COMPILERS)))
    return {name for name in names - bionic_names() if not known.fullmatch(name)}
