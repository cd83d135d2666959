"""`mslite-codegen`, from the command line to the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mslite.codegen.cli import main
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.comparison import NonZero
from mslite.converter.mindir.ops.enums import DataType
from tests.converter.onnx_models import small_network
from tests.passes.builder import Builder

from . import modules


def test_a_project_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = modules.write(modules.stored(), tmp_path)
    assert main([str(path), "--target=cortex-m4", f"--output={tmp_path / 'net'}"]) == 0
    assert (tmp_path / "net" / "src" / "model0" / "net0.c").is_file()
    assert "written" in capsys.readouterr().out


def test_refused_nodes_are_named_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = Builder()
    x = build.input(4)
    y, z = (Value(name, DataType.INT64, (1, modules.BATCH)) for name in "yz")
    build.graph.nodes.append(Node(NonZero(), "found", (x,), (y,)))
    build.graph.nodes.append(Node(NonZero(), "found again", (x,), (z,)))  # depends on no shape of the first one
    path = modules.write(build.module(y, z), tmp_path)
    assert main([str(path), f"--output={tmp_path / 'net'}"]) == 3
    message = capsys.readouterr().err
    assert "2 node(s) are unsupported in generated C" in message
    assert "NonZero 'found'" in message
    assert "NonZero 'found again'" in message
    assert not (tmp_path / "net").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--target=cortex-m99"], 2, "target 'cortex-m99' is unknown"),
        (["--ramBudget=much"], 2, "is not a number of bytes"),
        (["--target=cortex-m4", "--parallel=true"], 2, "microcontrollers have no threads"),
        (["--inputShape=in0:1"], 1, "has 4 dimensions, 1 was given"),
        (["--inputShape=nobody:1"], 1, "'nobody' is not an input of the model"),
        (["--output="], 2, "the folder name is empty"),
        (["--unknown"], 2, "--unknown is not a valid flag"),
        (["--kernelLibrary=cmsis-nn"], 2, "--kernelLibrary=cmsis-nn needs a Cortex-M target; --target=x86 is not one"),
        (["--ramBudget=100"], 3, "100"),
    ],
)
def test_mistakes_have_a_message_and_a_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    path = modules.write(modules.stored(), tmp_path)
    assert main([str(path), f"--output={tmp_path / 'net'}", *arguments]) == status
    assert message in capsys.readouterr().err
    assert not (tmp_path / "net").exists()


def test_a_damaged_or_missing_file_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = modules.write(modules.stored(), tmp_path)
    path.chmod(0o600)
    damaged = tmp_path / "damaged.ms"
    damaged.write_bytes(path.read_bytes()[:200])
    for model in (damaged, tmp_path / "nowhere.ms"):
        assert main([str(model), f"--output={tmp_path / 'net'}"]) == 1
        assert str(model) in capsys.readouterr().err


def test_open_sizes_are_shown_as_the_model_file_has_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weight = onnx.numpy_helper.from_array(np.ones((2, 3, 1, 1), np.float32), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["image", "w"], ["y"])],
        "net",
        [onnx.helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 3, "height", "width"])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 2, "height", "width"])],
        [weight],
    )
    path = tmp_path / "net.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), path)
    assert main([str(path), f"--output={tmp_path / 'net'}"]) == 3
    assert "[1, 3, ?, ?]; give them as --inputShape=image:1,3,?,?" in capsys.readouterr().err
    assert main([str(path), f"--output={tmp_path / 'net'}", "--inputShape=image:1,3,4,5"]) == 0
    assert "float32[1x4x5x3]" in (tmp_path / "net" / "src" / "model0" / "net0.h").read_text()


def test_a_caffe_model_needs_its_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.prototxt"
    path.write_text('name: "net"')
    assert main([str(path), f"--output={tmp_path / 'net'}"]) == 2
    assert "net.caffemodel is not in the same folder; name the weights with --weightFile" in capsys.readouterr().err


def test_an_open_first_size_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx", "n")
    assert main([str(model), f"--output={tmp_path / 'a'}"]) == 0
    note = "note: net.onnx: the first dimension of input 'image' is dynamic; 1 is assumed. Choose another size with --inputShape"
    assert note in capsys.readouterr().out
    assert main([str(model), f"--output={tmp_path / 'b'}", "--inputShape=image:2,2,6,5"]) == 0
    assert "note:" not in capsys.readouterr().out
