"""Hooks of mkdocs for the site: pages outside of docs/, and links to files of the repository.

README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md and the README.md files of examples/ and findings/ become pages. Other files that
pages link to are copied into `source/`; a folder becomes a page that lists its files.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
HOME = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security_policy.md",
    "CHANGELOG.md": "changelog.md",
}
PYTHON_API = (
    "mslite.model", "mslite.tensor", "mslite.context", "mslite.types", "mslite.parallel_runner", "mslite.model_group", "mslite.training",
    "mslite.predictor", "mslite.devices", "mslite.converter.converter_api", "mslite.converter.registry", "mslite.onnx_backend",
)  # fmt: skip
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")

_tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")


def on_files(files: Files, config: Any) -> Files:
    """Adds pages and copies for what links of pages name."""
    _add_javadoc(files, config)
    api = "# Python API\n\n" + "\n\n".join(f"::: {module}" for module in PYTHON_API) + "\n"
    files.append(File.generated(config, "api/python.md", content=api))
    notes = [file for file in files if file.src_uri.startswith("developers/")]
    rows = "\n".join(
        f"- [{Path(file.src_uri).stem}]({Path(file.src_uri).name})" for file in notes if file.src_uri.endswith(".md")
    )
    files.append(File.generated(config, "developers/index.md", content=f"# Measurements and design notes\n\n{rows}\n"))
    wanted = dict(HOME)
    queue = [*HOME, *(f"docs/{file.src_uri}" for file in files if file.src_uri.endswith(".md"))]
    for page in queue:
        for target in _targets(page):
            if target not in wanted and not target.startswith("docs/"):
                wanted[target] = _place(target)
                if target.endswith(".md"):
                    queue.append(target)
    for source, place in wanted.items():
        if (ROOT / source).is_dir():
            names = [name for name in _tracked if name.startswith(f"{source}/")]
            for name in names:
                wanted_file = _place(name)
                if files.get_file_from_path(wanted_file) is None and name not in wanted:
                    files.append(File.generated(config, wanted_file, content=(ROOT / name).read_bytes()))
            rows = "\n".join(f"- [{name}]({relpath(_place(name), PurePosixPath(place).parent)})" for name in names)
            files.append(File.generated(config, place, content=f"# {source}\n\n{rows}\n"))
        elif place.endswith(".md"):
            files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
        else:
            files.append(File.generated(config, place, content=(ROOT / source).read_bytes()))
    return files


def _add_javadoc(files: Files, config: Any) -> None:
    """The reference of the Java API, as javadoc writes it, in api/java."""
    sources = [
        str(ROOT / name)
        for name in _tracked
        if name.startswith("android/mindspore-lite/src/main/java/") and name.endswith(".java")
    ]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["javadoc", "-quiet", "-notimestamp", "-Xdoclint:none", "-public", "-d", folder, *sources], check=True
        )
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                place = f"api/java/{path.relative_to(folder).as_posix()}"
                files.append(File.generated(config, place, content=path.read_bytes()))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files outside of docs/ lead to their pages and copies."""
    place = page.file.src_uri
    source = next((name for name in (*HOME, *_tracked) if _place(name) == place), f"docs/{place}")

    def moved(found: re.Match[str]) -> str:
        target, mark, anchor = found[2].partition("#")
        if "://" in target or not target:
            return found[0]
        path = normpath(str(PurePosixPath(source).parent / target))
        there = _place(path)
        return f"{found[1]}{relpath(there, str(PurePosixPath(place).parent))}{mark}{anchor}{found[3]}"

    return LINK.sub(moved, markdown)


def _place(source: str) -> str:
    """Where a file or folder of the repository is in the site."""
    if source in HOME:
        return HOME[source]
    if source == "docs/developers":
        return "developers/index.md"
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if (ROOT / source).is_dir():
        return f"source/{source}/index.md"
    return (
        f"source/{source}"
        if source.endswith(".md") or PurePosixPath(source).suffix in (".svg", ".png")
        else f"source/{source}.txt"
    )


def _targets(page: str) -> list[str]:
    """The files and folders of the repository that a page links to."""
    path = ROOT / page
    if not path.is_file():
        return []
    found = []
    for _, target, _ in LINK.findall(path.read_text(encoding="utf-8")):
        name = target.partition("#")[0]
        if "://" not in name and name:
            found.append(normpath(str(PurePosixPath(page).parent / name)))
    return [name for name in found if (ROOT / name).exists()]
