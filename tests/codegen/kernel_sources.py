"""Writes generated kernel sources to disk, and checks them with compilers."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from mslite.codegen import sources
from mslite.codegen.targets import STRICT_OPTIONS

_INCLUDE = re.compile(r'#include "([^"]+)"')


@dataclass
class Collection:
    """C files of many programs in one folder; files that are equal with all their includes are compiled once."""

    folder: Path
    seen: set[str] = field(default_factory=set)
    files: list[Path] = field(default_factory=list)
    origin: dict[Path, str] = field(default_factory=dict)

    def add(self, name: str, kernels: Iterable[str], isa: str) -> None:
        texts = sources.kernel_files(kernels, isa)
        for path, text in texts.items():
            target = self.folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            key = _digest(path, texts)
            if path.endswith(".c") and key not in self.seen:
                self.seen.add(key)
                self.files.append(target)

    def complaints(self, compiler: str, options: Iterable[str] = ()) -> str:
        """Returns the messages of a compiler for the files, without generating code."""
        command = [compiler, "-std=c99", *STRICT_OPTIONS, "-fsyntax-only", *options]

        def compile_some(files: list[Path]) -> str:
            done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
            return done.stderr if done.returncode else ""

        groups = [self.files[at : at + 40] for at in range(0, len(self.files), 40)]
        with ThreadPoolExecutor(2) as pool:
            return "".join(pool.map(compile_some, groups))


def _digest(path: str, texts: Mapping[str, str]) -> str:
    """Returns a checksum of a file and all files that it includes."""
    found, queue = {path}, [path]
    while queue:
        current = queue.pop()
        folder = Path(current).parent
        for name in _INCLUDE.findall(texts[current]):
            header = _normal(folder / name)
            if header not in found:
                found.add(header)
                queue.append(header)
    text = "\0".join(f"{name}\0{texts[name]}" for name in sorted(found))
    return hashlib.sha256(f"{path}\0{text}".encode()).hexdigest()


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def found_compiler(name: str) -> str | None:
    return shutil.which(name)
