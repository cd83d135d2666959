"""`--name`: adds a prefix to all names that other code can see, so that several projects can be linked into one
program.

Names are replaced in the finished files, as whole words. Each name that a project defines matches one of the patterns
in `_FAMILIES`; a test links two projects and checks every symbol.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from mslite.codegen.sources.tokens import KEYWORDS
from mslite.converter.errors import UsageError

Content = str | bytes

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
_TAKEN = frozenset({"main", "src", "test", "build", "include", "benchmark", "kernels", "tools", "mslite", "net"})
"""Names of folders and build targets in projects, which cannot be prefixes."""

_FAMILIES = re.compile(
    r"\b(?:mslite_\w+|MSLITE_\w+|MS[A-Z][a-z]\w*|kMS[A-Z]\w+|Micro[A-Z]\w*|MICRO_\w+|Replay\w+|REPLAY_\w+|calib_\w+_data)\b"
)
"""Functions, types, macros and data of kernels, the MSModel functions, and the example and test programs."""

_GUARD = re.compile(r"^#ifndef (\w+)\n#define \1$", re.MULTILINE)
_MODEL = re.compile(r"\b(model|MODEL)(\d+)(?=_)")
_FILES = re.compile(r"\b(net|weight|model)(\d+)(?=\.(?:h|c|bin)\b)")
_FOLDER = re.compile(r"\bmodel(\d+)(?=/)")
_OBJECT = re.compile(r"\bmodel(\d+)\b")
_ANY_MODEL = re.compile(r"\b(model|MODEL|net|weight)<i>")
_BUILD = (
    (re.compile(r"\bNET_(?=[A-Z])"), "{NAME}_"),
    (re.compile(r"\bnet_test\b"), "{name}_test"),
    (re.compile(r"\blibnet\b"), "lib{name}"),
    (re.compile(r"\bnet\.cmake\b"), "{name}.cmake"),
    (re.compile(r"(?<=add_library\()(net|benchmark)\b"), "{name}_\\1"),
    (re.compile(r"(?<=add_executable\()benchmark\b"), "{name}_benchmark"),
    (re.compile(r"((?:target_\w+|set_target_properties)\((?:TARGET )?)(net|benchmark)\b"), "\\1{name}_\\2"),
    (re.compile(r"(target_link_libraries\([\w{{}}$]+ (?:PUBLIC|PRIVATE) )net\b"), "\\1{name}_net"),
)
"""Names with `net` in build files, and their replacements."""

_FOREIGN = ("nnacl/", "registered_kernel.h")
"""Headers for custom kernels, which are written by the user: their names do not change."""


def check_name(name: str) -> str:
    """Returns `name` if it can be a prefix. Raises UsageError for invalid identifiers and names that projects use."""
    if not _NAME.fullmatch(name) or name.lower() in KEYWORDS or name.lower() in _TAKEN or keyword.iskeyword(name):
        raise UsageError(
            f"--name={name[:60]}: expected at most 40 letters, digits and _, beginning with a letter; reserved words are not allowed"
        )
    return name


def renamed(files: Mapping[str, Content], name: str, models: Sequence[str]) -> dict[str, Content]:
    """Returns the files of a project with the prefix `name`.

    `models`: file names of the models. A single model is called `name`, several are called `name_<file>`.
    """
    naming = _Naming(name, models)
    return {naming.path(path): naming.text(path, content) for path, content in files.items()}


def _identifiers(names: Sequence[str]) -> list[str]:
    """Returns distinct lower-case identifiers for file names."""
    found: list[str] = []
    for name in names:
        stem = (
            re.sub(r"\W+", "_", PurePosixPath(name).name.partition(".")[0], flags=re.ASCII).strip("_").lower()
            or "model"
        )
        number = sum(
            other == stem or (other.startswith(f"{stem}_") and other[len(stem) + 1 :].isdigit()) for other in found
        )
        found.append(f"{stem}_{number + 1}" if number else stem)
    return found


class _Naming:
    def __init__(self, name: str, models: Sequence[str]) -> None:
        self._name = name
        self._upper = name.upper()
        stems = _identifiers(models)
        self._models = [name] if len(models) == 1 else [f"{name}_{stem}" for stem in stems]
        self._build = [(pattern, text.format(name=name, NAME=self._upper)) for pattern, text in _BUILD]

    def path(self, path: str) -> str:
        """Returns the new path of a file."""
        if any(part in path for part in _FOREIGN):
            return path
        path = _MODEL.sub(lambda match: self._model(match[1], int(match[2])), self._paths(path))
        return re.sub(r"\b(net\.cmake|c_api|model_handle\.h)\b", rf"{self._name}_\1", path).replace(
            "_net.cmake", ".cmake"
        )

    def text(self, path: str, content: Content) -> Content:
        """Returns the new text of a file."""
        if isinstance(content, bytes) or path == "LICENSE" or any(part in path for part in _FOREIGN):
            return content
        if path.endswith((".c", ".h")):
            content = _GUARD.sub(rf"#ifndef {self._upper}_\1\n#define {self._upper}_\1", content)
        content = self._paths(content)
        content = _MODEL.sub(lambda match: self._model(match[1], int(match[2])), content)
        content = _OBJECT.sub(lambda match: f"{self._models[int(match[1])]}_model", content)
        content = _FAMILIES.sub(lambda match: self._prefixed(match[0]), content)
        content = re.sub(r"\b(c_api(?=/)|model_handle\.h)", rf"{self._name}_\1", content)
        for pattern, text in self._build:
            content = pattern.sub(text, content)
        return _ANY_MODEL.sub(self._any, content)

    def _any(self, match: re.Match[str]) -> str:
        """Returns the replacement for a placeholder such as `model<i>` or `net<i>` in comments."""
        one = self._models[0] if len(self._models) == 1 else f"{self._name}_<model>"
        return {"weight": f"{one}_weights", "MODEL": one.upper()}.get(match[1], one)

    def _prefixed(self, word: str) -> str:
        return f"{self._upper if word.isupper() else self._name}_{word}"

    def _model(self, word: str, number: int) -> str:
        name = self._models[number]
        return name.upper() if word.isupper() else name

    def _paths(self, text: str) -> str:
        text = _FOLDER.sub(lambda match: self._models[int(match[1])], text)

        def file(match: re.Match[str]) -> str:
            name = self._models[int(match[2])]
            return {"net": name, "weight": f"{name}_weights", "model": f"{name}_handle"}[match[1]]

        return _FILES.sub(file, text)
