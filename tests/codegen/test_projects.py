"""Generated projects, built with their own build files and run on their own recorded inputs: here, on 64-bit and 32-bit Arm
under user-mode QEMU, and on emulated Cortex-M boards."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from .conftest import NETWORKS, OPEN, Projects, model_file, networks_here


def _copy(project: Path, folder: Path) -> Path:
    """One that a test may build in and change."""
    return Path(shutil.copytree(project, folder / "project"))


def _make(project: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["make", "-C", str(project), *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr  # QEMU writes what a program prints to the latter


SANITIZED = ("clang", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
HOST_FLAGS = [
    pytest.param("gcc", "-O0", marks=pytest.mark.slow),
    pytest.param("gcc", "-Os", marks=pytest.mark.slow),
    ("gcc", "-O3"),
    ("clang", "-O3"),
    pytest.param(*SANITIZED, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("compiler", "flags"), HOST_FLAGS)
def test_host(compiler: str, flags: str, projects: Projects, tmp_path: Path) -> None:
    names = networks_here()
    project = _copy(projects(names, "x86"), tmp_path)
    output = _make(project, "-j2", "test", f"CC={compiler}", f"CFLAGS={flags}")
    assert output.count("2 of 2 cases as recorded") == len(names)


@pytest.mark.slow
def test_sanitized(projects: Projects, tmp_path: Path) -> None:
    """One network; all of them are slow."""
    project = _copy(projects(["keywords"], "x86"), tmp_path)
    output = _make(project, "-j2", "test", f"CC={SANITIZED[0]}", f"CFLAGS={SANITIZED[1]}")
    assert "2 of 2 cases as recorded" in output


@pytest.mark.parametrize("name", [*NETWORKS, *OPEN])
def test_cortex_m4(name: str, projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects([name], "cortex-m4"), tmp_path)
    _make(project)
    assert "2 of 2 cases as recorded" in _make(project, "test")


@pytest.mark.parametrize(
    "target",
    [
        "cortex-m3",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("cortex-m7", "cortex-m33", "arm32")),
        "cortex-m55",
        "arm64",
    ],
)
def test_other_targets(target: str, projects: Projects, tmp_path: Path) -> None:
    """All networks in one project."""
    names = networks_here()
    project = _copy(projects(names, target), tmp_path)
    _make(project, "-j2")
    assert _make(project, "test").count("2 of 2 cases as recorded") == len(names)


@pytest.mark.parametrize("name", [*NETWORKS, *OPEN])
def test_the_smallest_board(name: str, projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects([name], "cortex-m0+"), tmp_path)
    _make(project)
    assert "2 of 2 cases as recorded" in _make(project, "test")


def test_microcontroller_code_on_this_machine(projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects(["keywords"], "cortex-m4"), tmp_path)
    assert "2 of 2 cases as recorded" in _make(project, "host-test")


def test_a_wrong_expectation_is_found(projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects(["autoencoder"], "x86"), tmp_path)
    path = project / "test" / "data" / "model0_case1_output0.bin"
    values = np.fromfile(path, np.int8)
    values[5] ^= 1
    values.tofile(path)
    done = subprocess.run(["make", "-C", str(project), "test"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "model0_case1_output0.bin: differs" in done.stdout
    assert "1 of 2 cases as recorded" in done.stdout


def test_cmake_and_benchmark(projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects(["keywords"], "x86"), tmp_path)
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", str(project), "-B", str(build)], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(build), "-j2"], check=True, capture_output=True)
    subprocess.run(["ctest", "--test-dir", str(build)], check=True, capture_output=True)
    data = project / "test" / "data"
    expected = np.fromfile(data / "model0_case0_output0.bin", np.int8)
    calibration = tmp_path / "expected.txt"
    calibration.write_text(f"output 2 1 {expected.size}\n{' '.join(map(str, expected))}\n")
    weights = project / "src" / "model0" / "net0.bin"
    command = [str(build / "benchmark"), str(data / "model0_case0_input0.bin"), str(weights), "2", str(calibration)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0] == "=======run benchmark======"
    assert lines[1:3] == ["ThreadNum: 1.", "BindMode: 1."]
    assert "loop count: 2" in lines
    assert lines[-1] == "========run success======="
    shown = next(lines[i + 1] for i, line in enumerate(lines) if line.startswith("name: "))
    assert [int(value) for value in shown.rstrip(", ").split(", ")] == list(expected[:10])
    calibration.write_text(f"output 2 1 {expected.size}\n{' '.join(map(str, -expected[::-1].astype(int)))}\n")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    weights.write_bytes(weights.read_bytes()[:-1])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "MSModelBuild failed" in done.stdout


ADAPTER_CHECK = r"""
#include <stdio.h>
#include <string.h>
#include "include/model_handle.h"
#include "model0/weight0.h"
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); return 1; } } while (0)
static unsigned char file[1000000];
int main(int argc, char **argv) {
  FILE *stream = fopen(argv[argc - 1], "rb");
  const size_t size = fread(file, 1, sizeof file, stream);
  fclose(stream);
  CHECK(model0_weights_are_intact(file, size) && !model0_weights_are_intact(file, size - 1));
  file[size / 2] ^= 4;
  CHECK(!model0_weights_are_intact(file, size) && !model0_weights_are_intact(NULL, size));
  file[size / 2] ^= 4;
  CHECK(MSModelCreate() == model0 && model0 != model1);
  CHECK(MSModelBuild(model0, file, size - 1, kMSModelTypeMindIR, NULL) == kMSStatusLiteInputParamInvalid);
  MSTensorHandleArray inputs = MSModelGetInputs(model0), outputs = {0, NULL};
  CHECK(MSModelPredict(model0, inputs, &outputs, NULL, NULL) == kMSStatusLiteUninitializedObj);
  CHECK(MSModelBuild(model0, file, size, kMSModelTypeMindIR, NULL) == kMSStatusSuccess);
  CHECK(MSModelPredict(model0, inputs, &outputs, NULL, NULL) == kMSStatusLiteNullptr);
  CHECK(MSModelGetInputByTensorName(model0, MSTensorGetName(inputs.handle_list[0])) == inputs.handle_list[0]);
  CHECK(MSModelGetInputByTensorName(model0, "no such name") == NULL);
  MSTensorHandle clone = MSTensorClone(inputs.handle_list[0]);
  CHECK(clone != NULL && MSTensorGetName(clone) != MSTensorGetName(inputs.handle_list[0]));
  CHECK(strcmp(MSTensorGetName(clone), MSTensorGetName(inputs.handle_list[0])) == 0);
  MSTensorSetName(clone, "other");
  memset(MSTensorGetMutableData(clone), 3, MSTensorGetDataSize(clone));
  MSTensorHandleArray given = {1, &clone};
  outputs.handle_num = 0;
  CHECK(MSModelPredict(model0, given, &outputs, NULL, NULL) == kMSStatusSuccess);
  signed char first[16], again[16];
  const size_t count = MSTensorGetDataSize(outputs.handle_list[0]);
  memcpy(first, MSTensorGetData(outputs.handle_list[0]), count);
  CHECK(MSModelPredict(model0, given, &outputs, NULL, NULL) == kMSStatusSuccess);
  memcpy(again, MSTensorGetData(outputs.handle_list[0]), count);
  CHECK(memcmp(first, again, count) == 0);
  const int64_t wrong[] = {1, 2};
  MSTensorHandle small = MSTensorCreate("small", kMSDataTypeNumberTypeInt8, wrong, 2, "ab", 2);
  CHECK(small != NULL && MSTensorCreate("x", kMSDataTypeNumberTypeInt8, wrong, 2, "abc", 3) == NULL);
  given.handle_list = &small;
  CHECK(MSModelPredict(model0, given, &outputs, NULL, NULL) == kMSStatusLiteInputTensorError);
  MSTensorSetShape(inputs.handle_list[0], wrong, 2);
  MSTensorSetDataType(inputs.handle_list[0], kMSDataTypeNumberTypeBool);
  size_t rank = 0;
  CHECK(MSTensorGetShape(inputs.handle_list[0], &rank) != NULL && rank == 4);
  CHECK(MSTensorGetDataType(inputs.handle_list[0]) == kMSDataTypeNumberTypeInt8);
  memset(MSTensorGetMutableData(inputs.handle_list[0]), 3, MSTensorGetDataSize(inputs.handle_list[0]));
  CHECK(MSModelPredict(model0, inputs, &outputs, NULL, NULL) == kMSStatusSuccess);
  CHECK(memcmp(first, MSTensorGetData(outputs.handle_list[0]), count) == 0);
  CHECK(MSModelGetOutputByTensorName(model0, MSTensorGetName(outputs.handle_list[0])) == outputs.handle_list[0]);
  CHECK(MSTensorGetElementNum(small) == 2 && MSTensorGetDataSize(small) == 2);
  const int64_t larger[] = {5, 2};
  MSTensorSetShape(small, larger, 2);
  MSTensorSetDataType(small, kMSDataTypeNumberTypeInt16);
  MSTensorSetFormat(small, kMSFormatNCHW);
  CHECK(MSTensorGetFormat(small) == kMSFormatNCHW && MSTensorGetDataSize(small) == 20);
  memset(MSTensorGetMutableData(small), 1, 20);
  CHECK(MSModelResize(model0, inputs, NULL, 0) == kMSStatusLiteNotSupport);
  CHECK(MSModelSetTrainMode(model0, true) == kMSStatusLiteNotSupport);
  CHECK(MSModelRunStep(model0, NULL, NULL) == kMSStatusLiteNotSupport);
  CHECK(MSModelSetWorkspace(model0, file, size) == kMSStatusLiteNotSupport);
  CHECK(MSModelCalcWorkspaceSize(model0) == 0);
  MSTensorDestroy(&clone);
  MSTensorDestroy(&small);
  CHECK(clone == NULL);
  MSModelHandle handle = model0;
  MSModelDestroy(&handle);
  CHECK(handle == NULL);
  CHECK(MSModelBuildFromFile(model0, "no such file", kMSModelTypeMindIR, NULL) == kMSStatusLiteFileError);
  CHECK(MSModelBuildFromFile(model0, argv[argc - 1], kMSModelTypeMindIR, NULL) == kMSStatusSuccess);
  MSContextHandle context = MSContextCreate();
  const int32_t cores[] = {0, 1};
  MSContextSetThreadNum(context, 3);
  MSContextSetThreadAffinityMode(context, 2);
  MSContextSetThreadAffinityCoreList(context, cores, 2);
  MSContextSetEnableParallel(context, true);
  size_t core_count = 0;
  CHECK(MSContextGetThreadNum(context) == 3 && MSContextGetThreadAffinityMode(context) == 2);
  CHECK(MSContextGetThreadAffinityCoreList(context, &core_count)[1] == 1 && core_count == 2);
  CHECK(MSContextGetEnableParallel(context));
  MSDeviceInfoHandle device = MSDeviceInfoCreate(kMSDeviceTypeCPU);
  CHECK(MSDeviceInfoGetDeviceType(device) == kMSDeviceTypeCPU);
  MSContextAddDeviceInfo(context, device);
  MSContextSetThreadNum(context, 1);
  CHECK(MSModelBuild(model0, file, size, kMSModelTypeMindIR, context) == kMSStatusSuccess);
  MSContextDestroy(&context);
  CHECK(context == NULL);
  handle = model0;
  MSModelDestroy(&handle);
  return 0;
}
"""


def test_handles(projects: Projects, tmp_path: Path) -> None:
    project = _copy(projects(["keywords", "autoencoder"], "x86"), tmp_path)
    flags = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    _make(project, "build/libnet.a", "CC=gcc", f"CFLAGS={flags}")
    (tmp_path / "check.c").write_text(ADAPTER_CHECK)
    includes = [f"-I{project}", f"-I{project}/src", f"-I{project}/src/include"]
    program = str(tmp_path / "check")
    command = ["gcc", *flags.split(), *includes, str(tmp_path / "check.c"), str(project / "build" / "libnet.a")]
    subprocess.run([*command, "-lm", "-pthread", "-o", program], check=True)
    done = subprocess.run(
        [program, str(project / "src" / "model0" / "net0.bin")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads(tmp_path: Path) -> None:
    chosen = target_named("x86")
    settings = GenerateSettings(chosen, tmp_path / "project", parallel=True, measure=False)
    generate([Source(model_file("resnet8", tmp_path))], settings)
    project = tmp_path / "project"
    flags = "-O1 -g -fsanitize=thread"
    _make(project, "build/benchmark", "CC=gcc", f"CFLAGS={flags}")
    assert "2 of 2 cases as recorded" in _make(project, "test", "CC=gcc", f"CFLAGS={flags}")
    data = project / "test" / "data"
    expected = np.fromfile(data / "model0_case0_output0.bin", np.int8)
    calibration = tmp_path / "expected.txt"
    calibration.write_text(f"output 2 1 {expected.size}\n{' '.join(map(str, expected))}\n")
    weights = project / "src" / "model0" / "net0.bin"
    for threads in ("1", "2", "3", "4"):
        command = [str(project / "build" / "benchmark"), str(data / "model0_case0_input0.bin"), str(weights), "3"]
        command += [str(calibration), threads, "1", "1", "0.9999999"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"ThreadNum: {threads}." in done.stdout


BOARD_MAIN = '#include "benchmark/benchmark.h"\nint main(void) { return benchmark() == 0 ? 0 : 1; }\n'


def test_benchmark_on_a_board(projects: Projects, tmp_path: Path) -> None:
    from mslite.codegen.boards import BOARDS, run_on_board

    project = _copy(projects(["keywords", "autoencoder"], "cortex-m4"), tmp_path)
    (tmp_path / "main.c").write_text(BOARD_MAIN)
    sources = [*(project / "src").rglob("*.c"), *(project / "benchmark").glob("*.c")]
    includes = ["-I", str(project), "-I", str(project / "src"), "-I", str(project / "src" / "include")]
    run = run_on_board(BOARDS["mps2-an386"], [tmp_path / "main.c", *sources], ["-O2", *includes])
    assert (run.status, run.output) == (0, "")
