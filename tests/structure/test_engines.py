"""Every engine in `delegate/` is known in all the places that docs/developers/delegates.md lists."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mslite import _runtime
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.cropper.crop import ENGINES as CROPPED
from tests.delegate.engines import ENGINES as TESTED
from tests.runtime.test_library_size import ENGINES as BUDGETS

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("MSLITE_BUILD", "build")).resolve()
FOLDERS = sorted(path.name for path in (ROOT / "delegate").iterdir() if path.is_dir() and path.name != "engine")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_there_are_engines() -> None:
    assert {"opencl", "openvino"} <= set(FOLDERS)


@pytest.mark.parametrize("name", FOLDERS)
def test_an_engine_is_whole(name: str) -> None:
    option = f"MSLITE_{name.upper()}"
    devices = text("delegate/devices.cc")
    asked = devices[devices.index("SurveysOfEngines() {") :]
    (row,) = (line for line in text("docs/architecture.md").splitlines() if line.startswith("| `delegate/`"))
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name not in ("architecture.md", "delegates.md")]
    there = {
        f"delegate/{name}/{name}_engine.cc": (ROOT / f"delegate/{name}/{name}_engine.cc").is_file(),
        f"option({option} in CMakeLists.txt": f"option({option} " in text("CMakeLists.txt"),
        f"{option} in delegate/engines.cmake": re.search(
            rf"^if\({option}\b|^foreach\(engine .*\b{name.upper()}\b", text("delegate/engines.cmake"), re.M
        ),
        f"EngineOf in delegate/devices.cc under {option}": f"#ifdef {option}\n"
        in devices[: devices.index("EnginesOf(")],
        f"SurveysOfEngines in delegate/devices.cc under {option}": f"#ifdef {option}\n" in asked,
        "ENGINES in cropper/crop.py": name in CROPPED,
        "ENGINES in tests/runtime/test_library_size.py": option in BUDGETS,
        f"ENGINES in tests/delegate/engines.py, or tests/delegate/{name}/": (ROOT / "tests/delegate" / name).is_dir()
        or name in [engine.name.lower() for engine in TESTED],
        "the row of delegate/ in docs/architecture.md": f"`{name}/`" in row,
        f"a page of docs/ that names delegate/{name}": any(f"delegate/{name}" in page.read_text() for page in pages),
    }
    assert [place for place, found in there.items() if not found] == [], "not known there"


def test_all_engines_of_the_build_are_asked(tmp_path: Path) -> None:
    cache = BUILD / "CMakeCache.txt"
    if not cache.is_file():
        pytest.skip(f"there is no {cache}")
    built = [name for name in FOLDERS if re.search(rf"^MSLITE_{name.upper()}:BOOL=ON$", cache.read_text(), re.M)]
    options = Options(ROOT / "examples/digits/digits.onnx", tmp_path / "digits", input_shapes={"image": (1, 1, 8, 8)})
    asked = [name.split(" (")[0].lower().replace(" ", "") for name, _, _ in _runtime.engines(convert(options).files[0])]
    assert sorted(asked) == built
