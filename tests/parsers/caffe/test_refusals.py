"""Caffe models that cannot be converted: every reason at once, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter import cli
from mslite.converter.detect import detect
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.options import FmkType
from mslite.converter.parsers.caffe import parse
from mslite.converter.parsers.caffe.schema import NetParameter

from .helper import caffemodel, network, one, random, read, write

X = {"x": random(2, 6, 9, 11)}


def refusal(folder: Path, text: str, weights: bytes = b"") -> ConversionError:
    with pytest.raises(ConversionError) as caught:
        read(folder, text, weights)
    return caught.value


def test_all_blockers_are_reported_at_once(tmp_path: Path) -> None:
    layers = """
layer { name: "first" type: "Filter" bottom: "x" bottom: "x" top: "a" }
layer { name: "second" type: "NoSuchLayer" bottom: "a" top: "b" }
layer { name: "third" type: "Softmax" bottom: "b" top: "c" softmax_param { axis: 9 } }
layer { name: "fourth" type: "Convolution" bottom: "x" top: "d" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "fifth" type: "Pooling" bottom: "x" top: "e" pooling_param { kernel_size: 3 new_field: 1 } }
layer { name: "sixth" type: "Python" bottom: "x" top: "f" python_param { module: "m" layer: "L" } }
"""
    error = refusal(tmp_path, network(layers, X))
    assert [blocker.node for blocker in error.blockers] == ["first", "second", "fourth", "fifth", "sixth"]
    assert error.code is ReturnCode.NOT_FIND_OP
    assert all(blocker.reason and blocker.remedy for blocker in error.blockers)
    text = str(error)
    assert "weight blob 0 is not in" in text
    assert '"new_field"' in text
    assert "line 8" in text
    assert "the class L of the module m" in text


@pytest.mark.parametrize(
    ("kind", "parameters", "reason"),
    [
        ("Convolution", "convolution_param { num_output: 4 kernel_size: 99 }", "is larger than the input"),
        ("Convolution", "convolution_param { num_output: 4 }", "0 values"),
        ("Convolution", "convolution_param { num_output: 4 kernel_size: 3 axis: 2 }", "dimension 1"),
        ("Convolution", "convolution_param { num_output: 4 kernel_size: 3 group: 4 }", "4 groups"),
        (
            "Convolution",
            "convolution_param { num_output: 4 kernel_size: 3 kernel_h: 3 }",
            "must not be used with kernel_size",
        ),
        ("Pooling", "pooling_param { kernel_size: 2 pool: STOCHASTIC }", "stochastic"),
        ("Pooling", "pooling_param { kernel_size: 2 pad: 2 }", "not smaller"),
        ("Pooling", "pooling_param { kernel_size: 2 stride: 0 }", "out of range"),
        ("Pooling", "pooling_param { }", "out of range"),
        ("LRN", "lrn_param { local_size: 4 }", "odd"),
        ("Reshape", "reshape_param { shape { dim: 5 dim: -1 } }", "do not match the shape"),
        ("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }", "is not a shape"),
        ("Concat", "concat_param { axis: 4 }", "out of range for 4 dimensions"),
        ("Slice", "slice_param { slice_point: 7 }", "cannot be split"),
        ("Permute", "permute_param { order: 1 order: 1 }", "is not a permutation"),
        ("Tile", "tile_param { tiles: 0 }", "0 is not a valid number of copies"),
        ("Log", "log_param { base: -3 }", "must be positive"),
        ("Upsample", "upsample_param { scale: 0 }", "0 x 0"),
        ("ShuffleChannel", "shuffle_channel_param { group: 4 }", "4 groups"),
        ("ArgMax", "argmax_param { axis: 1 top_k: 7 }", "7 of 6"),
        ("SPP", "spp_param { pyramid_height: 4000000000 }", "levels"),
        ("Eltwise", "", "at least 2"),
        ("HDF5Output", "", "writes a file"),
        ("Yolov3DetectionOutput", "", "bottom blobs become outputs"),
        ("LSTM", "recurrent_param { num_output: 2 }", "at least 2"),
    ],
)
def test_reasons(kind: str, parameters: str, reason: str, tmp_path: Path) -> None:
    tops = ("y0", "y1", "y2") if kind == "Slice" else ("y",)
    error = refusal(tmp_path, one(kind, X, parameters, tops))
    assert [blocker.operator for blocker in error.blockers] == [kind]
    assert reason in str(error)


@pytest.mark.parametrize("shape", [(4, 6, 3, 2), (4, 6, 9), (5, 6, 3, 3), (0,)])
def test_weights_of_another_network(shape: tuple[int, ...], tmp_path: Path) -> None:
    text = one("Convolution", X, "convolution_param { num_output: 4 kernel_size: 3 bias_term: false }")
    error = refusal(tmp_path, text, caffemodel({"y": [np.zeros(shape, np.float32)]}))
    assert "instead of 4x6x3x3" in str(error)


def test_a_blob_that_contradicts_itself(tmp_path: Path) -> None:
    net = NetParameter()
    blob = net.layer.add(name="y").blobs.add()
    blob.shape.dim.extend((1 << 40, 1 << 40))
    blob.data.append(b"\0" * 8)
    assert "has 2 elements" in str(refusal(tmp_path, one("PReLU", X), net.SerializeToString()))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("hello", "not a Caffe network"),
        ("layer {", "not a Caffe network"),
        ('layer { name: "a" type: "ReLU" ', "not a Caffe network"),
        ('layer { name: "a" type: 3 }', "line 1"),
        ('\n\nlayer { name: "a" type: "ReLU" pooling_param { pool: LARGEST } }', "line 3"),
        ('layer { name: "a" top: "b" }', "no type"),
        ("name: 'empty'", "no layers"),
        ('layer { name: "a" type: "ReLU" bottom: "nowhere" top: "b" }', "'nowhere', which no earlier layer"),
        ('input: "a" input_dim: 3 layer { type: "ReLU" bottom: "a" top: "b" }', "each input needs four"),
        ('input: "a" input_shape { dim: 3 } input_shape { dim: 3 } layer { type: "ReLU" }', "2 input shapes"),
        ('input: "a" input_shape { dim: 0 } layer { type: "ReLU" bottom: "a" top: "b" }', "at least 1"),
        (network('layer { type: "ReLU" bottom: "x" top: "b" } layer { type: "TanH" bottom: "x" top: "b" }', X), "has written"),
        (network('layer { type: "Silence" bottom: "x" }', X), "no outputs"),
        ("layer { include " * 5000, "not a Caffe network"),
        ("layers { layer { name: 'c' type: 'conv' } bottom: 'data' }", "V0"),
        ("x" * 100_000, "not a Caffe network"),
    ],
)  # fmt: skip
def test_damaged_networks(text: str, reason: str, tmp_path: Path) -> None:
    message = str(refusal(tmp_path, text))
    assert reason in message
    assert len(message) < 1000


@pytest.mark.parametrize(
    "content", [b"\x00", b"not a caffemodel", b"\xff" * 64, b"\x0a\x04test", b"\xa2\x06\xff\xff\xff\x0f"]
)
def test_damaged_weights(content: bytes, tmp_path: Path) -> None:
    assert "not a caffemodel" in str(refusal(tmp_path, one("ReLU", X), content))


def test_weights_in_other_containers(tmp_path: Path) -> None:
    assert "BINARYPROTO" in str(refusal(tmp_path, one("ReLU", X), b"\x89HDF\r\n\x1a\n" + bytes(64)))
    net = NetParameter()
    net.layers.add().layer.name = "conv"
    assert "V0" in str(refusal(tmp_path, one("ReLU", X), net.SerializeToString()))


def test_exchanged_and_missing_files(tmp_path: Path) -> None:
    prototxt, weights = write(tmp_path, one("ReLU", X), {"y": [random(300)]})
    with pytest.raises(ConversionError, match="--weightFile"):
        parse(weights, prototxt)
    with pytest.raises(ConversionError, match="cannot be read") as caught:
        parse(prototxt, tmp_path / "missing")
    assert caught.value.code is ReturnCode.FILE_ERROR


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prototxt, weights = write(tmp_path, one("PReLU", X), {"y": [random(6)]})
    assert detect(prototxt) is FmkType.CAFFE
    model, output = f"--modelFile={prototxt}", f"--outputFile={tmp_path / 'out'}"
    assert cli.main([model, output, f"--weightFile={weights}"]) == 0
    assert cli.main(["--fmk=CAFFE", model, output, f"--weightFile={weights}"]) == 0
    capsys.readouterr()
    for arguments in (["--fmk=CAFFE", model, output], [model, output]):
        assert cli.main(arguments) == 2
        assert "weightFile" in capsys.readouterr().err
    assert cli.main(["--fmk=ONNX", model, output, f"--weightFile={weights}"]) == 2
    assert cli.main([f"--modelFile={tmp_path / 'out.ms'}", output, f"--weightFile={weights}"]) == 2
    assert "MSLITE" in capsys.readouterr().err


def test_python_api(tmp_path: Path) -> None:
    prototxt, weights = write(tmp_path, one("PReLU", X), {"y": [random(6)]})
    output = str(tmp_path / "out")
    mslite.Converter().convert(mslite.FmkType.CAFFE, str(prototxt), output, weight_file=str(weights))
    assert (tmp_path / "out.ms").is_file()
    with pytest.raises(RuntimeError, match="weightFile"):
        mslite.Converter().convert(mslite.FmkType.CAFFE, str(prototxt), output)
