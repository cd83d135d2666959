"""InstanceNorm in files of MindSpore Lite: where channels are, in the runtime, in the converter, and in what it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    Format,
    PaddingMode,
    PadMode,
    ResizeMethod,
)
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.options import Options
from tests.passes.builder import assert_close, numbers
from tests.passes.norm_files import ROWS, TO_FIRST, TO_LAST, Tables, original, predict

NHWC, NCHW = Format.NHWC, Format.NCHW
RELU = Activation(activation_type=ActivationType.RELU)
READ = [(1, 3), (1, 5), (2, 7)]


def check(tables: Tables, version: str, folder: Path, last: int = 0) -> list[str]:
    """Compares runtime and converter with MindSpore Lite of that version, and all versions on what the converter writes. Returns
    the operators that the converter reads."""
    number = (int(version[0]), int(version[2]))
    path = tables.write(folder, version)
    x = numbers(*tables.shape(0), seed=7)
    want = original(tables.meta(version), x, number)
    assert_close([predict(path, x)], [want])
    again = convert(Options(path, folder / "again.ms")).files[0]
    assert_close([predict(again, x)], [want])
    for reader in READ:
        assert_close([original(read_ms(again), x, reader)], [want])
    names = [node.op.name for node in load(path).main.nodes]
    assert names.count("ChannelsLastInstanceNorm") == last
    return names


@pytest.mark.parametrize("version", ["1.2.0", "1.3.0", "1.5.0", "1.8.1", "2.0.0", "2.7.0"])
@pytest.mark.parametrize("stated", [NCHW, NHWC])
@pytest.mark.parametrize("activated", [False, True])
def test_between_transposes(version: str, stated: Format, activated: bool, tmp_path: Path) -> None:
    """1.3 says NHWC of every value, and some later converter of what it puts in last; it means NCHW."""
    tables = Tables(2, 5, 4, 6)
    y = tables.norm(tables.transpose(tables.like(RELU, 0), TO_FIRST, stated))
    if activated:
        y = tables.like(RELU, y)
    tables.transpose(y, TO_LAST, NHWC)
    assert check(tables, version, tmp_path)[2] == "InstanceNorm"


@pytest.mark.parametrize("version", ["1.3.0", "1.5.0", "2.7.0"])
def test_as_many_pixels_as_channels(version: str, tmp_path: Path) -> None:
    """No size tells the layouts apart."""
    tables = Tables(1, 8, 8, 8)
    tables.between_transposes(0)
    check(tables, version, tmp_path)


@pytest.mark.nonconforming("a layout that old readers refuse")
@pytest.mark.parametrize(("version", "format"), [("1.3.0", NHWC), ("1.3.0", NCHW), ("1.5.0", NCHW), ("2.7.0", NCHW)])
def test_an_input_in_nchw(version: str, format: Format, tmp_path: Path) -> None:
    """1.3 takes inputs in NHWC only, and InstanceNorm in NCHW whatever they say."""
    tables = Tables(2, 6, 5, 4, format=format)
    tables.norm(0)
    check(tables, version, tmp_path)


@pytest.mark.parametrize("version", ["1.8.1", "2.0.0", "2.7.0"])
@pytest.mark.parametrize("behind", ["input", "convolution"])
def test_channels_last(version: str, behind: str, tmp_path: Path) -> None:
    """Later converters leave InstanceNorm behind a convolution in NHWC."""
    tables = Tables(1, 6, 6, 6)
    x = 0
    if behind == "convolution":
        op = Conv2DFusion(format=NHWC, kernel_size=(1, 1), stride=(1, 1), dilation=(1, 1), group=1, pad_list=(0,) * 4)
        x = tables.like(RELU, tables.like(op, 0, numbers(6, 1, 1, 6)))
    tables.norm(x, -1)
    check(tables, version, tmp_path, last=1)


def test_rows(tmp_path: Path) -> None:
    """2.7 knows [batch, channels, length], too."""
    tables = Tables(2, 6, 6)
    tables.norm(0)
    check(tables, "2.7.0", tmp_path)


@pytest.mark.parametrize(("version", "last"), [("1.8.1", 1), ("2.7.0", 0)])
def test_transposed_rows_change_the_layout_since_version_2(version: str, last: int, tmp_path: Path) -> None:
    tables = Tables(2, 6, 5)
    rows = tables.transpose(0, ROWS, NHWC)
    tables.norm(tables.reshape(rows, 2, 5, 1, 6), -1 if last else 1)
    check(tables, version, tmp_path, last=last)


def style_network() -> Tables:
    """Style transfer: mirrored borders, strided convolutions, residuals' kin, and enlarging, each with InstanceNorm."""
    tables = Tables(1, 12, 10, 3)

    def convolution(x: int, out: int, size: int, stride: int = 1) -> int:
        border = size // 2
        batch, height, width, channels = tables.shape(x)
        pads = np.array([[0, 0], [border, border], [border, border], [0, 0]], np.int32)
        x = tables.node(
            PadFusion(padding_mode=PaddingMode.REFLECT), x, pads,
            shape=(batch, height + 2 * border, width + 2 * border, channels), format=NHWC,
        )  # fmt: skip
        op = Conv2DFusion(
            format=NHWC, kernel_size=(size, size), stride=(stride, stride), dilation=(1, 1), pad_mode=PadMode.PAD,
            pad_list=(0, 0, 0, 0), group=1, in_channel=channels, out_channel=out,
        )  # fmt: skip
        shape = (batch, (height - 1) // stride + 1, (width - 1) // stride + 1, out)
        weight = numbers(out, size, size, channels, seed=len(tables.nodes)) / np.float32(size * size)
        return tables.node(op, x, weight, numbers(out, seed=x), shape=shape, format=NHWC)

    y = tables.like(RELU, tables.between_transposes(convolution(0, 4, 5)))
    y = tables.like(RELU, tables.between_transposes(convolution(y, 6, 3, 2)))
    batch, height, width, channels = tables.shape(y)
    op = Resize(
        format=NHWC, method=ResizeMethod.NEAREST, new_height=2 * height, new_width=2 * width,
        coordinate_transform_mode=CoordinateTransformMode.ASYMMETRIC,
    )  # fmt: skip
    y = tables.node(op, y, shape=(batch, 2 * height, 2 * width, channels), format=NHWC)
    y = tables.like(RELU, tables.between_transposes(convolution(y, 4, 3)))
    tables.like(Activation(activation_type=ActivationType.TANH), convolution(y, 3, 5))
    return tables


@pytest.mark.parametrize("version", ["1.3.0", "1.5.0", "2.7.0"])
def test_style_transfer(version: str, tmp_path: Path) -> None:
    names = check(style_network(), version, tmp_path)
    assert names.count("InstanceNorm") == 3
    again = [node.op.name for node in load(tmp_path / "again.ms").main.nodes]
    assert again.count("Transpose") == 6


def test_what_is_saved_in_between_means_the_same(tmp_path: Path) -> None:
    """A module whose InstanceNorm reads what a file would call NHWC."""
    from mslite.converter.mindir.module_io import save
    from mslite.converter.mindir.ops.normalization import InstanceNorm
    from tests.passes.builder import Builder, run

    build = Builder()
    x = build.input(2, 6, 6, 6)
    x.format = NHWC
    y = build.call(InstanceNorm(epsilon=1e-3), build.call(RELU, x), numbers(6), numbers(6, seed=1))
    y.format = NHWC
    module = build.module(y)
    path = save(module, tmp_path / "module.ms")[0]
    want: list[Array] = run(module)
    assert_close([predict(path, numbers(2, 6, 6, 6, seed=1))], want)
    assert [node.op.name for node in load(path).main.nodes] == ["Activation", "InstanceNorm"]
