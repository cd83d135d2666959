"""Quantization through `converter_lite` and `mslite.Converter`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType
from mslite.quantizer.calibration import calibrate as calibration_module
from tests.converter.onnx_models import small_network
from tests.quantizer.networks import Array, sqnr


def data(folder: Path, count: int = 6) -> Path:
    draw = np.random.default_rng(0)
    folder.mkdir()
    for number in range(count):
        np.save(folder / f"{number}.npy", draw.normal(0, 1, input_shape(folder.parent)).astype(np.float32))
    return folder


def input_shape(folder: Path) -> list[int]:
    """Of the network, as converted."""
    return [size if size > 0 else 1 for size in load(float_model(folder)).main.inputs[0].shape or ()]


def float_model(folder: Path) -> Path:
    result = folder / "float.ms"
    if not result.is_file():
        model = small_network(folder / "net.onnx")
        assert main([f"--modelFile={model}", f"--outputFile={folder / 'float'}"]) == 0
    return result


def config(folder: Path, samples: Path | None = None, **common: str) -> Path:
    name = load(float_model(folder)).main.inputs[0].name
    lines = ["[common_quant_param]", *(f"{key}={value}" for key, value in common.items())]
    if samples is not None:
        lines += ["[data_preprocess_param]", f"calibrate_path={name}:{samples}", "calibrate_size=100", "input_type=NPY"]
    path = folder / "quant.cfg"
    path.write_text("\n".join(lines) + "\n")
    return path


def convert(folder: Path, settings: Path, *more: str) -> int:
    return main(
        [f"--modelFile={folder / 'net.onnx'}", f"--outputFile={folder / 'q'}", f"--configFile={settings}", *more]
    )


def predict(path: Path, inputs: list[Array]) -> Array:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return model.predict(inputs)[0].get_data_to_numpy().copy()


def test_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = config(tmp_path, data(tmp_path / "data"), quant_type="FULL_QUANT")
    capsys.readouterr()
    assert convert(tmp_path, settings) == 0
    out = capsys.readouterr().out
    assert "calibrated  on 6 samples" in out
    assert "100.0% of the multiply-accumulates" in out
    x = np.random.default_rng(5).normal(0, 1, input_shape(tmp_path)).astype(np.float32)
    assert sqnr(predict(tmp_path / "float.ms", [x]), predict(tmp_path / "q.ms", [x])) > 25
    assert not (tmp_path / "q.calibration.npz").exists()


@pytest.mark.parametrize("kind", ["INT8", "UINT8"])
def test_boundary_types(kind: str, tmp_path: Path) -> None:
    settings = config(tmp_path, data(tmp_path / "data"), quant_type="FULL_QUANT")
    assert convert(tmp_path, settings, f"--inputDataType={kind}", f"--outputDataType={kind}") == 0
    graph = load(tmp_path / "q.ms").main
    value, result = graph.inputs[0], graph.outputs[0]
    assert (value.dtype, result.dtype) == (DataType[kind], DataType[kind])
    x = np.random.default_rng(5).normal(0, 1, input_shape(tmp_path)).astype(np.float32)
    limits = np.iinfo(np.int8 if kind == "INT8" else np.uint8)
    q = np.clip(np.rint(x / value.quant[0].scale) + value.quant[0].zeroPoint, limits.min, limits.max)
    got = predict(tmp_path / "q.ms", [q.astype(limits.dtype)]).astype(np.float64)
    back = (got - result.quant[0].zeroPoint) * result.quant[0].scale
    assert sqnr(predict(tmp_path / "float.ms", [x]), back) > 25


def test_python_data(tmp_path: Path) -> None:
    shape = input_shape(tmp_path)
    converter = mslite.Converter()
    converter.set_config_info("common_quant_param", {"quant_type": "FULL_QUANT"})
    draw = np.random.default_rng(0)
    given = [draw.normal(0, 1, shape).astype(np.float32) for _ in range(5)]
    converter.set_calibration_data(lambda: iter(given))
    converter.convert(mslite.FmkType.ONNX, str(tmp_path / "net.onnx"), str(tmp_path / "q"))
    assert converter.report is not None
    assert converter.report.quantization is not None
    assert converter.report.quantization.samples == 5
    assert sqnr(predict(tmp_path / "float.ms", given[:1]), predict(tmp_path / "q.ms", given[:1])) > 25


def test_interruption(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = config(tmp_path, data(tmp_path / "data"), quant_type="FULL_QUANT")
    plain = calibration_module.Runner.run
    runs = 0

    def interrupted(self: object, sample: object) -> object:
        nonlocal runs
        runs += 1
        if runs == 4:
            raise KeyboardInterrupt
        return plain(self, sample)  # type: ignore[arg-type]

    monkeypatch.setattr(calibration_module.Runner, "run", interrupted)
    assert convert(tmp_path, settings) == 130
    assert "continue the calibration at sample 3" in capsys.readouterr().err
    assert (tmp_path / "q.calibration.npz").is_file()
    assert not (tmp_path / "q.ms").exists()
    runs = 10
    assert convert(tmp_path, settings) == 0
    assert runs == 10 + 3 + 2 * 6  # those that are left, then both models on all, for the figure at the end
    assert not (tmp_path / "q.calibration.npz").exists()


@pytest.mark.parametrize(
    ("common", "more", "status", "message"),
    [
        ({"quant_type": "FULL_QUANT"}, [], 2, "calibration data is missing"),
        ({"quant_type": "FULL"}, [], 2, "quant_type in [common_quant_param] must be"),
        ({"quant_type": "WEIGHT_QUANT", "bitnum": "8"}, [], 2, "`bitnum` is not supported"),
        ({"quant_type": "WEIGHT_QUANT"}, ["--verify"], 2, "debug_info_save_path"),
        ({"quant_type": "WEIGHT_QUANT"}, ["--saveType=MINDIR"], 3, "--saveType=MINDIR is not supported"),
    ],
)
def test_one_clear_message(
    common: dict[str, str], more: list[str], status: int, message: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    settings = config(tmp_path, **common)
    capsys.readouterr()
    assert convert(tmp_path, settings, *more) == status
    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "q.ms").exists()
