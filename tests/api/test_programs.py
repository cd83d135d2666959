"""Programs in C++, C and Java that were written from the reference of MindSpore Lite's API alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter import cli
from mslite.converter.options import FmkType
from tests.runtime.encrypted_files import KEY, gcm_file

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(os.environ.get("MSLITE_BUILD", ROOT / "build")).resolve()
JAR = PROGRAMS / "android/mindspore-lite/mindspore-lite-java.jar"
LENET = ROOT.parent / "shared" / "models" / "mindspore_ms" / "lenet_train_lite" / "model.ms"


def _digits(folder: Path, shape: list[int]) -> Path:
    converter = mslite.Converter()
    converter.input_shape = {"image": shape}
    converter.convert(FmkType.ONNX, str(ROOT / "examples" / "digits" / "digits.onnx"), str(folder / "digits"))
    return folder / "digits.ms"


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For one image."""
    return _digits(tmp_path_factory.mktemp("digits"), [1, 1, 8, 8])


@pytest.fixture(scope="module")
def open_digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For any number of images."""
    return _digits(tmp_path_factory.mktemp("open_digits"), [-1, 1, 8, 8])


def run(program: str, *arguments: object) -> dict[str, np.ndarray]:
    """What a program prints: a name and numbers in each line. Programs of this build are paths in it."""
    command = [str(PROGRAMS / program) if "/" in program else program, *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{program}: {done.returncode}\n{done.stdout}{done.stderr}"
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    return {line[0]: np.array(line[1:], np.float32) for line in lines}


def expected(model_path: Path, values: np.ndarray) -> dict[str, np.ndarray]:
    """The same from Python, for inputs of another batch too."""
    model = mslite.Model()
    model.build_from_file(str(model_path), mslite.ModelType.MINDIR_LITE)
    inputs = model.get_inputs()
    if list(values.shape) != inputs[0].shape:
        model.resize(inputs, [list(values.shape)])
    outputs = model.predict([values])
    return {output.name: output.get_data_to_numpy().ravel() for output in outputs}


def check(answers: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert answers.keys() == wanted.keys()
    for name, numbers in wanted.items():
        np.testing.assert_allclose(answers[name], numbers, rtol=1e-4, atol=1e-4)  # texts of six digits


def input_shape(path: Path, batch: int = 1) -> list[int]:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return [batch, *model.get_inputs()[0].shape[1:]]


@pytest.mark.parametrize("language", ["cpp", "c"])
def test_quick_start(language: str, digits: Path, tmp_path: Path) -> None:
    values = np.random.default_rng(1).random(input_shape(digits), np.float32)
    values.tofile(tmp_path / "input.bin")
    check(run(f"tests/api/api_{language}_quick_start", digits, tmp_path / "input.bin"), expected(digits, values))


def test_resize_and_callbacks(open_digits: Path) -> None:
    shape = input_shape(open_digits, 3)
    values = (np.arange(np.prod(shape)) % 5 / np.float32(4)).astype(np.float32).reshape(shape)
    check(run("tests/api/api_cpp_resize_and_callbacks", open_digits), expected(open_digits, values))


def test_resize_in_c(open_digits: Path) -> None:
    shape = input_shape(open_digits, 2)
    values = (np.arange(np.prod(shape)) % 7 / np.float32(6)).astype(np.float32).reshape(shape)
    check(run("tests/api/api_c_resize", open_digits), expected(open_digits, values))


def test_a_fixed_batch_is_held(java: Path, digits: Path) -> None:
    """Each program resizes to another batch."""
    held = r"input 'image' has the shape \[2, 8, 8, 1\], but the model was converted for \[1, 8, 8, 1\]"
    with pytest.raises(AssertionError, match=held):
        run("tests/api/api_c_resize", digits)
    with pytest.raises(AssertionError, match="resize_and_callbacks: 1"):
        run("tests/api/api_cpp_resize_and_callbacks", digits)
    with pytest.raises(AssertionError, match="resize failed"):
        run_java(java, "ResizeGraph", digits)


def test_handles_of_requests_in_c(digits: Path) -> None:
    values = np.full(input_shape(digits), 0.5, np.float32)
    check(run("tests/api/api_c_async", digits), expected(digits, values))


@pytest.mark.skipif(not LENET.is_file(), reason="the shared models are not here")
def test_training_in_c(digits: Path, tmp_path: Path) -> None:
    losses = run("tests/api/api_c_train", LENET, digits, tmp_path)["losses"]
    assert len(losses) == 6
    assert np.all(np.diff(losses) < 0)


def test_adapters_in_c(digits: Path, tmp_path: Path) -> None:
    """A model with an adapter computes what the one does that trained it."""
    config = tmp_path / "lora.cfg"
    config.write_text("[train_param]\noptimizer=Adam\nlora_rank=2\n")
    source = ROOT / "examples" / "digits" / "digits.onnx"
    flags = [f"--modelFile={source}", f"--outputFile={tmp_path / 'lora'}", f"--configFile={config}"]
    assert cli.main([*flags, "--trainModel=true", "--inputShape=image:1,1,8,8"]) == 0
    results = run("tests/api/api_c_adapters", tmp_path / "lora.ms", digits, tmp_path / "adapter.ms")
    assert np.abs(results["trained"] - results["base"]).max() > 0.01
    np.testing.assert_allclose(results["adapter"], results["trained"], atol=1e-5)
    np.testing.assert_array_equal(results["without"], results["base"])


@pytest.mark.skipif(not LENET.is_file(), reason="the shared models are not here")
def test_training_without_its_library(digits: Path, tmp_path: Path) -> None:
    """The library alone says what is missing; as a copy, for the other one lies beside the original."""
    name = "libmindspore-lite.so.0"
    (tmp_path / name).write_bytes((PROGRAMS / "lite_runtime" / name).read_bytes())
    done = subprocess.run(
        [PROGRAMS / "tests/api/api_c_train", LENET, digits, tmp_path],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "LD_PRELOAD": str(tmp_path / name)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "training needs libmindspore-lite-train.so.0: link it to the program, or put it beside" in done.stderr


def test_tensors(digits: Path) -> None:
    check(run("tests/api/api_cpp_tensors", digits), expected(digits, np.full(input_shape(digits), 0.5, np.float32)))


def test_parallel_runner(digits: Path) -> None:
    ((name, firsts),) = run("tests/api/api_cpp_parallel_runner", digits).items()
    for number, first in enumerate(firsts):
        wanted = expected(digits, np.full(input_shape(digits), number * 0.25, np.float32))[name]
        np.testing.assert_allclose(first, wanted[0], rtol=1e-4, atol=1e-4)


def test_the_example_in_c(digits: Path, tmp_path: Path) -> None:
    with np.load(ROOT / "examples" / "digits" / "digits_test.npz") as data:
        images = data[data.files[0]]
    image = np.ascontiguousarray(images[:1], np.float32).reshape(input_shape(digits))
    image.tofile(tmp_path / "image.bin")
    program = PROGRAMS / "examples/c/example_c_classify"
    done = subprocess.run([program, digits, tmp_path / "image.bin"], capture_output=True, text=True, check=True)
    (best,) = {int(np.argmax(output)) for output in expected(digits, image).values()}
    assert done.stdout.startswith(f"class {best}: ")
    assert subprocess.run([program], capture_output=True, check=False).returncode == 2
    missing = subprocess.run([program, "there_is_none.ms"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "build failed" in missing.stderr


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classes of the programs in Java, which see the API alone."""
    folder = tmp_path_factory.mktemp("java")
    sources = sorted((ROOT / "tests/api/programs/java").glob("*.java"))
    command = ["javac", "--release", "8", "-Xlint:all,-options,-try", "-Werror", "-cp", JAR, "-d", folder, *sources]
    subprocess.run(command, check=True, timeout=120)
    return folder


def run_java(classes: Path, program: str, *arguments: object) -> dict[str, np.ndarray]:
    return run("java", f"-Djava.io.tmpdir={classes}", "-cp", f"{JAR}:{classes}", program, *arguments)


def test_quick_start_in_java(java: Path, digits: Path, tmp_path: Path) -> None:
    values = np.random.default_rng(2).random(input_shape(digits), np.float32)
    values.tofile(tmp_path / "input.bin")
    check(run_java(java, "QuickStart", digits, tmp_path / "input.bin"), expected(digits, values))


def test_an_encrypted_model_in_java(java: Path, digits: Path, tmp_path: Path) -> None:
    values = np.random.default_rng(3).random(input_shape(digits), np.float32)
    values.tofile(tmp_path / "input.bin")
    encrypted = tmp_path / "encrypted.ms"
    encrypted.write_bytes(gcm_file(digits.read_bytes()))
    arguments = [encrypted, tmp_path / "input.bin", KEY.decode(), "libcrypto.so.3"]
    check(run_java(java, "QuickStart", *arguments), expected(digits, values))
    with pytest.raises(AssertionError, match="build failed"):
        run_java(java, "QuickStart", encrypted, tmp_path / "input.bin", KEY.decode()[::-1], "libcrypto.so.3")


def test_resize_in_java(java: Path, open_digits: Path) -> None:
    shape = input_shape(open_digits, 3)
    values = (np.arange(np.prod(shape)) % 5 / np.float32(4)).astype(np.float32).reshape(shape)
    check(run_java(java, "ResizeGraph", open_digits), expected(open_digits, values))


def test_parallel_runner_in_java(java: Path, digits: Path) -> None:
    ((name, firsts),) = run_java(java, "ParallelRunner", digits).items()
    for number, first in enumerate(firsts):
        wanted = expected(digits, np.full(input_shape(digits), number * 0.25, np.float32))[name]
        np.testing.assert_allclose(first, wanted[0], rtol=1e-4, atol=1e-4)
