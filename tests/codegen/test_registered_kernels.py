"""Generated C has kernels of mslite: what plug-ins register in the same process for operators that we have changes nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.passes.norm_files import Tables
from tests.runtime.test_library_size import BUILD, LIBRARY

ROOT = Path(__file__).parents[2]
PLUGIN = """
#include "include/registry/register_kernel.h"
using namespace mindspore;
std::shared_ptr<kernel::Kernel> Make(const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                     const schema::Primitive *, const Context *) {
  return nullptr;
}
REGISTER_KERNEL(CPU, Acme, DataType::kNumberTypeFloat32, schema::PrimitiveType_InstanceNorm, Make)
"""
PLAN = """
import sys
import mslite
from mslite import _codegen

path, *plugins = sys.argv[1:]
for plugin in plugins:
    mslite.load_plugin(plugin)
model = _codegen.Model(path)
plan = model.plan(["scalar"], [list(model.inputs[0].dims)])
assert not plan.refusals
print(*[step.op for step in plan.steps])
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None or not LIBRARY.is_file():
        pytest.skip(f"there is no g++, or no {LIBRARY}")
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "plugin.cc").write_text(PLUGIN)
    includes = [
        f"-I{one}" for one in (ROOT / "lite_runtime", ROOT / "lite_runtime" / "include", BUILD.resolve() / "generated")
    ]
    target = folder / "plugin.so"
    command = [compiler, "-std=c++17", "-shared", "-fPIC", *includes, folder / "plugin.cc", LIBRARY, "-o", target]
    subprocess.run(command, check=True, timeout=300)
    return target


def run(*command: object) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True, timeout=300
    ).stdout


def test_a_plan_for_generated_code_knows_no_registered_kernels(plugin: Path, tmp_path: Path) -> None:
    tables = Tables(2, 5, 4, 6)
    tables.between_transposes(0)
    path = tables.write(tmp_path, "2.7.0")
    profile = (BUILD / "benchmark" / "benchmark", f"--modelFile={path}", "--timeProfiling=true", "--loopCount=1")
    assert "ChannelsLastInstanceNorm" in run(*profile)
    assert "ChannelsLastInstanceNorm" not in run(*profile, f"--pluginPath={plugin}"), "the runtime asks the plug-in"
    alone = run(sys.executable, "-c", PLAN, path)
    assert alone == "ChannelsLastInstanceNorm\n"
    assert run(sys.executable, "-c", PLAN, path, plugin) == alone
