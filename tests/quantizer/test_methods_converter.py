"""The methods of [mslite_quant_param] and [mslite_prune_param] on a trained model, from Python and on the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main
from tests.quantizer.networks import Array, sqnr

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
Sections = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def images() -> Array:
    """Of the test set, [n, 1, 8, 8, 1] as the converted model reads them; the first 64 calibrate."""
    return np.load(DIGITS / "digits_test.npz")["images"].transpose(0, 2, 3, 1)[:, None]


@pytest.fixture(scope="module")
def wanted(images: Array, tmp_path_factory: pytest.TempPathFactory) -> Array:
    folder = tmp_path_factory.mktemp("float")
    return converted({}, images, folder)[0]


def converted(sections: Sections, images: Array, folder: Path) -> tuple[Array, mslite.converter.Report]:
    converter = mslite.Converter()
    for section, keys in sections.items():
        converter.set_config_info(section, keys)
    converter.set_calibration_data([[image] for image in images[:64]])
    converter.convert(mslite.FmkType.ONNX, str(DIGITS / "digits.onnx"), str(folder / "net"))
    assert converter.report is not None
    return predicted(folder / "net.ms", images[64:]), converter.report


def predicted(path: Path, images: Array) -> Array:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return np.concatenate([model.predict([image])[0].get_data_to_numpy() for image in images])


def four_bits(strategy: str, group: int = 0) -> Sections:
    return {
        "common_quant_param": {"quant_type": "WEIGHT_QUANT", "bit_num": "4"},
        "weight_quant_param": {"quant_strategy": strategy},
        "mslite_quant_param": {"group_size": str(group)},
    }


@pytest.mark.parametrize(
    ("strategy", "group", "decibels"),
    [
        ("MAX_MIN", 0, 26.2),
        ("MAX_MIN", 64, 29.6),
        ("AWQ", 0, 28.5),
        ("AWQ", 64, 29.5),
        ("GPTQ", 0, 32.4),
        ("GPTQ", 64, 34.6),
    ],
)
def test_four_bits(strategy: str, group: int, decibels: float, images: Array, wanted: Array, tmp_path: Path) -> None:
    """The table of docs/weight_quantization.md."""
    got = converted(four_bits(strategy, group), images, tmp_path)[0]
    assert sqnr(wanted, got) == pytest.approx(decibels, abs=0.5)


@pytest.mark.parametrize("methods", [("equalize",), ("smooth",), ("learned_rounding",), ("equalize", "smooth")])
def test_whole_integers_stay_good(methods: tuple[str, ...], images: Array, wanted: Array, tmp_path: Path) -> None:
    sections = {
        "common_quant_param": {"quant_type": "FULL_QUANT"},
        "mslite_quant_param": dict.fromkeys(methods, "true"),
    }
    got, report = converted(sections, images, tmp_path)
    assert sqnr(wanted, got) > 40
    labels = np.load(DIGITS / "digits_test.npz")["labels"][64:]
    assert (got.argmax(axis=1) == labels).mean() >= (wanted.argmax(axis=1) == labels).mean() - 0.005
    assert bool(report.notes) is (methods != ("learned_rounding",))


def test_pruned_channels(images: Array, wanted: Array, tmp_path: Path) -> None:
    sections = {"mslite_prune_param": {"method": "STRUCTURED", "sparsity": "0.1"}}
    got, report = converted(sections, images, tmp_path)
    assert (got.argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.9
    assert report.quantization is not None
    assert report.quantization.pruning is not None
    total = report.quantization.pruning.total
    assert total.macs_after < 0.95 * total.macs_before
    assert report.result_bytes < 26000


def test_command_line(images: Array, wanted: Array, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for number, image in enumerate(images[:16]):
        np.save(folder / f"{number:02}.npy", image)
    settings = tmp_path / "quant.cfg"
    settings.write_text(
        "[common_quant_param]\nquant_type=FULL_QUANT\n"
        f"[data_preprocess_param]\ncalibrate_path=image:{folder}\ncalibrate_size=16\ninput_type=NPY\n"
        "[mslite_quant_param]\nequalize=true\nsmooth=true\nlearned_rounding=true\n"
        f"[mslite_prune_param]\nmethod=MAGNITUDE\nsparsity=0.1\nreport={tmp_path / 'pruned.csv'}\n"
    )
    model = DIGITS / "digits.onnx"
    arguments = [f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--configFile={settings}", "--fmk=ONNX"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "cross-layer equalization: 2 layers scaled" in out
    assert "SmoothQuant" in out
    assert "pruning: " in out
    rows = list(csv.DictReader((tmp_path / "pruned.csv").read_text().splitlines()))
    assert [row["name"] for row in rows][-1] == "(model)"
    got = predicted(tmp_path / "net.ms", images[64:])
    assert (got.argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.97


def test_unknown_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "quant.cfg"
    settings.write_text("[common_quant_param]\nquant_type=WEIGHT_QUANT\n[mslite_quant_param]\nequalise=true\n")
    arguments = [f"--modelFile={DIGITS / 'digits.onnx'}", f"--outputFile={tmp_path / 'net'}", "--fmk=ONNX"]
    assert main([*arguments, f"--configFile={settings}"]) != 0
    captured = capsys.readouterr()
    assert "`equalise` is not supported in [mslite_quant_param]" in captured.out + captured.err
