"""The INI dialect of --configFile, and what its sections do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.cli import code_generation_is_enabled, main
from mslite.converter.config_file import choices_of, read_config
from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.mindir.module_io import load
from tests.converter.onnx_models import small_network


def config(folder: Path, text: str) -> Path:
    path = folder / "config.cfg"
    path.write_text(text)
    return path


def no_warning(text: str) -> None:
    raise AssertionError(text)


def test_blanks_quotes_and_comments(tmp_path: Path) -> None:
    text = '# comment\n[ registry ]\n fusion_blacklists = "A, B"\r\n\ndisable_fusion=off\n'
    assert read_config(config(tmp_path, text)) == {"registry": {"fusion_blacklists": "A,B", "disable_fusion": "off"}}


@pytest.mark.parametrize(
    ("line", "hint"),
    [("quant_type=FULL_QUANT", r"it belongs to \[common_quant_param\]"), ("a=1", r"write the \[section\]")],
)
def test_keys_outside_of_sections(tmp_path: Path, line: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"line 1: '.*' is not in a section; {hint}"):
        read_config(config(tmp_path, f"{line}\n[b]\nc=2\n"))


@pytest.mark.parametrize("line", ["key", "a=b=c", "=b", "[open", "[]", " # not at the first column"])
def test_lines_that_are_wrong(tmp_path: Path, line: str) -> None:
    with pytest.raises(UsageError, match="line 2"):
        read_config(config(tmp_path, f"[registry]\n{line}\n"))


def test_too_many_lines(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="9999"):
        read_config(config(tmp_path, "\n" * 10000))


@pytest.mark.parametrize("section", ["acl_option_cfg_param", "cpu_option_cfg_param"])
def test_known_sections_that_are_not_built(section: str) -> None:
    with pytest.raises(ConversionError, match=section):
        choices_of({section: {}}, no_warning)


def test_an_unknown_section_is_a_warning() -> None:
    warnings: list[str] = []
    choices = choices_of({"my_plugin": {"a": "b"}}, warnings.append)
    assert choices.fusion
    assert ["my_plugin" in text for text in warnings] == [True]


@pytest.mark.parametrize(
    ("section", "key", "end"),
    [
        ("registry", "color", "; known names: disable_fusion, fusion_blacklists, plugin_path"),
        ("registry", "plugin_paht", "; did you mean `plugin_path`?"),
        ("common_quant_param", "quant_typ", "; did you mean `quant_type`?"),
        ("common_quant_param", "Bit_Num", "; did you mean `bit_num`?"),
        ("common_quant_param", "calibrate_path", r"; it belongs to \[data_preprocess_param\]"),
        ("full_quant_param", "activation_quant_methode", "; did you mean `activation_quant_method`?"),
        ("data_preprocess_param", "calibration_path", "; did you mean `calibrate_path`?"),
        ("mslite_prune_param", "sparcity", "; did you mean `sparsity`?"),
        ("dynamic_dims", "input_shape", "; did you mean `inputs_shape`?"),
    ],
)
def test_an_unknown_key_is_refused(section: str, key: str, end: str) -> None:
    with pytest.raises(UsageError, match=rf"`{key}` is not supported in \[{section}\]{end.replace('?', '[?]')}$"):
        choices_of({section: {key: "1"}}, no_warning)


@pytest.mark.parametrize(
    ("section", "near"),
    [
        ("common_quant_params", "common_quant_param"),
        ("Common_Quant_Param", "common_quant_param"),
        ("full_qaunt_param", "full_quant_param"),
        ("registery", "registry"),
        ("micro_parm", "micro_param"),
        ("dynamicdims", "dynamic_dims"),
    ],
)
def test_a_misspelled_section_is_refused(section: str, near: str) -> None:
    with pytest.raises(UsageError, match=rf"\[{section}\] is unknown; did you mean \[{near}\]"):
        choices_of({section: {}}, no_warning)


def test_a_generator_that_is_not_switched_on_is_asked_about(tmp_path: Path) -> None:
    path = config(tmp_path, "[micro_param]\nenable_mico=true\ntarget=Cortex-M\n")
    with pytest.raises(UsageError, match="needs enable_micro=true"):
        code_generation_is_enabled({"configFile": str(path)})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[registry]\ndisable_fusion=on\n", {"FusedBatchNorm", "Activation"}),
        ("[registry]\nfusion_blacklists=ConvActivationFusion\n", {"Activation"}),
        ("[registry]\nfusion_blacklists=ConvBatchNormFusion,BatchNormToScaleFusion\n", {"FusedBatchNorm"}),
    ],
)
def test_fusions_are_left_out(tmp_path: Path, text: str, left: set[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    output = tmp_path / "net"
    assert main([f"--modelFile={model}", f"--outputFile={output}", f"--configFile={config(tmp_path, text)}"]) == 0
    assert left <= {node.op.name for node in load(output.with_suffix(".ms")).main.nodes}


def test_a_fusion_that_there_is_not_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the runtime does when it loads a file was a fusion of the converter's once, and may be named."""
    model = small_network(tmp_path / "net.onnx")
    text = "[registry]\nfusion_blacklists=ConvActivationFusion,ConvActivationFussion,ConvAddFusion\n"
    assert (
        main([f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--configFile={config(tmp_path, text)}"])
        == 0
    )
    out = capsys.readouterr().out
    assert "fusion_blacklists: 'ConvActivationFussion' is not a fusion of mslite" in out
    assert "'ConvActivationFusion'" not in out
    assert "'ConvAddFusion'" not in out
