"""--target and [ethos_u]."""

from __future__ import annotations

from pathlib import Path

import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.errors import ExitStatus, UsageError
from mslite.converter.ethosu import npu_settings
from mslite.converter.ethosu.settings import TARGETS


@pytest.mark.parametrize(
    ("target", "accelerator", "system"),
    [
        ("ethos-u55", "ethos-u55-128", "Ethos_U55_High_End_Embedded"),
        ("ethos-u65", "ethos-u65-256", "Ethos_U65_Embedded"),
        ("ethos-u85", "ethos-u85-256", "Ethos_U85_SYS_Flash_High"),
        ("ethos-u55-32", "ethos-u55-32", "Ethos_U55_High_End_Embedded"),
    ],
)
def test_targets(target: str, accelerator: str, system: str) -> None:
    settings = npu_settings(target, {})
    assert settings is not None
    assert (settings.accelerator, settings.system_config, settings.memory_mode) == (accelerator, system, "Shared_Sram")


def test_the_configuration_file_says_more(tmp_path: Path) -> None:
    (tmp_path / "own.ini").write_text("[System_Config.Own]\n")
    keys = {
        "target": "ethos-u65-512", "system_config": "Own", "memory_mode": "Dedicated_Sram", "vela_config": "own.ini",
        "optimise": "Size", "arena_cache_size": "4096", "time_limit": "7",
    }  # fmt: skip
    settings = npu_settings("", keys, tmp_path)
    assert settings is not None
    assert settings.accelerator == "ethos-u65-512"
    assert settings.vela_config == tmp_path / "own.ini"
    assert (settings.optimise, settings.arena_cache_size, settings.time_limit) == ("Size", 4096, 7)
    chosen = npu_settings("ethos-u55", keys, tmp_path)
    assert chosen is not None
    assert chosen.accelerator == "ethos-u55-128"  # the flag goes before the file


def test_nothing_is_asked_for() -> None:
    assert npu_settings("", {}) is None


@pytest.mark.parametrize(
    ("target", "section", "message"),
    [
        ("ethos-u50", {}, "did you mean ethos-u5"),
        ("", {"optimise": "Size"}, "needs --target=ethos-u55"),
        ("ethos-u55", {"optimise": "fast"}, r"Performance\|Size"),
        ("ethos-u55", {"time_limit": "0"}, "positive number"),
        ("ethos-u55", {"arena_cache_size": "4K"}, "positive number"),
        ("ethos-u55", {"vela_config": "none.ini"}, "does not exist"),
        ("ethos-u55", {"memory_modus": "x"}, "memory_mode"),
    ],
)
def test_wrong_values(target: str, section: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        npu_settings(target, section)


@pytest.mark.parametrize("flag", ["--targetVersion=1.3", "--saveType=MINDIR", "--infer=true", "--verify"])
def test_flags_that_do_not_go_with_an_npu(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--modelFile=x.tflite", "--outputFile=x", "--target=ethos-u55", flag]) == ExitStatus.WRONG_USAGE
    assert "target" in capsys.readouterr().err


def test_the_python_api_takes_the_section(tmp_path: Path) -> None:
    """And refuses what does not go with it."""
    (tmp_path / "net.tflite").touch()
    converter = mslite.Converter()
    converter.set_config_info("ethos_u", {"target": "ethos-u55"})
    converter.infer = True
    with pytest.raises(RuntimeError, match="infer runs the result, which needs the NPU"):
        converter.convert(mslite.FmkType.TFLITE, str(tmp_path / "net.tflite"), str(tmp_path / "net"))


def test_every_name_is_one_of_an_npu() -> None:
    assert all(target.startswith(("ethos-u55-", "ethos-u65-", "ethos-u85-")) for target in TARGETS)
