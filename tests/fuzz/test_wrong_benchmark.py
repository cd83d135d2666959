"""`benchmark` with what it cannot use: a message that says what was got and what was expected, and exit code 1 or 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from onnx import helper

from mslite.converter.cli import main
from tests.converter.onnx_models import save, small_network

from .hostile_onnx import one_node
from .limits import ROOT

PARALLEL = ("--modelFile=net.ms", "--enableParallelPredict")
BUILD = os.environ.get("MSLITE_BUILD") or os.environ.get("MSLITE_SANITIZE_BUILD")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    (folder / "net.onnx").write_bytes(one_node("Relu").SerializeToString())
    open_sizes = {"x": ["rows", "columns"]}, {"y": ["rows", "columns"]}
    save(folder / "open.onnx", [helper.make_node("Relu", ["x"], ["y"])], *open_sizes)
    for name in ("net", "open"):
        assert main([f"--modelFile={folder / name}.onnx", f"--outputFile={folder / name}"]) == 0
    (folder / "five_bytes.bin").write_bytes(bytes(5))
    (folder / "folder.ms").mkdir()
    return folder


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--modelFile=absent.ms"], 1, "cannot open 'absent.ms'"),
        (["--modelFile=folder.ms"], 1, "not a regular file"),
        (["--modelFile=five_bytes.bin"], 1, "too short for a model"),
        (["--modelFile=net.onnx"], 1, "no identifier MSL2"),
        (["--modelFile=net.ms", "--frobnicate=1"], 2, "frobnicate"),
        (["--modelFile=net.ms", "-loopCount=3"], 2, "'-loopCount=3' is not a flag; did you mean --loopCount?"),
        (["--modelFile=net.ms", "--loopcount=3"], 2, "did you mean --loopCount?"),
        (["net.ms"], 2, "the model is --modelFile=FILE.ms"),
        (
            ["--modelFile", "my", "net.ms"],
            2,
            "'net.ms' is not a flag; flags have the form --name=value or --name value, values with blanks",
        ),
        (["--modelFile"], 2, "--modelFile needs a value: --modelFile=FILE"),
        (["--modelFile", "--loopCount", "2"], 2, "--modelFile needs a value: --modelFile=FILE"),
        (["--modelFile", "net.ms", "--loopCount", "-2"], 2, "--loopCount must be at least 1"),
        (["--modelFile", "net.ms", "--enableFp16", "maybe"], 2, "--enableFp16=maybe: expected true or false"),
        (["--modelFile", "net.ms", "--device", "TPU"], 2, "--device=TPU: expected one of CPU, GPU"),
        (["--model=net.ms"], 2, "--model=net.ms is not a valid flag; did you mean --modelFile?"),
        (["--modelFile=net.ms", "--threads=2"], 2, "did you mean --numThreads?"),
        (
            ["--modelFile=net.ms", "--cpuCoreList=0-1"],
            2,
            "--cpuCoreList=0-1: expected core numbers separated by commas",
        ),
        (["--modelFile=net.ms", "--inputShapes=x0:1,2,4,4"], 1, "use --inputShape for shapes with names"),
        (
            ["--modelFile=net.ms", "--htmlFile=absent/page.html"],
            1,
            "cannot write absent/page.html: folder 'absent' does not exist",
        ),
        (["--modelFile=net.ms", "--inputShape=x0"], 1, "'x0' is not of the form NAME:1,2,3"),
        (["--modelFile=net.ms", "--inputShape=x1:1,2"], 1, "no input 'x1'; it has 'x0'"),
        (["--modelFile=net.ms", "--inDataFile=five_bytes.bin"], 1, "has 5 bytes, but input 'x0' needs 128"),
        (["--modelFile=net.ms", "--inDataFile=absent.bin"], 1, "absent.bin"),
        (["--modelFile=net.ms", "--inputShapes=1,2,4,4:1,2"], 1, "has 2 shapes, but the model has 1 input"),
        (["--modelFile=net.ms", "--inputShapes=1,-2,4,4"], 1, "'-2' is not a dimension"),
        (["--modelFile=net.ms", "--inputShapes=2147483647,2147483647,1,1"], 1, "the model was converted for"),
        (["--modelFile=open.ms", "--inputShapes=2147483647,2147483647"], 1, "too large (at most"),
        (["--modelFile=net.ms", "--loopCount=1", "--jsonFile=absent/result.json"], 1, "cannot write"),
        (
            ["--modelFile=net.ms", "--requestRate=5"],
            2,
            "--requestRate needs --enableParallelPredict",
        ),
        (["--modelFile=net.ms", "--workersNum=2"], 2, "needs --enableParallelPredict"),
        (["--modelFile=net.ms", "--parallelNum=2"], 2, "needs --enableParallelPredict"),
        (["--modelFile=net.ms", "--parallelTaskNum=2"], 2, "needs --enableParallelPredict"),
        ([*PARALLEL, "--loopCount=3"], 2, "use --parallelTaskNum"),
        ([*PARALLEL, "--timeProfiling"], 2, "--timeProfiling cannot be used with --enableParallelPredict"),
        ([*PARALLEL, "--workersNum=0"], 2, "--workersNum must be at least 1"),
        ([*PARALLEL, "--parallelNum=0"], 2, "--parallelNum must be 1 to 1024"),
        ([*PARALLEL, "--parallelNum=1025"], 2, "--parallelNum must be 1 to 1024"),
        ([*PARALLEL, "--parallelTaskNum=0"], 2, "or -1 (until the program is interrupted)"),
        ([*PARALLEL, "--parallelNum=1000", "--parallelTaskNum=2147483647"], 2, "must be at most 10000000"),
        ([*PARALLEL, "--requestRate=0"], 2, "--requestRate must be above 0"),
        ([*PARALLEL, "--requestRate=nan"], 2, "expected a finite number"),
        ([*PARALLEL, "--requestRate=1000001"], 2, "at most 1000000 requests per second"),
        ([*PARALLEL, "--requestRate=fast"], 2, "expected a finite number"),
        (["--modelFile=net.ms", "--accuracyThreshold=nan"], 2, "--accuracyThreshold=nan: expected a finite number"),
        (["--modelFile=net.ms", "--accuracyThreshold=1e99"], 2, "expected a finite number"),
        (["--modelFile=net.ms", "--cosineDistanceThreshold=nan"], 2, "expected a finite number"),
        ([*PARALLEL, "--enableSharedThreadPool"], 2, "is not supported by this program"),
        ([*PARALLEL, "--jsonFile=absent/result.json"], 1, "cannot write"),
    ],
)
def test_one_clear_error(flags: list[str], status: int, message: str, folder: Path) -> None:
    program = ROOT / str(BUILD) / "benchmark" / "benchmark"
    result = subprocess.run([program, *flags], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    said = result.stdout + result.stderr
    assert message in said
    assert result.stderr.count(message) == 1
    assert result.returncode == status
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    hint = "See benchmark --help" if status == 2 else f"Run Benchmark {modeled(flags)} Failed : -1"
    assert len(lines) == 2
    assert lines[1] == hint


def modeled(flags: list[str]) -> str:
    return next(flag.partition("=")[2] for flag in flags if flag.startswith("--modelFile="))


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_a_blank_in_place_of_the_equals_sign(folder: Path) -> None:
    """Any case of values, file names with blanks, a switch with and without a value, and no line but the results."""
    odd = folder / "my net.ms"
    odd.write_bytes((folder / "net.ms").read_bytes())
    (folder / "my input.bin").write_bytes(bytes(128))
    flags = ["--modelFile", str(odd), "--loopCount", "=", "1", "--modelType", "mindir_lite", "--enableFp16", "False"]
    result = started(*flags, "--inDataFile", str(folder / "my input.bin"), "--quiet", "--timeProfiling")
    assert result.returncode == 0, result.stderr
    assert "Run Benchmark my net.ms Success." in result.stdout
    assert not any(line in result.stdout for line in ("ModelPath", "start unified", "Running "))
    many = ["--modelFile", str(odd), "--enableParallelPredict", "--parallelTaskNum", "3", "--quiet"]
    said = started(*many).stdout
    assert "Requests: 6 answered" in said
    assert "index" not in said


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_a_key_behind_a_blank_is_in_no_message(folder: Path) -> None:
    key = "0123456789abcdef0123456789abcdef"
    for flags in (["--decryptKey", key], ["--decryptKey", "=", key], ["--decryptkey", key]):
        result = started("--modelFile", str(folder / "net.ms"), *flags, "--htmlFile", str(folder / "page.html"))
        assert result.returncode != 0
        assert key not in result.stdout + result.stderr


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of images, whose first size is open."""
    folder = tmp_path_factory.mktemp("image")
    model = small_network(folder / "net.onnx", "n")
    assert main([f"--modelFile={model}", f"--outputFile={folder / 'net'}"]) == 0
    return folder / "net.ms"


def started(*flags: str) -> subprocess.CompletedProcess[str]:
    program = ROOT / str(BUILD) / "benchmark" / "benchmark"
    return subprocess.run([program, *flags], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_an_open_batch_is_one_and_said(image: Path) -> None:
    result = started(f"--modelFile={image}", "--loopCount=1")
    assert result.returncode == 0
    assert (
        result.stderr
        == "note: the first dimension of input 'image' is dynamic and set to 1; use --inputShapes for another size\n"
    )
    assert "Resize Dims: 1 6 5 2 " in result.stdout


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_the_other_layout_is_recognized(image: Path) -> None:
    result = started(f"--modelFile={image}", "--inputShapes=1,2,6,5")
    assert result.returncode == 1
    assert (
        "Input 'image' has the layout NHWC and the shape [?, 6, 5, 2] in the file, but [1, 2, 6, 5] looks like NCHW"
        in result.stderr
    )
    assert "--inputDataFormat=NCHW" in result.stderr
    assert "looks like NCHW" not in started(f"--modelFile={image}", "--inputShapes=1,6,5,3").stderr


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_help_and_version_go_to_the_standard_output() -> None:
    for flag, text in (
        ("--help", "usage: benchmark"),
        ("-h", "usage: benchmark"),
        ("--version", "benchmark (mslite) "),
    ):
        result = started(flag)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith(text)
