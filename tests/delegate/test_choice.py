"""How a GPU is asked for, in Python and by `benchmark`, and what is said where there is none."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

from .engines import OPENCL
from .models import missing

ROOT = Path(__file__).parents[2]
PROGRAM = (ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark/benchmark").resolve()
NOWHERE = {"MSLITE_OPENCL_DEVICE": "there is none of this name"}
"""The system's library is there, and no such device."""


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("digits") / "digits"
    convert(Options(ROOT / "examples/digits/digits.onnx", target, input_shapes={"image": (1, 1, 8, 8)}))
    return target.with_suffix(".ms")


@pytest.fixture
def opencl() -> Iterator[None]:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    with OPENCL.chosen(MSLITE_DELEGATE_COSTS="off"):
        yield


def benchmark(model: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, f"--modelFile={model}", "--loopCount=2", "--warmUpLoopCount=1", *flags],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def built(model: Path, *target: str, fallback: bool = True) -> mslite.Model:
    context = mslite.Context()
    context.target = list(target)
    context.fallback = fallback
    result = mslite.Model()
    result.build_from_file(model, mslite.ModelType.MINDIR_LITE, context)
    return result


def outputs(model: mslite.Model) -> np.ndarray:
    (image,) = model.get_inputs()
    return model.predict([np.linspace(0, 1, 64, dtype=np.float32).reshape(image.shape)])[0].get_data_to_numpy()


@pytest.mark.usefixtures("opencl")
def test_python(digits: Path) -> None:
    on_cpu = built(digits, "cpu")
    assert on_cpu.placements() == []
    assert built(digits, "cpu", "gpu").placements() == [], "the CPU comes first, and runs everything"
    for target in (("gpu",), ("gpu", "cpu")):
        on_gpu = built(digits, *target)
        assert all(map(OPENCL.has, on_gpu.placements()))
        assert len(on_gpu.placements()) > 4
        np.testing.assert_allclose(outputs(on_gpu), outputs(on_cpu), rtol=1e-5, atol=1e-6)


def test_python_without_a_device(digits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match=r"OpenCL: no .*fallback to the CPU is disabled"):
        built(digits, "gpu", fallback=False)
    fallen_back = built(digits, "gpu").placements()
    assert {node.engine for node in fallen_back} == {"CPU"}
    assert all(node.reason.startswith("OpenCL: no ") for node in fallen_back), "without the delegate's code"
    np.testing.assert_array_equal(outputs(built(digits, "gpu")), outputs(built(digits, "cpu")))


@pytest.mark.usefixtures("opencl")
def test_benchmark(digits: Path, tmp_path: Path) -> None:
    done = benchmark(digits, "--device=GPU", f"--jsonFile={tmp_path / 'a.json'}", f"--htmlFile={tmp_path / 'a.html'}")
    assert done.returncode == 0, done.stderr
    placement = json.loads((tmp_path / "a.json").read_text())["placement"]
    assert f"{len(placement)} of {len(placement)} nodes, 100.00 % of the operations, in 1 partition\n" in done.stdout
    assert all(node["engine"].startswith("OpenCL") and node["part"] == 0 for node in placement)
    assert "Backends of the nodes" in (tmp_path / "a.html").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["operators"][0]["name"] == "OpenCL #0"


def test_benchmark_does_not_pass_the_cpu_for_a_gpu(digits: Path) -> None:
    done = benchmark(digits, "--device=GPU", **NOWHERE)
    assert done.returncode == 1
    assert "OpenCL: no " in done.stderr


@pytest.mark.usefixtures("opencl")
def test_float16(digits: Path) -> None:
    context = mslite.Context()
    context.target, context.fallback, context.gpu.precision_mode = ["gpu"], False, "preferred_fp16"
    model = mslite.Model()
    model.build_from_file(digits, mslite.ModelType.MINDIR_LITE, context)
    assert all(placement.engine.endswith(", float16)") for placement in model.placements())
    got, wanted = outputs(model), outputs(built(digits, "cpu"))
    assert not np.array_equal(got, wanted), "something was rounded"
    np.testing.assert_allclose(got, wanted, rtol=0.02, atol=1e-3)
    done = benchmark(digits, "--device=GPU", "--enableFp16")
    assert done.returncode == 0, done.stderr
    assert ", float16): " in done.stdout


@pytest.mark.usefixtures("opencl")
def test_compiled_programs_are_kept(digits: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def contents() -> dict[str, bytes]:
        done = benchmark(digits, "--device=GPU", MSLITE_OPENCL_CACHE=str(cache))
        assert done.returncode == 0, done.stderr
        assert "100.00 % of the operations" in done.stdout
        return {file.name: file.read_bytes() for file in cache.iterdir()}

    kept = contents()
    assert len(kept) > 3
    assert all(name.endswith(".clbin") for name in kept), "no file is left half-written"
    assert contents() == kept, "found again, and not written again"
    # A damaged file, an empty one, and one that is gone are compiled and kept again.
    damaged, empty, gone = sorted(kept)[:3]
    (cache / damaged).write_bytes(kept[damaged][:-1] + bytes([kept[damaged][-1] ^ 1]))
    (cache / empty).write_bytes(b"")
    (cache / gone).unlink()
    again = contents()
    assert again.keys() == kept.keys()
    assert all(len(again[name]) > 1000 for name in (damaged, empty, gone))
    assert again[damaged] != (kept[damaged][:-1] + bytes([kept[damaged][-1] ^ 1]))


@pytest.mark.usefixtures("opencl")
def test_the_oldest_programs_make_room(digits: Path, tmp_path: Path) -> None:
    for number in range(4):
        with (tmp_path / f"old{number}.clbin").open("wb") as file:
            file.truncate(20 << 20)
        os.utime(tmp_path / f"old{number}.clbin", (number, number))
    (tmp_path / "other.bin").write_bytes(b"not ours")
    assert benchmark(digits, "--device=GPU", MSLITE_OPENCL_CACHE=str(tmp_path)).returncode == 0
    left = {file.name for file in tmp_path.iterdir()}
    assert {"old1.clbin", "old2.clbin", "old3.clbin", "other.bin"} <= left, "60 MiB of 64"
    assert "old0.clbin" not in left


@pytest.mark.usefixtures("opencl")
def test_a_cache_that_cannot_be_written(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    done = benchmark(digits, "--device=GPU", MSLITE_OPENCL_CACHE=str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_none(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "libOpenCL.so").write_bytes(b"no library")
    done = benchmark(digits, "--device=GPU", MSLITE_OPENCL_LIBRARY=str(tmp_path / "libOpenCL.so"))
    assert done.returncode == 1
    assert "which cannot be loaded" in done.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--device=NPU"], "use CPU or GPU"),
        (["--deviceId=1"], "--deviceId needs --device=GPU"),
        (["--device=GPU", "--deviceId=-1"], "must not be negative"),
        (["--device=GPU", "--enableParallelPredict"], "remove --device=GPU"),
    ],
)
def test_wrong_flags(digits: Path, flags: list[str], message: str) -> None:
    done = benchmark(digits, *flags)
    assert done.returncode == 2
    assert message in done.stderr
