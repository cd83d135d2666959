"""Calibration data: folders of images, raw and NumPy files, Python sequences and functions; what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.quantizer.calibration.sources import calibration_data
from mslite.quantizer.settings import DataPreprocessParam, InputType, quantizer_settings

IMAGE = Value("image", DataType.FLOAT32, (1, 4, 6, 3))
IDS = Value("ids", DataType.INT32, (2, 5))


def data_settings(**keys: str) -> DataPreprocessParam:
    sections = {"common_quant_param": {"quant_type": "FULL_QUANT"}, "data_preprocess_param": keys}
    return quantizer_settings(sections).data


def folder(path: Path, **files: Any) -> Path:
    path.mkdir()
    for name, array in files.items():
        np.save(path / f"{name}.npy", array)
    return path


def test_a_sequence_and_a_function() -> None:
    given = [np.full((1, 4, 6, 3), k, np.float32) for k in range(3)]

    def passes() -> Iterator[Any]:
        yield from ([item] for item in given)

    for source in (given, passes, [{"image": item} for item in given]):
        data = calibration_data(source, [IMAGE], DataPreprocessParam())
        for _ in range(2):
            assert [sample[0][0, 0, 0, 0] for sample in data] == [0, 1, 2]
    assert calibration_data(given, [IMAGE], DataPreprocessParam()).size == 3
    assert calibration_data(passes, [IMAGE], DataPreprocessParam()).size is None
    assert len(list(calibration_data(passes, [IMAGE], DataPreprocessParam(calibrate_size=2)))) == 2


def test_what_can_be_read_only_once_is_refused() -> None:
    with pytest.raises(UsageError, match="read more than once"):
        calibration_data(iter([np.zeros(3)]), [IMAGE], DataPreprocessParam())  # type: ignore[arg-type]


def test_layouts_and_types_are_brought_in_order() -> None:
    planes = np.arange(72, dtype=np.float64).reshape(1, 3, 4, 6)
    got = next(iter(calibration_data([planes, planes], [IMAGE], DataPreprocessParam())))[0]
    assert got.dtype == np.float32
    assert np.array_equal(got, planes.transpose(0, 2, 3, 1))
    single = next(iter(calibration_data([planes[0].transpose(1, 2, 0)], [IMAGE], DataPreprocessParam())))[0]
    assert np.array_equal(single, got)
    dynamic = Value("x", DataType.FLOAT32, (SYMBOL_LIMIT, 3))
    assert next(iter(calibration_data([np.zeros((7, 3))], [dynamic], DataPreprocessParam())))[0].shape == (7, 3)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([np.zeros((1, 4, 6, 3))], "has 1 array; the model has 2 inputs"),
        (
            [np.zeros((1, 4, 6, 4)), np.zeros((2, 5), np.int32)],
            r"input 'image' has the shape 1x4x6x4; the model needs 1x4x6x3 \(NHWC\) or 1x3x4x6 \(NCHW\)",
        ),
        ([np.zeros((1, 4, 6, 3)), np.zeros((2, 5))], "input 'ids' has the data type int32, the array has float64"),
        ([np.full((1, 4, 6, 3), np.nan), np.zeros((2, 5), np.int32)], "NaN or infinite"),
        ({"image": np.zeros((1, 4, 6, 3))}, "input 'ids' is missing"),
        ({"image": np.zeros((1, 4, 6, 3)), "id": np.zeros(2)}, "no input is named 'id'"),
    ],
)
def test_samples_that_do_not_fit(sample: Any, message: str) -> None:
    with pytest.raises(ConversionError, match=f"calibration sample 0: .*{message}"):
        list(calibration_data([sample], [IMAGE, IDS], DataPreprocessParam()))


def test_numpy_files_of_several_inputs(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", **{f"{k:02}": np.full((1, 4, 6, 3), k, np.float32) for k in (10, 2, 5)})
    b = tmp_path / "b"
    b.mkdir()
    for k in (0, 1, 2):
        np.savez(b / f"{k}.npz", ids=np.full((2, 5), k, np.int32), other=np.zeros(3))
    paths = f"ids:{b},image:{a}"
    data = calibration_data(
        None, [IMAGE, IDS], data_settings(calibrate_path=paths, calibrate_size="2", input_type="NPY")
    )
    assert data.size == 2
    assert [(image[0, 0, 0, 0], ids[0, 0]) for image, ids in data] == [(2, 0), (5, 1)]


def test_files_of_several_rows_are_cut_up(tmp_path: Path) -> None:
    planes = np.arange(8 * 72, dtype=np.float32).reshape(8, 3, 4, 6)
    rows = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
    numbers = np.arange(80, dtype=np.int32).reshape(16, 5)
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "0.bin").write_bytes(rows.astype("<f4").tobytes())
    for given, kind in (
        (folder(tmp_path / "nchw", a=planes), "NPY"),
        (folder(tmp_path / "nhwc", a=rows), "NPY"),
        (raw, "BIN"),
    ):
        keys = {"calibrate_path": f"image:{given}", "calibrate_size": "1", "input_type": kind}
        data = calibration_data(None, [IMAGE], data_settings(**keys))
        assert np.array_equal(np.concatenate([sample[0] for sample in data]), rows)
        assert all(sample[0].shape == (1, 4, 6, 3) for sample in data)
        assert data.size == 8
    pairs = list(calibration_data([[planes, numbers]], [IMAGE, IDS], DataPreprocessParam()))
    assert [(image[0, 0, 0, 0], ids[1, 4]) for image, ids in pairs] == [(72 * k, 10 * k + 9) for k in range(8)]
    for wrong, message in (
        ([planes, numbers[:2]], "different numbers of samples: 'image' 8, 'ids' 1"),
        ([planes[:1], numbers[:3]], "'ids' has 3 rows, which is not a multiple of the model's batch, 2"),
        ([planes[:, :2], numbers], r"the shape 8x2x4x6; the model needs 1x4x6x3 \(NHWC\) or 1x3x4x6 \(NCHW\)"),
    ):
        with pytest.raises(ConversionError, match=message):
            list(calibration_data([wrong], [IMAGE, IDS], DataPreprocessParam()))


def test_raw_files(tmp_path: Path) -> None:
    directory = tmp_path / "raw"
    directory.mkdir()
    array = np.arange(72, dtype="<f4").reshape(1, 4, 6, 3)
    (directory / "0.bin").write_bytes(array.tobytes())
    keys = {"calibrate_path": f"image:{directory}", "calibrate_size": "5", "input_type": "BIN"}
    assert np.array_equal(next(iter(calibration_data(None, [IMAGE], data_settings(**keys))))[0], array)
    dynamic = Value("image", DataType.FLOAT32, (SYMBOL_LIMIT, 6, 3))
    assert next(iter(calibration_data(None, [dynamic], data_settings(**keys))))[0].shape == (4, 6, 3)
    (directory / "0.bin").write_bytes(array.tobytes()[:-1])
    for value in (IMAGE, dynamic):
        with pytest.raises(ConversionError, match=r"0\.bin: 287 bytes; input 'image' needs"):
            next(iter(calibration_data(None, [value], data_settings(**keys))))


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", x=np.zeros(1))
    b = folder(tmp_path / "b", x=np.zeros(1), y=np.zeros(1))
    (tmp_path / "empty").mkdir()
    cases = [
        (f"image:{a},ids:{b}", "must have the same number of files"),
        (f"image:{a}", "no folder is given for input 'ids'"),
        (f"image:{a},ids:{a},z:{a}", "no input 'z'; its inputs are image, ids"),
        (f"image:{a},ids:{tmp_path}/none", "cannot be read"),
        (f"image:{a},ids:{tmp_path}/empty", "has no files"),
    ]
    for paths, message in cases:
        with pytest.raises(ConversionError, match=message):
            calibration_data(
                None, [IMAGE, IDS], data_settings(calibrate_path=paths, calibrate_size="1", input_type="NPY")
            )
    with pytest.raises(UsageError, match="calibration data is missing"):
        calibration_data(None, [IMAGE], DataPreprocessParam())


def test_damaged_files_are_named(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    (directory / "a.npy").write_bytes(b"\x93NUMPY nothing")
    np.save(directory / "b.npy", np.array([{}], dtype=object), allow_pickle=True)
    for kind, name in ((InputType.NPY, "a.npy"), (InputType.IMAGE, "a.npy")):
        data = calibration_data(
            None, [IMAGE], data_settings(calibrate_path=f"image:{directory}", calibrate_size="2", input_type=kind.value)
        )
        with pytest.raises(ConversionError, match=name):
            list(data)
    (directory / "a.npy").unlink()
    with pytest.raises(ConversionError, match=r"b\.npy: no whole NumPy file"):
        list(
            calibration_data(
                None, [IMAGE], data_settings(calibrate_path=f"image:{directory}", calibrate_size="2", input_type="NPY")
            )
        )


@pytest.mark.parametrize("order", ["RGB", "BGR", "GRAY"])
def test_images(order: str, tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    directory = tmp_path / "images"
    directory.mkdir()
    picture = np.random.default_rng(0).integers(0, 256, (8, 12, 3)).astype(np.uint8)  # BGR
    cv2.imwrite(str(directory / "0.png"), picture)
    value = Value("image", DataType.FLOAT32, (1, 4, 6, 1 if order == "GRAY" else 3))
    keys = {
        "calibrate_path": f"image:{directory}", "calibrate_size": "1", "input_type": "IMAGE", "image_to_format": order,
        "normalize_mean": "[100]" if order == "GRAY" else "[10,20,30]",
        "normalize_std": "[2]" if order == "GRAY" else "[2,4,8]",
        "center_crop_width": "6", "center_crop_height": "4",
    }  # fmt: skip
    got = next(iter(calibration_data(None, [value], data_settings(**keys))))[0]
    cropped = picture[2:6, 3:9].astype(np.float32)
    if order == "GRAY":
        wanted = (np.rint(cropped @ np.array([0.114, 0.587, 0.299])) - 100)[..., None] / 2
        assert np.abs(got[0] - wanted).max() <= 0.5
    else:
        cropped = cropped[..., ::-1] if order == "RGB" else cropped
        assert np.allclose(got[0], (cropped - [10, 20, 30]) / [2, 4, 8])
    resized = {**keys, "resize_width": "24", "resize_height": "16", "resize_method": "NEAREST"}
    got = next(iter(calibration_data(None, [value], data_settings(**resized))))[0]
    twice = picture.repeat(2, axis=0).repeat(2, axis=1)[6:10, 9:15].astype(np.float32)
    if order != "GRAY":
        twice = twice[..., ::-1] if order == "RGB" else twice
        assert np.allclose(got[0], (twice - [10, 20, 30]) / [2, 4, 8])


def test_images_for_a_model_that_takes_pixels(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    directory = tmp_path / "images"
    directory.mkdir()
    pictures = np.random.default_rng(0).integers(0, 256, (4, 5, 5, 3)).astype(np.uint8)
    for number, picture in enumerate(pictures):
        cv2.imwrite(str(directory / f"{number}.png"), picture)
    keys = {"calibrate_path": f"image:{directory}", "calibrate_size": "4", "input_type": "IMAGE"}
    value = Value("image", DataType.UINT8, (2, 5, 5, 3))
    data = calibration_data(None, [value], data_settings(**keys))
    assert data.size == 2
    assert np.array_equal(np.concatenate([sample[0] for sample in data]), pictures)
    cv2.imwrite(str(directory / "3.png"), pictures[3][:4])
    with pytest.raises(ConversionError, match=r"3\.png: the image has 5x4 pixels"):
        list(calibration_data(None, [value], data_settings(**keys)))


def test_images_too_small_to_crop(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    directory = tmp_path / "images"
    directory.mkdir()
    cv2.imwrite(str(directory / "0.png"), np.zeros((8, 12, 3), np.uint8))
    keys = {
        "calibrate_path": f"image:{directory}", "calibrate_size": "1", "input_type": "IMAGE",
        "center_crop_width": "6", "center_crop_height": "9",
    }  # fmt: skip
    with pytest.raises(ConversionError, match="12x8 pixels and cannot be cropped to 6x9"):
        list(calibration_data(None, [IMAGE], data_settings(**keys)))


def test_a_compressed_file_that_grows(tmp_path: Path) -> None:
    place = folder(tmp_path / "x")
    np.savez_compressed(place / "0.npz", image=np.zeros(128 << 20, np.uint8))
    settings = data_settings(calibrate_path=f"image:{place}", calibrate_size="1", input_type="BIN")
    with pytest.raises(ConversionError, match="times as much"):
        list(calibration_data(None, [Value("image", DataType.UINT8, (128 << 20,))], settings))
