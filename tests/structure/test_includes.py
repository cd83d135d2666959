"""`.ci/check_includes.py` finds what goes against the arrows between the C and C++ folders: errors planted in a small tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / ".ci" / "check_includes.py"
TREE = {
    "kernels/kernel.h": "",
    "kernels/add.c": '#include "kernel.h"\n',
    "lite_runtime/include/api/model.h": "",
    "lite_runtime/model/graph.h": '#include "include/api/model.h"\n',
    "lite_runtime/plan/plan.h": '#include "kernel.h"\n#include "model/graph.h"\n',
    "lite_runtime/plan/rewrite/rewrite.h": '#include "model/graph.h"\n',
    "lite_runtime/codegen/write.h": '#include "plan/rewrite/rewrite.h"\n',
    "lite_runtime/python/bind.cc": '#include <nanobind/nanobind.h>\n#include "codegen/write.h"\n',
    "benchmark/main.cc": '#include "include/api/model.h"\n',
}
PLANTED = {
    "lite_runtime/model/load.cc": (
        '#include "plan/plan.h"\n',
        "lite_runtime/model/load.cc includes lite_runtime/plan/plan.h",
    ),
    "lite_runtime/plan/plan.cc": (
        '#include "plan/rewrite/rewrite.h"\n',
        "lite_runtime/plan/plan.cc includes lite_runtime/plan/rewrite/rewrite.h",
    ),
    "lite_runtime/api/model.cc": (
        '#include "codegen/write.h"\n',
        "lite_runtime/api/model.cc includes lite_runtime/codegen/write.h",
    ),
    "lite_runtime/codegen/write.cc": (
        "#include <nanobind/stl/string.h>\n",
        "lite_runtime/codegen/write.cc includes <nanobind/stl/string.h>",
    ),
    "kernels/sub.c": ('#include "model/graph.h"\n', "kernels/sub.c includes lite_runtime/model/graph.h"),
    "benchmark/inputs.cc": ('#include "plan/plan.h"\n', "benchmark/inputs.cc includes lite_runtime/plan/plan.h"),
    "lite_runtime/other/new.h": ("", "lite_runtime/other/new.h: its folder has no rule"),
}


def check(folder: Path, files: dict[str, str]) -> tuple[int, str]:
    (folder / ".ci").mkdir()
    for script in (CHECK, CHECK.with_name("includes.py")):
        shutil.copy(script, folder / ".ci")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    command = [sys.executable, folder / ".ci" / "check_includes.py"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert check(tmp_path, TREE) == (0, f"{len(TREE)} files have only allowed includes.\n")


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_include_is_found(tmp_path: Path, name: str) -> None:
    text, expected = PLANTED[name]
    status, output = check(tmp_path, {**TREE, name: text})
    assert status == 1
    assert expected in output
    assert len(output.splitlines()) == 1, output
