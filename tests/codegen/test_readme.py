"""The README of a project: its sample compiles as it stands, and computes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from . import modules

MODELS = {"floats": modules.floats, "stored": modules.stored, "counter": modules.counter}
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off")
MAIN = "\nint main(void) {{ {start} return infer({weights}); }}\n"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["x86", "cortex-m4", "cortex-m3"])
def test_its_sample(name: str, target: str, tmp_path: Path) -> None:
    """Microcontrollers' instructions are emulated here. Without weights of its own the program cannot run, only link."""
    model = modules.write(MODELS[name](), tmp_path, name)
    project = generate([Source(model)], GenerateSettings(target_named(target), tmp_path / "net", measure=False)).folder
    text = (project / "README.md").read_text()
    (sample,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    needs_weights = "infer(const void *weights)" in sample
    start = f"start({'NULL' if needs_weights else ''});" if "void start" in sample else ""
    assert bool(start) == (name == "counter"), "what is kept is reset once, apart from the run"
    assert sample.count("_reset(") == bool(start)
    main = MAIN.format(start=start, weights="NULL" if needs_weights else "")
    (project / "main.c").write_text(sample + main)
    core = re.search(r"NET_CORE_SOURCES\n(.*?)\)", (project / "src" / "net.cmake").read_text(), re.DOTALL)
    assert core is not None
    sources = [line.strip().replace("${CMAKE_CURRENT_LIST_DIR}", "src") for line in core[1].split("\n") if line.strip()]
    command = ["gcc", *STRICT, "-Isrc", "main.c", *sources, "-lm", "-o", "main"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if not needs_weights:
        assert subprocess.run([project / "main"], check=False).returncode == 0
    assert "Do not call it again before it has returned" in text
