"""The worked example of custom operators, from the source model to the numbers: converted, run by the runtime with a plug-in, and
run as generated C. The programs are those of the build (`MSLITE_BUILD`, or `build/`)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "custom_op"
BUILD = Path(os.environ.get("MSLITE_BUILD", ROOT / "build")).resolve()
PLUGIN = BUILD / "examples" / "custom_op" / "maxout_plugin.so"
KERNEL = EXAMPLE / "micro" / "custom_kernel.c"
INPUT, EXPECTED = EXAMPLE / "converter" / "maxout_input.bin", EXAMPLE / "converter" / "maxout_expected.txt"

pytestmark = pytest.mark.skipif(not PLUGIN.exists(), reason=f"{PLUGIN} is not built (MSLITE_TESTS=ON)")


def run(*command: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    texts = [str(word) for word in command]
    return subprocess.run(texts, cwd=folder, capture_output=True, text=True, timeout=300)


def module(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", name, *arguments)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("custom_op") / "maxout"
    config = EXAMPLE / "converter" / "plugin.cfg"
    source = EXAMPLE / "converter" / "maxout.onnx"
    done = module("mslite.converter.cli", f"--modelFile={source}", f"--outputFile={target}", f"--configFile={config}")
    assert done.returncode == 0, done.stderr
    return target.with_suffix(".ms")


# ---- the runtime ----


def test_the_program_of_the_example_computes_the_right_numbers(model: Path) -> None:
    done = run(BUILD / "examples" / "custom_op" / "run_custom_op", model, PLUGIN, INPUT, EXPECTED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("the values are correct\n")


@pytest.mark.parametrize("way", ["pluginPath", "configFile"])
def test_benchmark_loads_the_plugin_and_shows_its_kernel(model: Path, way: str, tmp_path: Path) -> None:
    value: Path = PLUGIN
    if way == "configFile":
        value = tmp_path / "run.cfg"
        value.write_text(
            "[registry]\nplugin_path=beside.so;converter.py\n"
        )  # beside the file; Python is the converter's
        (tmp_path / "beside.so").symlink_to(PLUGIN)
    benchmark = BUILD / "benchmark" / "benchmark"
    compared = run(
        benchmark,
        f"--modelFile={model}",
        f"--{way}={value}",
        f"--inDataFile={INPUT}",
        f"--benchmarkDataFile={EXPECTED}",
    )
    assert compared.returncode == 0, compared.stderr
    assert "Mean bias of all nodes/tensors: 0%" in compared.stdout
    timed = run(benchmark, f"--modelFile={model}", f"--{way}={value}", "--loopCount=1", "--timeProfiling")
    assert re.search(r"^maxout +Custom .* Example/CPU$", timed.stdout, re.MULTILINE), timed.stdout + timed.stderr


_PYTHON = """
import sys
import numpy as np
import mslite

model_file, way, plugin, data = sys.argv[1:]
if way == "load":
    mslite.load_plugin(plugin)
model = mslite.Model()
model.build_from_file(model_file, mslite.ModelType.MINDIR_LITE, mslite.Context(), config_path=plugin if way == "config" else "")
(x,) = model.get_inputs()
x.set_data_from_numpy(np.fromfile(data, np.float32).reshape(1, 8))
print(*model.predict([x])[0].get_data_to_numpy().ravel())
"""


@pytest.mark.parametrize("way", ["load", "config"])
def test_python_runs_the_model_with_the_plugin(model: Path, way: str, tmp_path: Path) -> None:
    config = tmp_path / "run.cfg"
    config.write_text(f"[registry]\nplugin_path={PLUGIN}\n")
    done = run(sys.executable, "-c", _PYTHON, model, way, PLUGIN if way == "load" else config, INPUT)
    assert done.returncode == 0, done.stderr
    numbers = [float(word) for word in done.stdout.split()]
    assert numbers == pytest.approx([float(word) for word in EXPECTED.read_text().splitlines()[1].split()], abs=1e-6)


def test_without_the_plugin_the_node_is_named(model: Path) -> None:
    done = run(BUILD / "benchmark" / "benchmark", f"--modelFile={model}")
    assert done.returncode != 0
    assert "node 'maxout' (Custom of type 'Maxout'): no kernel is registered for this type" in done.stderr


def test_a_plugin_that_cannot_be_loaded_is_an_error_with_the_linkers_reason(model: Path, tmp_path: Path) -> None:
    benchmark = BUILD / "benchmark" / "benchmark"
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no gcc")
    source, broken = tmp_path / "broken.c", tmp_path / "broken.so"
    source.write_text("int nowhere_to_be_found(void);\nint call(void) { return nowhere_to_be_found(); }\n")
    assert run(compiler, "-shared", "-fPIC", source, "-o", broken).returncode == 0
    cut = tmp_path / "cut.so"
    cut.write_bytes(broken.read_bytes()[:3000])  # the linker would end the process
    done = run(benchmark, f"--modelFile={model}", f"--pluginPath={cut}")
    assert f"plug-in '{cut}' is truncated; copy it again" in done.stderr
    assert done.returncode == 1
    for plugin, reason in (
        (broken, "undefined symbol: nowhere_to_be_found"),
        (tmp_path / "none.so", "No such file"),
        (model, "invalid ELF header"),
    ):
        done = run(benchmark, f"--modelFile={model}", f"--pluginPath={plugin}")
        assert done.returncode != 0
        assert f"plug-in '{plugin}' cannot be loaded" in done.stderr
        assert reason in done.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_kernel_of_the_documentation_compiles(compiler: str, tmp_path: Path) -> None:
    """And what else it says can be written, with all warnings."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    (code,) = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "extending.md").read_text(), re.DOTALL)
    more = """
    REGISTER_KERNEL(CPU, Acme, kFloat32, mindspore::schema::PrimitiveType_AddFusion, MakeTwice)
    REGISTER_KERNEL_INTERFACE(Acme, schema::PrimitiveType_AddFusion, MakeTwiceRule)
    const schema::Custom *AttributesOf(const schema::Primitive *primitive) { return primitive->value_as_Custom(); }
    """
    source = tmp_path / "kernel.cc"
    source.write_text(f"#include <memory>\n#include <vector>\n{code}{more}")
    includes = [
        f"-I{folder}" for folder in (ROOT / "lite_runtime", ROOT / "lite_runtime" / "include", BUILD / "generated")
    ]
    done = run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *includes, source)
    assert done.returncode == 0, done.stderr


# ---- generated C ----


def generate(source: Path, folder: Path, *more: str, target: str = "x86") -> Path:
    done = module("mslite.codegen.cli", source, f"--target={target}", f"--output={folder}", *more)
    assert done.returncode == 0, done.stderr
    return folder


def make(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    if shutil.which("make") is None or shutil.which("gcc") is None:
        pytest.skip("there is no make or no gcc")
    return run("make", "CFLAGS=-O0", *arguments, folder=folder)


def test_a_project_runs_with_the_users_kernel(tmp_path: Path) -> None:
    """From the source model: one command line with the plug-ins of the converter and of the runtime."""
    plugins = f"--pluginPath={EXAMPLE / 'converter' / 'maxout_plugin.py'};{PLUGIN}"
    project = generate(EXAMPLE / "converter" / "maxout.onnx", tmp_path / "project", plugins)
    assert "int CustomKernel(TensorC *inputs, int input_num," in (project / "src" / "registered_kernel.h").read_text()
    done = make(project, f"CUSTOM_KERNEL={KERNEL}", "all", "test")
    assert "model 0: 2 of 2 cases as recorded" in done.stdout, done.stdout + done.stderr
    # An error of the kernel ends the run.
    (tmp_path / "failing.c").write_text(
        KERNEL.read_text().replace('strcmp(param->type, "Maxout") == 0', "input_num == 7")
    )
    done = make(project, f"CUSTOM_KERNEL={tmp_path / 'failing.c'}", "test")
    assert done.returncode != 0
    assert re.search(r"model0_run: \d", done.stdout), done.stdout + done.stderr


def test_a_project_without_the_kernel_says_what_to_write(model: Path, tmp_path: Path) -> None:
    project = generate(model, tmp_path / "project")
    done = make(project, "test")
    assert done.returncode != 0
    assert "write the function CustomKernel (declared in src/registered_kernel.h)" in done.stderr
    done = make(project, f"CUSTOM_KERNEL={KERNEL}", "test")
    assert "model 0: 1 of 1 cases ran; no outputs were recorded to compare with" in done.stdout, (
        done.stdout + done.stderr
    )


@pytest.mark.parametrize("plugin", [True, False])
def test_a_project_for_a_microcontroller(model: Path, plugin: bool, tmp_path: Path) -> None:
    """Computed on this machine; its benchmark compiles, too."""
    project = generate(model, tmp_path / "project", *[f"--pluginPath={PLUGIN}"] * plugin, target="cortex-m4")
    done = make(project, f"CUSTOM_KERNEL={KERNEL}", "host-test")
    expected = "2 of 2 cases as recorded" if plugin else "1 of 1 cases ran"
    assert f"model 0: {expected}" in done.stdout, done.stdout + done.stderr
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only")
    includes = ("-I.", "-Isrc", "-Isrc/include")
    checked = run("gcc", *strict, *includes, "benchmark/benchmark.c", "benchmark/data.c", KERNEL, folder=project)
    assert checked.returncode == 0, checked.stderr


def test_converter_lite_writes_the_project_too(tmp_path: Path) -> None:
    config = tmp_path / "micro.cfg"
    config.write_text(
        f"[registry]\nplugin_path={EXAMPLE / 'converter' / 'maxout_plugin.py'}\n"
        f"[micro_param]\nenable_micro=true\ntarget=x86\nplugin_path={PLUGIN}\n"
    )
    source = EXAMPLE / "converter" / "maxout.onnx"
    done = module(
        "mslite.converter.cli",
        f"--modelFile={source}",
        f"--outputFile={tmp_path / 'project'}",
        f"--configFile={config}",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "project" / "src" / "registered_kernel.h").exists()
    assert (tmp_path / "project" / "test" / "data" / "model0_case1_output0.bin").exists()


def test_attributes_that_the_parameter_cannot_hold_are_refused() -> None:
    from mslite.codegen.custom import problem_of

    assert problem_of("Maxout", [("pieces", b"12345678")] * 8) == ""
    assert "9 attributes" in problem_of("Maxout", [("pieces", b"")] * 9)
    assert "longer than the 63 bytes" in problem_of("Maxout", [("p" * 64, b"")])
    assert "longer than the 63 bytes" in problem_of("ä" * 32, [])
