"""[micro_param] and [model_param]: what they ask for, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.codegen.settings import read_settings
from mslite.converter.cli import main
from mslite.converter.errors import UsageError

from .networks import autoencoder


def _given(folder: Path, text: str, **flags: str) -> dict[str, str]:
    config = folder / "micro.cfg"
    config.write_text(text)
    return {"configFile": str(config), **flags}


def _one(folder: Path, keys: str) -> dict[str, str]:
    text = f"[micro_param]\nenable_micro=true\n{keys}\n"
    return _given(folder, text, fmk="TFLITE", modelFile="net.tflite", outputFile="out/net.ms")


def test_one_model(tmp_path: Path) -> None:
    sources, settings = read_settings(
        _one(tmp_path, "target=Cortex-M\ncodegen_mode=Inference\nsupport_parallel=false"), print
    )
    assert [source.model for source in sources] == [Path("net.tflite")]
    assert settings.target.name == "cortex-m7"
    assert settings.folder == Path("out/net")
    assert read_settings(_one(tmp_path, ""), print)[1].target.name == "x86"
    assert read_settings(_one(tmp_path, "support_parallel=true"), print)[1].parallel
    assert read_settings(_one(tmp_path, "debug_mode=true"), print)[1].debug
    assert read_settings(_one(tmp_path, "pad_to_max_output_size=true"), print)[1].pad_to_max_output_size
    assert not read_settings(_one(tmp_path, ""), print)[1].pad_to_max_output_size
    trained = read_settings(_one(tmp_path, "codegen_mode=Train\nkeep_original_weight=true"), print)[1]
    assert trained.train is not None
    assert not trained.keep_weights
    assert read_settings(_one(tmp_path, "codegen_mode=Inference"), print)[1].train is None
    kept = read_settings(_one(tmp_path, "keep_original_weight=true\nchangeable_weights_name=table, b"), print)[1]
    assert kept.keep_weights
    assert kept.changeable == ("table", "b")


def test_several_models(tmp_path: Path) -> None:
    text = (
        "[micro_param]\nenable_micro=true\ntarget=ARM64\nsave_path=somewhere\nproject_name=both\n"
        "[model_param]\nfmk=TFLITE\nmodelFile=a.tflite\n[model_param]\nfmk=ONNX\nmodelFile=b.onnx\n"
        "inputShape=x:1,3\nNoFusion=true\n"
    )
    sources, settings = read_settings(_given(tmp_path, text), print)
    assert [source.model.name for source in sources] == ["a.tflite", "b.onnx"]
    assert settings.folder == Path("somewhere/both")
    assert sources[1].shapes == {"x": (1, 3)}
    assert sources[0].options is not None
    assert sources[0].options.fusion
    assert sources[1].options is not None
    assert not sources[1].options.fusion


def test_symbols_with_one_value_are_shapes(tmp_path: Path) -> None:
    given = _one(tmp_path, "inputs_shape=a:[d0,4];b:[1,d1]\ndynamic_dim_params=d0:[2];d1:[3~3]")
    assert read_settings(given, print)[0][0].shapes == {"a": (2, 4), "b": (1, 3)}


def test_symbols_with_several_values_are_combined(tmp_path: Path) -> None:
    given = _one(tmp_path, "inputs_shape=a:[d0,4];b:[d1,d0]\ndynamic_dim_params=d1:[7];d0:[1,3~4]")
    source = read_settings(given, print)[0][0]
    assert source.shapes == {"a": (1, 4), "b": (7, 1)}
    assert source.more_shapes == ({"a": (3, 4), "b": (7, 3)}, {"a": (4, 4), "b": (7, 4)})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("target=AVR", "target must be"),
        ("target=cortex-m99", "target 'cortex-m99' is unknown; choose one of x86"),
        ("target=Cortex-M\nsupport_parallel=true", "no threads"),
        ("target=Cortex-M\ndebug_mode=true", "to files"),
        ("color=red", "`color` is not supported"),
        ("debug_mode=maybe", "debug_mode must be"),
        ("codegen_mode=Fly", "codegen_mode must be"),
        ("changeable_weights_name=w", "needs keep_original_weight"),
        ("target=Cortex-M\nkeep_original_weight=true", "weights are in flash"),
        ("target=Cortex-M\ninputs_shape=a:[d0]\ndynamic_dim_params=d0:[1,3~6]", "5 combinations; only the targets x86"),
        ("inputs_shape=a:[d0,d1]\ndynamic_dim_params=d0:[1~20];d1:[1~20]", "400 combinations; at most 256"),
        ("inputs_shape=a:[d0]", "no values for d0"),
        ("inputs_shape=a:[d0,d1,d2]\ndynamic_dim_params=d0:[1];d1:[1];d2:[1]", "3 symbols"),
        ("inputs_shape=a(1)", "must be name"),
        ("inputs_shape=a:[d0]\ndynamic_dim_params=d0:[4~2]", "not a valid size or range"),
    ],
)
def test_impossible_values(keys: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read_settings(_one(tmp_path, keys), print)


def test_several_models_need_a_name(tmp_path: Path) -> None:
    text = "[micro_param]\nenable_micro=true\n[model_param]\nfmk=TFLITE\nmodelFile=a.tflite\n"
    with pytest.raises(UsageError, match="project_name"):
        read_settings(_given(tmp_path, text), print)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(autoencoder())
    given = _given(tmp_path, "[micro_param]\nenable_micro=true\ntarget=x86\n")
    flags = [f"--modelFile={model}", f"--outputFile={tmp_path / 'project'}", f"--configFile={given['configFile']}"]
    assert main(["--fmk=TFLITE", *flags]) == 0
    assert "CONVERT RESULT SUCCESS:0" in capsys.readouterr().out
    wanted = [
        "CMakeLists.txt",
        "benchmark/benchmark.c",
        "benchmark/calib_output.c",
        "benchmark/load_input.c",
        "src/CMakeLists.txt",
    ]
    wanted += [
        "src/net.cmake",
        "src/allocator.c",
        "src/context.c",
        "src/model.c",
        "src/tensor.c",
        "src/model0/model0.c",
    ]
    wanted += ["src/model0/net0.c", "src/model0/net0.h", "src/model0/net0.bin", "include/model_handle.h"]
    assert [name for name in wanted if not (tmp_path / "project" / name).exists()] == []


def test_switched_off(tmp_path: Path) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(autoencoder())
    given = _given(tmp_path, "[micro_param]\nenable_micro=false\n")
    flags = [f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--configFile={given['configFile']}"]
    assert main(["--fmk=TFLITE", *flags]) == 0
    assert (tmp_path / "net.ms").exists()


def test_neither_on_nor_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(autoencoder())
    given = _given(tmp_path, "[micro_param]\nenable_micro=1\n")
    flags = [f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--configFile={given['configFile']}"]
    assert main(["--fmk=TFLITE", *flags]) == 2
    assert "enable_micro must be true|false" in capsys.readouterr().err
    assert not (tmp_path / "net.ms").exists()
