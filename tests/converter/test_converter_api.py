"""mslite.Converter."""

from __future__ import annotations

from pathlib import Path

import pytest

import mslite
from tests.converter.onnx_models import small_network


def test_converts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    converter = mslite.Converter()
    converter.weight_fp16 = True
    converter.input_format = mslite.Format.NCHW
    converter.input_shape = {"image": [1, 2, 6, 5]}
    converter.convert(mslite.FmkType.ONNX, str(small_network(tmp_path / "net.onnx")), str(tmp_path / "out"))
    assert capsys.readouterr().out.strip() == "CONVERT RESULT SUCCESS:0"
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "out.ms"), mslite.ModelType.MINDIR_LITE)
    assert model.get_inputs()[0].shape == [1, 2, 6, 5]


def test_paths_of_pathlib(tmp_path: Path) -> None:
    mslite.Converter().convert(mslite.FmkType.ONNX, small_network(tmp_path / "net.onnx"), tmp_path / "out")
    assert (tmp_path / "out.ms").is_file()
    with pytest.raises(TypeError, match="model_file must be str or PathLike, but got int"):
        mslite.Converter().convert(mslite.FmkType.ONNX, 1, tmp_path / "out")  # type: ignore[arg-type]


@pytest.mark.parametrize(("wanted", "shape"), [(mslite.Format.NCHW, [1, 2, 6, 5]), (mslite.Format.NHWC, [1, 6, 5, 2])])
def test_input_format(wanted: mslite.Format, shape: list[int], tmp_path: Path) -> None:
    converter = mslite.Converter()
    assert converter.input_format is mslite.Format.NHWC
    converter.input_format = wanted
    assert converter.input_format is wanted
    converter.convert(mslite.FmkType.ONNX, str(small_network(tmp_path / "net.onnx")), str(tmp_path / "out"))
    model = mslite.Model()
    model.build_from_file(str(tmp_path / "out.ms"), mslite.ModelType.MINDIR_LITE)
    (image,) = model.get_inputs()
    assert (image.shape, image.format) == (shape, wanted)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("weight_fp16", "on", TypeError),
        ("infer", 1, TypeError),
        ("input_shape", {"a": (1, 2)}, TypeError),
        ("input_shape", {"a": [-2]}, ValueError),
        ("optimize", "fast", ValueError),
        ("device", "CPU", ValueError),
        ("device_id", True, TypeError),
        ("decrypt_mode", "DES", ValueError),
        ("input_data_type", mslite.DataType.INT64, ValueError),
        ("input_data_type", 43, TypeError),
        ("input_format", mslite.Format.NC4, ValueError),
    ],
)
def test_wrong_attributes(name: str, value: object, error: type[Exception]) -> None:
    converter = mslite.Converter()
    with pytest.raises(error):
        setattr(converter, name, value)


def test_keys_cannot_be_read() -> None:
    converter = mslite.Converter()
    converter.encrypt_key = "00"
    with pytest.raises(TypeError):
        _ = converter.encrypt_key
    with pytest.raises(TypeError):
        _ = converter.decrypt_key


def test_failures_are_runtime_errors(tmp_path: Path) -> None:
    converter = mslite.Converter()
    with pytest.raises(RuntimeError, match="does not exist"):
        converter.convert(mslite.FmkType.ONNX, str(tmp_path / "absent.onnx"), str(tmp_path / "out"))
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"nothing")
    with pytest.raises(RuntimeError, match="not an ONNX model"):
        converter.convert(mslite.FmkType.ONNX, str(broken), str(tmp_path / "out"))
    converter.save_type = mslite.ModelType.MINDIR
    converter.infer = True
    with pytest.raises(RuntimeError, match="infer with save_type MINDIR"):
        converter.convert(mslite.FmkType.ONNX, str(broken), str(tmp_path / "out"))


def test_a_mindir_file_is_written_and_read(tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    converter = mslite.Converter()
    converter.save_type = mslite.ModelType.MINDIR
    converter.convert(mslite.FmkType.ONNX, str(model), str(tmp_path / "net"))
    back = mslite.Converter()
    back.convert(mslite.FmkType.MINDIR, str(tmp_path / "net.mindir"), str(tmp_path / "net"))
    assert (tmp_path / "net.ms").is_file()


def test_configuration_accumulates() -> None:
    converter = mslite.Converter()
    converter.set_config_info("registry", {"disable_fusion": "on"})
    converter.set_config_info("registry", {"fusion_blacklists": "A"})
    assert converter.get_config_info() == {"registry": {"disable_fusion": "on", "fusion_blacklists": "A"}}
    assert "disable_fusion" in str(converter)
    assert "optimize: general" in str(converter)
