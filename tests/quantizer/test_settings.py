"""The quantization sections of a configuration: what MindSpore Lite documents is accepted, wrong things are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.config_file import choices_of, read_config
from mslite.converter.errors import UsageError
from mslite.quantizer.settings import (
    ActivationMethod,
    InputType,
    Method,
    QuantizerSettings,
    TargetDevice,
    quantizer_settings,
)

MIXED = """\
[common_quant_param]
quant_type=WEIGHT_QUANT
# Weight quantization support the number of bits [0,16]
bit_num=0
min_quant_weight_size=5000
min_quant_weight_channel=5

[mixed_bit_weight_quant_param]
# Initialization scale in (0,1).
init_scale=0.02
auto_tune=false
"""
FIXED = """\
[common_quant_param]
quant_type=WEIGHT_QUANT
bit_num=8
min_quant_weight_size=0
min_quant_weight_channel=16
skip_quant_node = "conv1, conv2"
debug_info_save_path=./debug

[weight_quant_param]
dequant_strategy=ON_THE_FLY
"""
FULL = """\
[common_quant_param]
quant_type=FULL_QUANT
bit_num=8

[data_preprocess_param]
calibrate_path=input_name_1:/mnt/image/input_1_dir,input_name_2:input_2_dir
calibrate_size=100
input_type=IMAGE
image_to_format=RGB
normalize_mean=[127.5, 127.5, 127.5]
normalize_std=[127.5, 127.5, 127.5]
resize_width=224
resize_height=224
resize_method=LINEAR
center_crop_width=224
center_crop_height=224

[full_quant_param]
activation_quant_method=RemovalOutlier
bias_correction=true
target_device=KIRIN
"""
DYNAMIC = """\
[common_quant_param]
quant_type=DYNAMIC_QUANT
bit_num=8

[dynamic_quant_param]
quant_strategy=ACWL
"""


def settings(tmp_path: Path, text: str) -> QuantizerSettings:
    path = tmp_path / "config.cfg"
    path.write_text(text)

    def warn(text: str) -> None:
        raise AssertionError(text)

    return choices_of(read_config(path), warn).quantizer


def test_mixed_bits(tmp_path: Path) -> None:
    got = settings(tmp_path, MIXED)
    assert got.method is Method.WEIGHT_QUANT
    assert (got.common.bit_num, got.common.min_quant_weight_size, got.common.min_quant_weight_channel) == (0, 5000, 5)
    assert (got.mixed.init_scale, got.mixed.auto_tune) == (0.02, False)


def test_fixed_bits(tmp_path: Path) -> None:
    got = settings(tmp_path, FIXED)
    assert got.common.skip_quant_node == ("conv1", "conv2")
    assert got.common.debug_info_save_path == Path("./debug")
    assert got.weight.dequant_strategy == "ON_THE_FLY"


def test_full(tmp_path: Path) -> None:
    got = settings(tmp_path, FULL)
    assert got.data.calibrate_path == {
        "input_name_1": Path("/mnt/image/input_1_dir"),
        "input_name_2": Path("input_2_dir"),
    }
    assert got.data.input_type is InputType.IMAGE
    assert got.data.normalize_mean == (127.5, 127.5, 127.5)
    assert got.full.activation_quant_method is ActivationMethod.REMOVAL_OUTLIER
    assert got.full.target_device is TargetDevice.KIRIN


def test_dynamic(tmp_path: Path) -> None:
    assert settings(tmp_path, DYNAMIC).dynamic.quant_strategy == "ACWL"


@pytest.mark.parametrize(
    "sections",
    [
        {"common_quant_param": {"bit_num": "8"}},
        {"full_quant_param": {"per_channel": "true"}},
        {"data_preprocess_param": {"calibrate_size": "10"}},
        {"mslite_quant_param": {"equalize": "true"}},
    ],
)
def test_sections_that_ask_for_nothing_are_refused(sections: dict[str, dict[str, str]]) -> None:
    with pytest.raises(UsageError, match=rf"\[{next(iter(sections))}\] has no effect .* quant_type="):
        quantizer_settings(sections)


def test_an_empty_quant_type_quantizes_nothing() -> None:
    """The rest of the file is checked all the same."""
    full = {"activation_quant_method": "KL"}
    got = quantizer_settings({"common_quant_param": {"quant_type": ""}, "full_quant_param": full})
    assert got == QuantizerSettings()
    with pytest.raises(UsageError, match="`color` is not supported"):
        quantizer_settings({"common_quant_param": {"quant_type": ""}, "full_quant_param": {"color": "red"}})


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        ("common_quant_param", "bit_num", "17", r"bit_num in \[common_quant_param\] must be an integer in \[0, 16\]"),
        ("common_quant_param", "bit_num", "eight", "an integer in"),
        ("common_quant_param", "bits", "8", r"`bits` is not supported in \[common_quant_param\]"),
        ("common_quant_param", "bit_num", "0", "WEIGHT_QUANT only"),
        ("common_quant_param", "quant_type", "HALF", "WEIGHT_QUANT|FULL_QUANT|DYNAMIC_QUANT"),
        ("full_quant_param", "activation_quant_method", "MAXMIN", "MAX_MIN|KL"),
        ("full_quant_param", "bias_correction", "yes", "true|false"),
        ("full_quant_param", "target_device", "TPU", "KIRIN|NVGPU|DSP|ASCEND"),
        ("data_preprocess_param", "calibrate_path", "folder", "input:folder"),
        ("data_preprocess_param", "calibrate_path", "a:b", "needs calibrate_size and input_type"),
        ("data_preprocess_param", "calibrate_size", "0", r"\[1, 65535\]"),
        ("data_preprocess_param", "resize_width", "10", "must be set together"),
        ("data_preprocess_param", "center_crop_width", "10", "must be set together"),
        ("data_preprocess_param", "normalize_mean", "[1,2]", "must be set together"),
        ("data_preprocess_param", "normalize_mean", "1,2", "numbers in brackets"),
        ("mixed_bit_weight_quant_param", "init_scale", "1", r"a number in \(0, 1\)"),
    ],
)
def test_wrong_values_are_named(section: str, key: str, value: str, message: str) -> None:
    sections: dict[str, dict[str, str]] = {"common_quant_param": {"quant_type": "FULL_QUANT"}}
    sections.setdefault(section, {})[key] = value
    with pytest.raises(UsageError, match=message.replace("|", r"\|")):
        quantizer_settings(sections)


def test_few_bits_need_encoding() -> None:
    common = {"quant_type": "WEIGHT_QUANT", "bit_num": "4", "enable_encode": "false"}
    with pytest.raises(UsageError, match="enable_encode"):
        quantizer_settings({"common_quant_param": common})
