"""Command lines as people type them: blanks in place of `=`, any case, and what a wrong one is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mslite.codegen.cli import main as codegen
from mslite.codegen.flag_values import bytes_of
from mslite.codegen.sparse.cli import main as sparse
from mslite.converter.cli import main as converter
from mslite.converter.command_line import joined
from mslite.converter.errors import UsageError
from mslite.converter.flag_values import options_of
from mslite.converter.flags import GROUPS, split_arguments, takes
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.show import main as show
from mslite.cropper.cli import main as crop
from mslite.cropper.mindspore_cropper import main as cropper
from mslite.quantizer.settings import CommonQuantParam, Method, read_section
from tests.converter.onnx_models import small_network

PROGRAMS = {
    "converter_lite": converter,
    "mslite-codegen": codegen,
    "mslite-sparse": sparse,
    "mslite-crop": crop,
    "cropper": cropper,
    "mslite-show": show,
}


@pytest.mark.parametrize(
    ("line", "given"),
    [
        (["--fmk", "ONNX", "--modelFile", "a b.onnx"], {"fmk": "ONNX", "modelFile": "a b.onnx"}),
        (["--modelFile", "=", "a.onnx", "--fmk=onnx"], {"modelFile": "a.onnx", "fmk": "ONNX"}),
        (["--modelFile", "-odd.onnx"], {"modelFile": "-odd.onnx"}),
        (["--modelFile=--odd=1.onnx"], {"modelFile": "--odd=1.onnx"}),
        (["--trainModel", "--fmk", "ONNX"], {"trainModel": "true", "fmk": "ONNX"}),
        (["--trainModel", "True", "--infer"], {"trainModel": "true", "infer": "true"}),
        (["--no-infer", "--fp16"], {"infer": "false", "fp16": "on"}),
        (["--check", "true", "--trainModel=OFF"], {"check": "on", "trainModel": "false"}),
        (["--verify", "x.npy,y.npy"], {"verify": "x.npy,y.npy"}),
        (["--check", "--checkReport", "page.html"], {"check": "on", "checkReport": "page.html"}),
        (["--saveType", "mindir_lite", "--optimize", "None"], {"saveType": "MINDIR_LITE", "optimize": "none"}),
        (["--fmk", "ONNX", "--", "--modelFile", "a"], {"fmk": "ONNX"}),
    ],
)
def test_a_blank_in_place_of_the_equals_sign(line: list[str], given: dict[str, str]) -> None:
    assert split_arguments(line) == given


def test_the_command_as_pages_repeat_it_has_no_key() -> None:
    """A key behind a blank is left out as one behind `=` is: the words are joined first."""
    assert list(joined(["--encryptKey", "0" * 32], takes)) == [f"--encryptKey={'0' * 32}"]


@pytest.mark.parametrize("value", ["float32", "FLOAT32", "float", "Float"])
def test_types_in_any_case(value: str, tmp_path: Path) -> None:
    given = split_arguments(["--modelFile", "a.onnx", "--outputFile", "a", "--inputDataType", value])
    assert options_of(given, print).input_type is DataType.FLOAT32


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--fmk"], "No value provided for non-boolean type: fmk. Give --fmk=ONNX|"),
        (["--fmk", "--modelFile=a"], "No value provided for non-boolean type: fmk. Give --fmk=ONNX|"),
        (
            ["--modelFile", "my", "net.onnx"],
            "flag net.onnx is not valid. Flags are --name=value or --name value; values with",
        ),
        (
            ["--modelFile=a", "--outputFile=b", "--fmk=ONX"],
            "must be ONNX|TFLITE|TF|CAFFE|MINDIR|PYTORCH|MSLITE, not 'ONX'; did you mean",
        ),
        (["--modelFile=a", "--outputFile=b", "--targetVersion", "2"], "must be 1.3|1.5|2.0|2.7, not '2'"),
    ],
)
def test_what_is_wrong_comes_first(line: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert converter(line) == 2
    out, err = capsys.readouterr()
    assert message in err.splitlines()[0]
    assert out.startswith(("Flags PreInit failed. Ret: -600", "Flags Init failed. Ret: -600"))
    assert len(out.splitlines()) == 1


def test_a_flag_that_the_original_lacks_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert converter(["--modelFile=a", "--outputFile=b", "--targetVersion=2"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("program", "line", "message"),
    [
        (codegen, ["a.ms", "--output", "o", "--memry=min"], "--memry is not a valid flag. Did you mean --memory?"),
        (codegen, ["a.ms", "--output"], "--output needs a value: --output=FOLDER"),
        (codegen, ["a.ms", "--target", "--output=o"], "--target needs a value: --target=NAME"),
        (codegen, ["a.ms"], "the following arguments are required: --output"),
        (codegen, ["a.ms", "--output=o", "--memory=mni"], "--memory: 'mni' must be one of default, min; did you mean min?"),
        (codegen, ["a.ms", "--output=o", "--misra=often"], "--misra is a switch and takes no value, not 'often'"),
        (codegen, ["a.ms", "--output=o", "--cases=many"], "--cases: invalid int value: 'many'"),
        (sparse, ["my", "net.onnx"], "the following arguments are required: --data, --budget, --output"),
        (sparse, ["my", "net.onnx", "--data=a", "--budget=1K", "--output=c"], "unexpected argument: net.onnx (values with blanks"),
        (crop, ["--model=a.ms", "--archive=a", "--output=o"], "--model is not a valid flag. Did you mean --models?"),
        (cropper, ["--packagefile=a"], "--packagefile is not a valid flag. Did you mean --packageFile?"),
        (codegen, ["a.ms", "-o", "folder"], "-o is not a valid flag. Did you mean --output?"),
        (codegen, ["--model", "a.ms", "--output=o"], "--model is not a valid flag; give MODEL without a flag"),
        (codegen, ["a.ms", "--output=o", "--ramBudget=2.5K"], "--ramBudget: '2.5K' is not a number of bytes, such as 4096, 64K or 1M"),
        (show, [], "the following arguments are required: model"),
        (show, ["a.ms", "--txt"], "--txt is not a valid flag. Did you mean --text?"),
    ],
)  # fmt: skip
def test_one_line_and_a_hint(
    program: Callable[[list[str]], int], line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program(line or ["--text"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    name = next(name for name, main in PROGRAMS.items() if main is program)
    first, *rest = err.splitlines()
    assert first.startswith(f"{name}: {message}")
    assert rest == [f"{name} --help shows the flags"]


@pytest.mark.parametrize(
    "line",
    [
        ["--target", "CORTEX-M4", "--output", "{o}", "--memory", "MIN", "--parallel", "false", "{m}"],
        ["{m}", "--output", "=", "{o}", "--compress=false", "--target=cortex-m4"],
    ],
)
def test_switches_and_blanks(line: list[str], tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    words = [word.format(m=model, o=tmp_path / "-o") for word in line]
    assert codegen([*words, "--cases", "1"]) == 0
    assert (tmp_path / "-o").is_dir()


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Said before anything is computed."""
    assert converter(["--modelFile=a.onnx", f"--outputFile={tmp_path / 'none' / 'net'}"]) == 1
    assert f"cannot be written: the folder '{tmp_path / 'none'}' does not exist" in capsys.readouterr().err


def test_values_of_configuration_files_in_any_case() -> None:
    settings = read_section(
        CommonQuantParam, "common_quant_param", {"quant_type": "weight_quant", "enable_encode": "True"}
    )
    assert settings.quant_type is Method.WEIGHT_QUANT
    assert settings.enable_encode is True
    with pytest.raises(UsageError, match=r"must be WEIGHT_QUANT.FULL_QUANT.DYNAMIC_QUANT, not 'wight_quant'"):
        read_section(CommonQuantParam, "common_quant_param", {"quant_type": "wight_quant"})


@pytest.mark.parametrize("text", ["2048", "2K", "2kb", "2KiB"])
def test_numbers_of_bytes(text: str) -> None:
    assert bytes_of(text) == 2048


def test_a_misspelled_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codegen(["a.ms", "--target=cortexm4", f"--output={tmp_path / 'o'}"]) == 2
    assert "target 'cortexm4' is unknown; did you mean cortex-m4?" in capsys.readouterr().err


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_is_grouped_and_aligned(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert PROGRAMS[name](["--help"]) == 0
    text = capsys.readouterr().out
    flags = text.partition("examples:")[0].splitlines()
    assert all(len(line) <= 80 for line in flags if line.startswith("  "))
    lines = [line for line in flags if line.startswith("  --") and "  " in line[2:]]
    assert lines
    assert {line[28:30] for line in lines} == {"  "}
    assert all(not line[30:].startswith(" ") for line in lines)
    assert "None" not in text
    if name == "converter_lite":
        heads = [line[:-1] for line in flags if line.endswith(":") and not line.startswith(" ")]
        assert heads == [*GROUPS, "help"]
        assert text.index("--modelFile=") < text.index("--fmk=")
        assert "the source model (required)" in text
