"""Files that the converter writes: data files beside big models, results of `.ms` files, what cannot be written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.text import CustomNormalize
from mslite.converter.mindir_export import save_mindir
from mslite.converter.mindir_export.files import save_mindir as save_with_limit
from mslite.converter.options import FmkType, Options, SaveType
from mslite.converter.parsers.mindir import parse
from mslite.converter.parsers.mindir.messages import ModelProto
from tests.converter.onnx_models import small_network

from .build import Array


def outputs(file: Path, x: Array) -> Array:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    result: Array = model.predict([x])[0].get_data_to_numpy()
    return result


def test_big_models_keep_their_constants_beside_them(tmp_path: Path) -> None:
    direct = convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "direct")).files[0]
    module = load(direct)
    files = save_with_limit(module, Format.NHWC, tmp_path / "net.mindir", split_limit=0)
    assert files == [tmp_path / "net_graph.mindir", tmp_path / "net_variables" / "data_0"]
    proto = ModelProto.FromString(files[0].read_bytes())
    assert not any(tensor.HasField("raw_data") for tensor in proto.graph.parameter)
    assert files[1].read_bytes()[:2] == b"\x01\x00"
    assert all(tensor.external_data.offset % 64 == 0 for tensor in proto.graph.parameter)
    again = convert(Options(files[0], tmp_path / "again", framework=FmkType.MINDIR)).files[0]
    x = np.random.default_rng(1).standard_normal((1, 6, 5, 2)).astype(np.float32)
    np.testing.assert_array_equal(outputs(again, x), outputs(direct, x))


def test_a_ms_file_becomes_mindir_and_back(tmp_path: Path) -> None:
    direct = convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "net")).files[0]
    middle = convert(Options(direct, tmp_path / "net", save_type=SaveType.MINDIR)).files[0]
    again = convert(Options(middle, tmp_path / "again")).files[0]
    assert load(again).main.inputs[0].format is Format.NHWC
    x = np.random.default_rng(1).standard_normal((1, 6, 5, 2)).astype(np.float32)
    np.testing.assert_array_equal(outputs(again, x), outputs(direct, x))


def test_weights_stand_in_the_sources_layout(tmp_path: Path) -> None:
    source = small_network(tmp_path / "net.onnx")
    file = convert(Options(source, tmp_path / "net", save_type=SaveType.MINDIR)).files[0]
    proto = ModelProto.FromString(file.read_bytes())
    assert [4, 2, 3, 3] in [list(tensor.dims) for tensor in proto.graph.parameter]  # [out, in, kh, kw], as in ONNX
    (conv,) = (node for node in proto.graph.node if node.op_type == "Conv2DFusion")
    (weight,) = (tensor for tensor in proto.graph.parameter if tensor.name == conv.input[1])
    assert list(weight.dims) == [4, 2, 3, 3]


def test_open_sizes_stay_open(tmp_path: Path) -> None:
    source = small_network(tmp_path / "net.onnx", batch="n")
    file = convert(Options(source, tmp_path / "net", save_type=SaveType.MINDIR)).files[0]
    (value,) = parse(file).main.inputs
    assert value.shape is not None
    assert [size if size >= 0 else None for size in value.shape] == [None, 2, 6, 5]


def test_what_mindir_cannot_hold_is_named(tmp_path: Path) -> None:
    text = Value("words", DataType.STRING, (3,), raw=b"\1\0\0\0\x0c\0\0\0\x0f\0\0\0abc")
    result = Value("y", DataType.STRING, (3,))
    node = Node(CustomNormalize(), "lower", (text,), (result,))
    module = Module([Graph("main_graph", [], [result], [node])])
    with pytest.raises(ConversionError, match=r"'words'.*not a numeric array"):
        save_mindir(module, Format.NHWC, tmp_path / "text.mindir")
    assert list(tmp_path.iterdir()) == []
