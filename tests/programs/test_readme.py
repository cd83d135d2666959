"""The commands of README.md and docs/commands.md, run in order with the build of this test run in place of an installation."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mslite.benchmark.peers.picture import measured, picture
from mslite.converter import cli
from tests.programs.readme import ROOT, blocks, commands

BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
ACTIVATE = ". .venv/bin/activate"


def programs() -> dict[str, str]:
    """Program -> the function that pip's script calls."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    return {name: target.split(":")[1] for name, target in scripts.items()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a fresh clone after `make demo`: the sources, an empty `build`, and programs in `.venv/bin`."""
    folder = tmp_path_factory.mktemp("clone")
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "build")):
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    scripts = folder / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "activate").write_text(f'PATH="{scripts}:$PATH"\n')
    (scripts / "python").write_text(f'#!/bin/sh\nPYTHONPATH="{BUILD / "python"}" exec "{sys.executable}" "$@"\n')
    for name, function in programs().items():
        if name.startswith("benchmark"):
            (scripts / name).symlink_to(BUILD / "benchmark" / name)
        else:
            call = f"import sys; from mslite.programs import {function}; sys.exit({function}())"
            (scripts / name).write_text(f'#!/bin/sh\nexec "{scripts / "python"}" -c "{call}" "$@"\n')
    for script in scripts.iterdir():
        script.chmod(0o755)
    return folder


def typed(command: str, folder: Path) -> str:
    """What a command prints; it must succeed without a warning."""
    result = subprocess.run(
        ["bash", "-ec", f"{ACTIVATE}\n{command}"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    assert "warning" not in (result.stdout + result.stderr).lower(), f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def test_every_command_runs_in_order(checkout: Path) -> None:
    start = commands("Quick start")
    assert start[0].startswith("make demo ")
    assert start[1].startswith(ACTIVATE + " ")
    installation = commands("Debian 12", "docs/install.md")
    assert [command.split("  ")[0] for command in installation] == ["make demo", "make install", ACTIVATE]
    used = commands("Examples", "docs/commands.md")
    croppers = {"mslite-crop", "cropper"}  # need a static library: docs/cropping.md
    assert {command.split()[0] for command in used} == set(programs()) - croppers, (
        "docs/commands.md shows every program"
    )
    for command in start[2:] + used:
        typed(command, checkout)
        for name in re.findall(r"--(?:outputFile|output|checkReport|htmlFile)=(\S+)", command):
            written = checkout / name
            assert written.exists() or written.with_name(written.name + ".ms").exists(), command
    (script,) = blocks("Run a model", "python")
    (checkout / "build" / "use.py").write_text(script)
    label = np.load(ROOT / "examples/digits/digits_test.npz")["labels"][1]
    assert typed("python build/use.py", checkout) == f"{label}\n"


def test_the_converter_example_runs(checkout: Path) -> None:
    typed(commands("Convert a model", "docs/convert.md")[0], checkout)
    (script,) = blocks("Convert a model", "python", "docs/convert.md")
    (checkout / "build" / "convert.py").write_text(script)
    assert "CONVERT RESULT SUCCESS" in typed("python build/convert.py", checkout)


def test_the_tutorial_runs(checkout: Path) -> None:
    """All commands of the tutorial in order, but those of C++: `.ci/check_packages` builds that program."""
    page = "docs/tutorial_mindspore_lite.md"
    (script,) = blocks("3. Run the Python program", "python", page)
    (checkout / "build" / "tutorial.py").write_text(script)
    output = ""
    for section in (
        "1. Convert the model",
        "2. Measure the model",
        "3. Run the Python program",
        "5. Quantize the model",
    ):
        for command in commands(section, page):
            output += typed(command, checkout)
    assert "CONVERT RESULT SUCCESS:0" in output
    text = (ROOT / page).read_text(encoding="utf-8")
    (result,) = re.findall(r"It prints `([^`]+)`", text)
    assert f"{result}\n" in output


def anchors(page: Path) -> set[str]:
    """What a link may name behind `#`, as pages of hosted repositories have it."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_of_a_page_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    lost, count = [], 0
    for page in pages:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            count += 1
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                lost.append(f"{page.name}: {target}#{anchor}")
    assert count > 300
    assert lost == []


def test_the_picture_and_the_table_are_those_of_the_measurements() -> None:
    """`python -m mslite.benchmark.peers.picture docs/performance.md docs/speed.svg` draws it again."""
    found = measured((ROOT / "docs/performance.md").read_text(encoding="utf-8"))
    assert picture(found) == (ROOT / "docs/speed.svg").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    means = [f"{found.ratios['geometric mean'][runtime]:.2f}" for runtime in found.runtimes]
    assert f"1 thread: time over onnxruntime's ¹ | {' | '.join(means)} |" in readme


def comparison() -> ModuleType:
    """`examples/digits/compare.py`, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("compare", ROOT / "examples/digits/compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("network", ["cnn", "vit"])
def test_the_demo_compares_equal_answers(network: str, tmp_path: Path) -> None:
    demo = comparison()
    onnx_file = ROOT / f"tests/models/trained/{network}.onnx"
    flags = [f"--modelFile={onnx_file}", f"--outputFile={tmp_path / network}", "--inputShape=input:1,1,28,28"]
    assert cli.main(flags) == 0
    images = demo.images_of_28(np.load(ROOT / "examples/digits/digits_test.npz")["images"])
    found = demo.compare(onnx_file, tmp_path / f"{network}.ms", images)
    assert found.same_answers == found.images == 360
    assert found.largest_difference < 1e-4
