"""OpenVINO is not there, or fails: the CPU runs the model with a warning, or there is one clear error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.ops.arithmetic import AddFusion

from . import runs

pytestmark = pytest.mark.skipif(not runs.PROGRAM.is_file(), reason=f"{runs.PROGRAM} was not built")
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
FAILING = runs.BUILD / "tests" / "delegate" / "libfailing_openvino.so"


def _model(folder: Path) -> Path:
    runs.write_model(folder, AddFusion(), [X, X], (1,), [X + X])
    return folder


def _refusal(folder: Path, library: str) -> str:
    """The error of a context that allows no fallback; with one, the CPU gives the result and says the same."""
    model = _model(folder)
    (result,) = runs.run([model], "--as-device", "--strict", MSLITE_OPENVINO_LIBRARY=library)
    (fallen,), heard = runs.run_and_hear([model], "--as-device", MSLITE_OPENVINO_LIBRARY=library)
    assert not fallen.error
    assert np.array_equal(fallen.outputs[0], X + X)
    assert "falling back to the CPU" in heard
    return result.error


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    error = _refusal(tmp_path, "/nowhere/libopenvino_c.so")
    assert "MSLITE_OPENVINO_LIBRARY names '/nowhere/libopenvino_c.so'" in error
    assert "fallback to the CPU is disabled" in error


def test_a_folder_without_it(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "but there is no libopenvino_c.so" in _refusal(tmp_path / "model", os.fspath(tmp_path / "empty"))


def test_a_library_that_is_another_one(tmp_path: Path) -> None:
    assert "too old or not the right one: it does not have ov_" in _refusal(tmp_path, "libc.so.6")


def test_nothing_installed_names_the_places_and_the_remedy(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "MSLITE_OPENVINO_LIBRARY"}
    model = _model(tmp_path)
    done = subprocess.run(
        [runs.PROGRAM, "--as-device", "--strict", model],
        env={**environment, "LD_LIBRARY_PATH": "/nowhere"},
        check=True,
        capture_output=True,
    )
    assert done.returncode == 0
    error = runs.read(model).error
    if not error:
        pytest.skip("OpenVINO is installed where the system looks")
    assert "/nowhere" in error
    assert "pip install openvino" in error


@pytest.fixture
def real_library() -> str:
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install openvino)")
    folder = runs.openvino_folder()
    assert folder is not None
    (library,) = (folder / "libs").glob("libopenvino_c.so*")
    return os.fspath(library)


@pytest.mark.frameworks
def test_a_device_that_is_not_there(tmp_path: Path, real_library: str) -> None:
    model = _model(tmp_path)
    (result,) = runs.run([model], "--device=NONE", "--strict", MSLITE_OPENVINO_LIBRARY=real_library)
    assert "OpenVINO has no device 'NONE' on this system" in result.error
    assert "ov_core_get_property" in result.error


@pytest.mark.frameworks
@pytest.mark.parametrize("device", ["CPU", "AUTO", "AUTO:CPU", "HETERO:CPU"])
def test_names_of_devices(device: str, tmp_path: Path, real_library: str) -> None:
    model, dump = _model(tmp_path / "model"), tmp_path / "dump"
    dump.mkdir()
    settings = {"MSLITE_OPENVINO_LIBRARY": real_library, "MSLITE_OPENVINO_DUMP": os.fspath(dump)}
    (result,) = runs.run([model], f"--device={device}", "--strict", **settings)
    assert not result.error
    assert np.array_equal(result.outputs[0], X + X)
    assert (dump / "part_0.xml").is_file(), "the engine was not asked"


@pytest.mark.frameworks
def test_compiled_parts_are_kept_in_a_folder(tmp_path: Path, real_library: str) -> None:
    model, cache = _model(tmp_path / "model"), tmp_path / "cache"
    settings = {"MSLITE_OPENVINO_LIBRARY": real_library, "MSLITE_OPENVINO_CACHE": os.fspath(cache)}
    for _ in range(2):
        (result,) = runs.run([model], **settings)
        assert np.array_equal(result.outputs[0], X + X)
        assert len(list(cache.glob("*.blob"))) == 1


PROVIDER = """
import sys

import mslite
import numpy

context = mslite.Context()
context.cpu.provider = "openvino"
model = mslite.Model()
model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
numpy.save(sys.argv[2], model.predict([numpy.load(sys.argv[3])])[0].get_data_to_numpy())
"""


@pytest.mark.frameworks
def test_pythons_provider_of_the_cpu(tmp_path: Path, real_library: str) -> None:
    model, dump = _model(tmp_path / "model"), tmp_path / "dump"
    dump.mkdir()
    settings = {
        "MSLITE_OPENVINO_LIBRARY": real_library,
        "MSLITE_DELEGATE_COSTS": "off",
        "MSLITE_OPENVINO_DUMP": os.fspath(dump),
    }
    command = [sys.executable, "-c", PROVIDER, model / "model.ms", tmp_path / "y.npy", model / "input_0.npy"]
    subprocess.run(command, env={**os.environ, **settings}, check=True, timeout=120)
    assert np.array_equal(np.load(tmp_path / "y.npy"), X + X)
    assert (dump / "part_0.xml").is_file(), "the engine was not asked"


@pytest.mark.frameworks
def test_every_call_may_fail(tmp_path: Path, real_library: str) -> None:
    """Whichever call fails, the CPU gives the result, and the next model runs on the engine again."""
    first, second = _model(tmp_path / "first"), _model(tmp_path / "second")
    settings = {"MSLITE_OPENVINO_LIBRARY": os.fspath(FAILING), "REAL_OPENVINO": real_library}
    calls = tmp_path / "calls"
    runs.run([first], "--as-device", "--strict", CALLS=os.fspath(calls), **settings)
    count = int(calls.read_text())
    assert count > 10
    named = set()
    for number in range(1, count + 1):
        dump = tmp_path / f"dump_{number}"
        dump.mkdir()
        results, heard = runs.run_and_hear(
            [first, second], "--as-device", FAIL_AT=str(number), MSLITE_OPENVINO_DUMP=os.fspath(dump), **settings
        )
        for result in results:
            assert not result.error, f"call {number}: {result.error}"
            assert np.array_equal(result.outputs[0], X + X), f"call {number}"
        warnings = [line for line in heard.splitlines() if "falling back to the CPU" in line]
        assert len(warnings) == 1, f"call {number}: {heard}"
        named.add(warnings[0])
        assert list(dump.glob("*.xml")), f"call {number}: the second model did not run on the engine"
    assert all("ov_" in line for line in named), named
