"""Generated projects call the driver of an NPU: what they hand over, where, and what they make of its results.

The compiler and the driver are stand-ins (`ethosu/`): no NPU can be run here. `test_real_compiler` has vela itself.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.cli import main
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.memory import plan_memory
from mslite.codegen.targets import target_named
from mslite.converter.convert import convert
from mslite.converter.errors import ExitStatus
from mslite.converter.ethosu import NpuSettings, npu_settings, placement
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.options import Options

from .ethosu.stand_in import compile_file, npu_nodes, values_of, write_driver
from .networks import keywords
from .test_wrappers import STM32, ZEPHYR

_FOUND = npu_settings("ethos-u55", {})
assert _FOUND is not None
NPU: NpuSettings = _FOUND
_M55 = target_named("cortex-m55")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "keywords.tflite"
    path.write_bytes(keywords())
    return path


def _stand_in(monkeypatch: pytest.MonkeyPatch, *refused: str, fast_scratch: int = 0) -> None:
    monkeypatch.setattr(placement, "vela_version", lambda settings: "0")
    monkeypatch.setattr(placement, "compile_file", partial(compile_file, refused=refused, fast_scratch=fast_scratch))


def _project(model: Path, folder: Path, npu: NpuSettings = NPU) -> Path:
    """A project, and in `driver` a driver that knows the calls of its recorded runs."""
    project = folder / "project"
    options = Options(model, model, npu=npu)
    generate([Source(model, options=options)], GenerateSettings(_M55, project, measure=False))
    nodes = npu_nodes(load(convert(Options(model, folder / "npu", npu=npu)).files[0]))
    names = [value.name for one in nodes for value in (*one.inputs, *one.node.outputs)]
    runs = []
    for data in sorted(project.glob("test/data/*_input0.bin")):
        inputs = [np.fromfile(data, np.int8).reshape(1, 49, 10, 1)]
        runs.append(values_of(model, names, inputs, folder))
    (folder / "driver").mkdir()
    write_driver(folder / "driver", nodes, runs)
    return project


def _make(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    driver = project.parent / "driver"
    command = [
        "make",
        "-C",
        str(project),
        f"ETHOSU_DRIVER={driver}",
        f"ETHOSU_SOURCES={driver / 'driver.c'}",
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("refused", "fast_scratch"), [((), 0), (("average",), 0), ((), 4096), (("depthwise_conv_2d_7",), 32)]
)
def test_the_npu_gets_its_tensors_and_its_results_are_used(
    refused: tuple[str, ...], fast_scratch: int, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, with a layer of the CPU between two calls, and with a second memory."""
    _stand_in(monkeypatch, *refused, fast_scratch=fast_scratch)
    project = _project(model, tmp_path)
    done = _make(project, "host-test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "driver:" not in done.stdout


def test_on_an_emulated_board(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None:
        pytest.skip("needs arm-none-eabi-gcc and qemu-system-arm")
    _stand_in(monkeypatch, "average")
    done = _make(_project(model, tmp_path), "test")
    assert done.returncode == 0, done.stdout + done.stderr


def test_other_results_are_seen(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's own test compares what the NPU gives with the CPU."""
    _stand_in(monkeypatch)
    project = _project(model, tmp_path)
    recorded = tmp_path / "driver" / "recorded.h"
    lines = recorded.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "char out0_0[]" in line)
    lines[at] = lines[at].replace("= {", "= {77 ^ ", 1)
    recorded.write_text("\n".join(lines) + "\n")
    assert _make(project, "host-test").returncode != 0


def test_a_call_that_fails_ends_the_run(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch)
    project = _project(model, tmp_path)
    recorded = tmp_path / "driver" / "recorded.h"
    recorded.write_text(recorded.read_text().replace("#define BASES 2", "#define BASES 3"))
    done = _make(project, "host-test")
    assert done.returncode != 0
    assert "driver: there are other memories" in done.stdout


def test_the_build_asks_for_the_driver(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch)
    project = _project(model, tmp_path)
    done = subprocess.run(["make", "-C", str(project)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "set it: make ETHOSU_DRIVER=../core_driver" in done.stderr
    command = ["make", "-C", str(project), "host-test", f"ETHOSU_DRIVER={tmp_path / 'driver'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "make host-test ETHOSU_SOURCES=driver.c" in done.stderr
    cmake = ["cmake", "-S", str(project), "-B", str(tmp_path / "b")]
    done = subprocess.run(cmake, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "set it: cmake -DETHOSU_DRIVER" in " ".join(done.stderr.split())
    driver = tmp_path / "driver"
    given = [f"-DETHOSU_DRIVER={driver}", f"-DETHOSU_SOURCES={driver / 'driver.c'}"]
    subprocess.run([*cmake, *given], capture_output=True, text=True, check=True)
    subprocess.run(["cmake", "--build", str(tmp_path / "b")], capture_output=True, text=True, check=True)
    test = subprocess.run(["ctest", "--test-dir", str(tmp_path / "b")], capture_output=True, text=True, check=False)
    assert "100% tests passed, 0 tests failed out of 1" in test.stdout


def test_in_other_environments(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zephyr's CMake, and the Makefile of STM32CubeMX."""
    _stand_in(monkeypatch)
    project = _project(model, tmp_path)
    zephyr, stm32 = tmp_path / "zephyr", tmp_path / "stm32"
    for folder in (zephyr, stm32):
        folder.mkdir()
        (folder / "project").symlink_to(project)
    (zephyr / "CMakeLists.txt").write_text(ZEPHYR)
    given = f"-DETHOSU_DRIVER={tmp_path / 'driver'}"
    subprocess.run(["cmake", "-S", str(zephyr), "-B", str(zephyr / "b"), given], capture_output=True, check=True)
    subprocess.run(["cmake", "--build", str(zephyr / "b")], capture_output=True, check=True)
    (stm32 / "Makefile").write_text(STM32)
    (stm32 / "main.c").write_text("int main(void) { return 0; }\n")
    driver = tmp_path / "driver"
    make = ["make", "-C", str(stm32), f"ETHOSU_DRIVER={driver}", f"C_SOURCES=main.c {driver / 'driver.c'}"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_converted_file_becomes_a_project(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs have nothing to compare with: no processor computes them."""
    _stand_in(monkeypatch)
    (file,) = convert(Options(model, tmp_path / "npu", npu=NPU)).files
    program = lower_ms(file, _M55)
    plan = plan_memory(program)
    (step,) = program.steps
    assert step.call is not None
    assert all(offset % 16 == 0 for offset in (*plan.offsets.values(), *plan.workspaces.values()))
    assert main([str(file), "--target=cortex-m55", f"--output={tmp_path / 'p'}"]) == ExitStatus.OK
    assert not list((tmp_path / "p" / "test" / "data").glob("*output*"))


@pytest.mark.parametrize("target", ["x86", "arm64"])
def test_other_processors_are_refused_by_name(
    target: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stand_in(monkeypatch)
    (file,) = convert(Options(model, tmp_path / "npu", npu=NPU)).files
    with pytest.raises(LoweringError) as caught:
        lower_ms(file, target_named(target))
    assert f"the Ethos-U driver needs a microcontroller, and {target} is not one" in str(caught.value)


def test_the_runtime_refuses_by_name(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import mslite

    _stand_in(monkeypatch)
    (file,) = convert(Options(model, tmp_path / "npu", npu=NPU)).files
    with pytest.raises(RuntimeError):
        mslite.Model().build_from_file(str(file), mslite.ModelType.MINDIR_LITE, mslite.Context())
    said = capfd.readouterr().err
    assert "(Custom of type 'ethos-u')" in said
    assert "convert the model without --target" in said


def test_a_damaged_file_is_refused(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(monkeypatch)
    module = load(convert(Options(model, tmp_path / "npu", npu=NPU)).files[0])
    (node,) = module.main.nodes
    assert isinstance(node.op, Custom)
    whole = node.op.attr or ()
    for attributes, reason in (
        ([pair for pair in whole if pair[0] != "places"], "its attributes are damaged"),
        (
            [(name, data if name != "scratch" else bytes([8] + [0] * 7)) for name, data in whole],
            "outside of its workspace",
        ),
    ):
        node.op = Custom(type="ethos-u", attr=tuple(attributes))
        (path,) = save(module, tmp_path / "damaged.ms")
        with pytest.raises(LoweringError, match=reason):
            lower_ms(path, _M55)
    node.op = Custom(type="ethos-u", attr=whole)
    node.set_inputs(node.inputs[1:])
    (path,) = save(module, tmp_path / "damaged.ms")
    with pytest.raises(LoweringError, match="not commands and constants"):
        lower_ms(path, _M55)


def test_files_of_ours_are_not_compiled_again(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = convert(Options(model, tmp_path / "plain")).files
    words = [str(file), "--target=cortex-m55", "--npu=ethos-u55", f"--output={tmp_path / 'p'}"]
    assert main(words) == ExitStatus.WRONG_USAGE
    assert "converter_lite --target=ethos-u55-128" in capsys.readouterr().err


@pytest.mark.frameworks
@pytest.mark.skipif(importlib.util.find_spec("ethosu") is None, reason="needs ethos-u-vela")
@pytest.mark.parametrize("target", ["ethos-u55-64", "ethos-u65", "ethos-u85"])
def test_real_compiler(target: str, model: Path, tmp_path: Path) -> None:
    """What vela makes of the same network reaches the driver whole."""
    npu = npu_settings(target, {})
    assert npu is not None
    done = _make(_project(model, tmp_path, npu), "host-test")
    assert done.returncode == 0, done.stdout + done.stderr
