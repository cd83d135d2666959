"""--accuracyBudget, --quantReport and --cluster, and the section that says the same."""

from __future__ import annotations

import hashlib
import html
import shlex
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.cli import main
from mslite.converter.errors import UsageError
from mslite.quantizer.settings import quantizer_settings

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
COMMON = {"common_quant_param": {"quant_type": "FULL_QUANT"}}


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A conversion of the digits example with calibration data, as a user would give it."""
    images = np.load(DIGITS / "digits_test.npz")
    (tmp_path / "data").mkdir()
    for number, image in enumerate(images["images"][:24].astype(np.float32)):
        np.save(tmp_path / "data" / f"{number:03}.npy", image.reshape(1, 1, 8, 8))
    config = tmp_path / "quant.cfg"
    config.write_text(
        "[common_quant_param]\nquant_type=FULL_QUANT\n[data_preprocess_param]\n"
        f"calibrate_path=image:{tmp_path / 'data'}\ncalibrate_size=24\ninput_type=NPY\n"
        "[accuracy_param]\nprocesses=1\n"
    )
    model = f"--modelFile={DIGITS / 'digits.onnx'}"
    return [model, f"--outputFile={tmp_path / 'digits'}", "--inputShape=image:1,1,8,8", f"--configFile={config}"]


def test_the_budget_is_kept_and_told(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main([*arguments, "--accuracyBudget=sqnr:45", f"--quantReport={page}"]) == 0
    told = capsys.readouterr().out
    assert "accuracy budget sqnr >= 45 dB" in told
    assert "in higher precision" in told
    assert f"report: {page}" in told
    assert "<svg" in page.read_text(encoding="utf-8")
    assert not list(tmp_path.glob("mslite-search*"))


def test_the_page_says_what_it_is_about(arguments: list[str], tmp_path: Path) -> None:
    """The batch is open here; the result's file is compared with the constants in it."""
    page = tmp_path / "page.html"
    arguments = [one for one in arguments if not one.startswith("--inputShape")] + [f"--quantReport={page}"]
    assert main(arguments) == 0
    text = page.read_text(encoding="utf-8")
    result = (tmp_path / "digits.ms").read_bytes()
    for said in (DIGITS / "digits.onnx").read_bytes(), result:
        assert hashlib.sha256(said).hexdigest() in text
        assert f"{len(said):,} bytes".replace(",", "\u202f") in text
    assert f"<b>{len(result) / 1024:.1f} KiB</b><span>size of the file" in text
    assert html.escape(shlex.join(["converter_lite", *arguments])) in text
    assert "with a batch of 1" in text
    assert ">0 µs<" not in text
    assert "Accuracy budget" not in text, "nothing was searched for"


def test_a_function_of_the_user_keeps_the_budget(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--accuracyBudget=tests.quantizer.test_metrics:half_of_the_answers:0.9"]) == 0
    assert "half_of_the_answers >= 0.9" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["accuracyBudget=cosine:0.9", "quantReport=x.html", "cluster=tcp://a:1"])
def test_nothing_quantized_by_calibration_has_no_budget(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([f"--modelFile={DIGITS / 'digits.onnx'}", f"--outputFile={tmp_path / 'digits'}", f"--{flag}"])
    assert status == 2
    assert "needs quant_type=FULL_QUANT" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_wrong_budget_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--accuracyBudget=psnr:30"]) == 2
    assert "accuracyBudget=psnr:30" in capsys.readouterr().err


def test_the_section_says_the_same() -> None:
    keys = {"budget": "top1:0.5", "report": "a.html", "workspace": "w", "processes": "3", "cluster": "tcp://h:1"}
    found = quantizer_settings({**COMMON, "accuracy_param": keys}).accuracy
    assert found.budget is not None
    assert (found.budget.metric.name, found.budget.limit) == ("top1", 0.5)
    assert (found.report, found.workspace, found.processes, found.cluster) == (
        Path("a.html"),
        Path("w"),
        3,
        "tcp://h:1",
    )


@pytest.mark.parametrize("keys", [{"processes": "-1"}, {"budget": "cosine"}, {"sampels": "3"}])
def test_wrong_keys_are_refused(keys: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        quantizer_settings({**COMMON, "accuracy_param": keys})
