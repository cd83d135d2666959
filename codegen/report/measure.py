"""Measures code size and stack of a project with the target's compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.core import Core
from mslite.codegen.targets import COMMON_OPTIONS, Target

PACKAGES = {
    "gcc": ("gcc", "libc6-dev"),
    "aarch64-linux-gnu-gcc": ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    "arm-linux-gnueabihf-gcc": ("gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"),
    "arm-none-eabi-gcc": ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi"),
}
"""Compiler -> Debian packages of the compiler and its C library."""

_INDIRECT = "__indirect_call"


@dataclass(frozen=True)
class CodeSize:
    """CodeSize sizes in bytes. `code`: code and constants of the generated functions, without weights and the C
    library; `stack`: deepest stack of `model<i>_run`, None if the compiler cannot report it."""

    compiler: str
    code: int
    stack: int | None


@dataclass(frozen=True)
class NotMeasured:
    """Reason why nothing was measured."""

    reason: str


def measure(cores: Sequence[Core], target: Target) -> CodeSize | NotMeasured:
    """Compiles the models of a project with the options of its build files, in a temporary folder, and measures the
    result."""
    compiler = shutil.which(target.compiler)
    if compiler is None:
        packages = " ".join(PACKAGES.get(target.compiler, ()))
        return NotMeasured(
            f"{target.compiler} is not installed{f' (Debian: apt install {packages})' if packages else ''}"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {path: text for core in cores for path, text in core.files.items()}
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        try:
            return _measure(compiler, cores, target, folder, sorted(files))
        except subprocess.CalledProcessError as error:
            return NotMeasured(_failure(target.compiler, str(error.stderr)))
        except subprocess.TimeoutExpired:
            return NotMeasured(f"{target.compiler} takes too long")


def _failure(compiler: str, said: str) -> str:
    """Returns the reason why compiling failed. On Debian the C library is a separate package and may be missing."""
    missing = re.search(r"fatal error: ([\w./]+\.h): No such file", said)
    if missing is None or compiler not in PACKAGES or "/" in missing[1]:
        return f"{compiler} fails: {_first_line(said)}"
    return f"{compiler} has no C library: {missing[1]} is missing (Debian: apt install {PACKAGES[compiler][1]})"


def _first_line(text: object) -> str:
    return next((line for line in str(text).splitlines() if "error" in line), "").strip() or "no reason given"


def _measure(compiler: str, cores: Sequence[Core], target: Target, folder: Path, files: Sequence[str]) -> CodeSize:
    options = [*target.options, target.optimization, *COMMON_OPTIONS]
    definitions = [f"-D{definition}" for core in cores for definition in core.definitions]
    told = ["-fcallgraph-info=su"] if _takes(compiler, "-fcallgraph-info=su", folder) else []
    objects = []
    for number, path in enumerate(path for path in files if path.endswith(".c") and "/weight" not in path):
        objects.append(f"{number}.o")
        output = ["-ffunction-sections", "-fdata-sections", "-c", path, "-o", objects[-1]]
        _run([compiler, *options, *definitions, *told, "-I", "src", *output], folder)
    roots = [f"-Wl,-u,model{core.index}_run" for core in cores]
    link = ["-nostdlib", "-r", "-Wl,--gc-sections", *roots, *objects, "-o", "core.o"]
    _run([compiler, *options, *link], folder)
    stack = None
    if told:
        symbols = _run([_tool(compiler, "nm"), "core.o"], folder)
        graphs = [text.read_text(encoding="utf-8", errors="replace") for text in sorted(folder.glob("**/*.ci"))]
        stack = deepest(graphs, set(re.findall(r" [tT] (\S+)$", symbols, re.MULTILINE)))
    version = _run([compiler, "-dumpfullversion"], folder).strip() or "?"
    return CodeSize(f"{target.compiler} {version} {' '.join(options)}", _code_size(compiler, folder), stack)


def _takes(compiler: str, option: str, folder: Path) -> bool:
    found = subprocess.run(
        [compiler, option, "-x", "c", "-c", "-", "-o", "probe.o"],
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
        timeout=60,
    )
    return found.returncode == 0


def _run(command: Sequence[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120).stdout


def _tool(compiler: str, name: str) -> str:
    """Returns the path of a binutils program (`nm`, `size`) that belongs to the compiler."""
    tool = re.sub(r"gcc$", name, compiler)
    return tool if shutil.which(tool) else name


def _code_size(compiler: str, folder: Path) -> int:
    """Returns the size of the sections in flash. Others, such as `.eh_frame`, are not loaded on a microcontroller."""
    listing = _run([_tool(compiler, "size"), "-A", "core.o"], folder)
    sizes = re.findall(r"^\.(text|rodata|data)\S*\s+(\d+)", listing, re.MULTILINE)
    return sum(int(size) for _, size in sizes)


def deepest(graphs: Sequence[str], present: Collection[str] | None = None) -> int | None:
    """Returns the deepest stack of `model<i>_run` in bytes, from gcc's call graphs (`-fcallgraph-info=su`).

    `present`: functions in the linked program, None for all. A call through a pointer may reach each of them that is
    not called by name. Returns None if the graphs contain no stack sizes.
    """
    sizes: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for graph in graphs:
        for title, label in re.findall(r'node: \{ title: "([^"]*)" label: "([^"]*)"', graph):
            found = re.search(r"(\d+) bytes \(", label)
            if found and (present is None or title.rsplit(":", 1)[-1] in present):
                sizes[title] = int(found.group(1))
        for source, called in re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', graph):
            calls.setdefault(source, set()).add(called)
    named = {called for reached in calls.values() for called in reached}
    unnamed = {title for title in sizes if title not in named}
    starts = {title for title in unnamed if re.fullmatch(r"model\d+_run", title)} or unnamed
    if not sizes:
        return None
    following = {
        title: calls.get(title, set()) | (unnamed - starts if _INDIRECT in calls.get(title, ()) else set())
        for title in {*sizes, *calls, *named}
    }
    reached = {title: _reached(following, title) for title in following}
    depths: dict[frozenset[str], int] = {}

    def depth(title: str) -> int:
        """Returns the stack below a function. Mutually recursive functions are counted once each: recursion is assumed
        to be one level deep."""
        circle = frozenset({title, *(one for one in reached[title] if title in reached[one])})
        if circle not in depths:
            below = {one for member in circle for one in following[member]} - circle
            depths[circle] = sum(sizes.get(one, 0) for one in circle) + max(map(depth, below), default=0)
        return depths[circle]

    return max(map(depth, starts), default=None)


def _reached(following: Mapping[str, Collection[str]], start: str) -> set[str]:
    """Returns all functions that are called from `start`, directly or indirectly."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = set(following[pending.pop()]) - seen
        seen |= new
        pending.extend(new)
    return seen
