"""Links a static library to a shared library, with the compiler for its processor."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.cropper.archive import CropError
from mslite.cropper.crop import Library, write_members
from mslite.cropper.size_groups import sizes_by_group, with_groups

SONAME = "libmindspore-lite.so.0"
_COMPILERS = {
    "EM_X86_64": ("x86_64-linux-gnu-g++", "g++", "c++"),
    "EM_AARCH64": ("aarch64-linux-gnu-g++",),
    "EM_ARM": ("arm-linux-gnueabihf-g++",),
}
_FLAGS = (
    "-Wl,--gc-sections", "-Wl,--no-undefined", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack",
    "-Wl,-z,max-page-size=16384", "-Wl,-s",
)  # fmt: skip


_C_ONLY = re.compile(r'extern "C\+\+" \{[^}]*\};')


@dataclass(frozen=True)
class Linked:
    """A stripped shared library."""

    contents: bytes
    groups: dict[str, int]  # group -> bytes

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.contents)


@dataclass(frozen=True)
class Linker:
    """A compiler for linking, and the files of the package that linking needs."""

    compiler: str
    exports: str  # the version script of the public API
    sources: Sequence[str]  # paths of the library's source files

    @classmethod
    def of(cls, library: Library, archive: Path, compiler: str | None) -> Linker | None:
        """Finds `compiler`, or by default a compiler for the library's processor; returns None if none is installed.

        Raises CropError if `compiler` does not exist, or the package's folder is missing next to the archive.
        """
        folder = archive.parent / "mslite"
        exports, sources = folder / "exports.map", folder / "sources.txt"
        for file in (exports, sources):
            if not file.is_file():
                raise CropError(f"{archive}: {file} is missing; it is in mslite's package next to the archive")
        candidates = (compiler,) if compiler is not None else _COMPILERS.get(library.machine, ())
        found = next((name for name in candidates if shutil.which(name) is not None), None)
        if found is None and compiler is not None:
            raise CropError(f"--compiler={compiler}: the program does not exist")
        if found is None:
            return None
        return cls(found, exports.read_text(encoding="utf-8"), sources.read_text(encoding="utf-8").split())

    def link(self, library: Library, *, static_libstdcxx: bool, c_only: bool = False, name: str = SONAME) -> Linked:
        """Links the library. With `c_only` it exports only the C API; `name` is its soname. Raises CropError if linking
        fails."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            archive, output, linker_map = folder / "library.a", folder / SONAME, folder / "map"
            archive.write_bytes(write_members(with_groups(library, self.sources)))
            script = folder / "exports.map"
            script.write_text(_C_ONLY.sub("", self.exports) if c_only else self.exports, encoding="utf-8")
            command = [
                self.compiler, "-shared", "-o", str(output), "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive",
                f"-Wl,-soname,{name}", f"-Wl,--version-script={script}", f"-Wl,-Map={linker_map}", *_FLAGS,
            ]  # fmt: skip
            if static_libstdcxx:
                # Its symbols are not exported, because two copies in one process must not mix. libgcc is linked
                # statically, too, because it is only present together with the shared C++ library.
                command += ["-static-libstdc++", "-Wl,--exclude-libs,libstdc++.a", "-static-libgcc"]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            if done.returncode != 0:
                raise CropError(f"{self.compiler} cannot link {library.name}:\n{done.stderr.strip()[-2000:]}")
            contents = output.read_bytes()
            text = linker_map.read_text(encoding="utf-8", errors="replace")
        return Linked(contents, sizes_by_group(text, len(contents)))
