"""Vela itself: what it makes of our files, what it refuses, what it prints of its commands. `make check-frameworks` runs these."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import struct
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, ExitStatus
from mslite.converter.ethosu import NpuSettings, npu_settings
from mslite.converter.ethosu.node import call_of
from mslite.converter.ethosu.partitions import find_partitions
from mslite.converter.ethosu.vela import Compiled, UnsupportedOperations, command_of, compile_file
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, Format, QuantType, ResizeMethod
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.options import Options
from mslite.converter.tflite_writer import File, refusal, write_tflite
from tests.codegen.networks import keywords, resnet8

from .commands import uses
from .graphs import Builder

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(importlib.util.find_spec("ethosu") is None, reason="needs ethos-u-vela"),
]

_GOLDEN = Path(__file__).parent / "golden"
_GOLDEN_VERSION = "5.2.0"
_BEGIN = "Register command stream:"


def _settings(target: str = "ethos-u55") -> NpuSettings:
    settings = npu_settings(target, {})
    assert settings is not None
    return settings


def _file(make: Callable[[Builder], Value]) -> File:
    made = Builder()
    module = made.module(make(made))
    (part,) = find_partitions(module.main, lambda node: not refusal(node))
    return write_tflite(part.nodes, part.inputs, part.outputs)


LAYERS: dict[str, Callable[[Builder], Value]] = {
    "convolution": lambda made: made.convolution(made.input(), "y"),
    "sum": lambda made: made.add(made.input(), made.input("z"), "y"),
    "maximum": lambda made: made.pool(made.input(), "y"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_commands_are_those_of_the_golden_file(name: str) -> None:
    """The files hold what vela 5.2.0 printed, from the commands on; `python -m tests.converter.ethosu.golden` writes them again."""
    version = importlib.metadata.version("ethos-u-vela")
    if version != _GOLDEN_VERSION:
        pytest.skip(f"the golden files are those of vela {_GOLDEN_VERSION}; {version} is installed")
    assert printed_commands(name) == (_GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def printed_commands(name: str) -> str:
    """What vela prints of a layer's commands."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "part.tflite").write_bytes(_file(LAYERS[name]).data)
        command = [*command_of(_settings()), "--verbose-register-command-stream"]
        lines = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(_BEGIN))
    rest = lines[first:]
    end = next((number for number, line in enumerate(rest) if not line.strip()), len(rest))
    return "\n".join(line.rstrip() for line in rest[:end]) + "\n"


@pytest.mark.parametrize("target", ["ethos-u55", "ethos-u65", "ethos-u85"])
def test_a_layer_is_compiled(target: str) -> None:
    file = _file(LAYERS["convolution"])
    first, second = (compile_file(file.data, _settings(target)) for _ in range(2))
    assert isinstance(first, Compiled)
    assert first == second  # the same every time
    assert first.commands[:4] == b"COP1"
    assert len(first.constants) > 4 * 9 * 4
    assert set(first.places) == {*file.inputs, *file.outputs}
    assert all(0 <= place <= first.scratch - 256 and place % 16 == 0 for place in first.places.values())
    assert first.fast_scratch == 0
    assert first.macs == 8 * 8 * 4 * (9 * 4 + 1)  # vela counts the bias
    assert 0 < first.cycles < 100_000
    assert first.sram >= 2 * 256


_DEDICATED = {"memory_mode": "Dedicated_Sram_384KB"}


@pytest.mark.parametrize(
    ("target", "keys"),
    [
        ("ethos-u55", {}),
        ("ethos-u65", {}),
        ("ethos-u85", {}),
        ("ethos-u65", {"system_config": "Ethos_U65_High_End"} | _DEDICATED),
        ("ethos-u85", {"system_config": "Ethos_U85_SYS_DRAM_Mid"} | _DEDICATED),
    ],
)
def test_commands_stay_within_the_memories_that_are_handed_over(
    target: str, keys: dict[str, str], tmp_path: Path
) -> None:
    """Region 0 has the constants, 1 the working memory, 2 the fast one, which only some memory modes have; the input is read and the
    output written at its place."""
    settings = npu_settings(target, keys)
    assert settings is not None
    (tmp_path / "net.tflite").write_bytes(resnet8())
    module = load(convert(Options(tmp_path / "net.tflite", tmp_path / "net")).files[0])
    (part,) = find_partitions(module.main, lambda node: not refusal(node))
    file = write_tflite(part.nodes, part.inputs, part.outputs)
    compiled = compile_file(file.data, settings)
    assert isinstance(compiled, Compiled)
    sizes = [len(compiled.constants), compiled.scratch, compiled.fast_scratch]
    found = list(uses(compiled.commands, target == "ethos-u85"))
    assert found
    assert (2 in {use.region for use in found}) == bool(keys) == bool(compiled.fast_scratch)
    for use in found:
        assert use.at + use.length <= sizes[use.region], use
    assert (1, compiled.places[file.inputs[0]]) in {
        (use.region, use.at) for use in found if use.what in ("ifm", "source")
    }
    assert (1, compiled.places[file.outputs[0]]) in {
        (use.region, use.at) for use in found if use.what in ("ofm", "target")
    }
    assert {use.region for use in found if use.what in ("ofm", "target")} <= {1, 2}


def test_a_second_memory() -> None:
    settings = npu_settings(
        "ethos-u65", {"system_config": "Ethos_U65_High_End", "memory_mode": "Dedicated_Sram_384KB", "optimise": "Size"}
    )
    assert settings is not None
    compiled = compile_file(_file(LAYERS["convolution"]).data, settings)
    assert isinstance(compiled, Compiled)
    assert compiled.fast_scratch > 0


def test_what_vela_refuses_comes_with_its_reason() -> None:
    """Images grow by 2, 4 or 8 on the NPU, not by 3 and 5."""
    file = _resized()
    refused = compile_file(file.data, _settings())
    assert isinstance(refused, UnsupportedOperations)
    (name,) = refused.reasons
    assert file.names[name].op.name == "Resize"
    assert refused.reasons[name].startswith("vela leaves RESIZE_BILINEAR to the CPU: ")


def _resized() -> File:
    made = Builder()
    x = made.convolution(made.input(), "a")
    y = Value("y", DataType.INT8, (1, 24, 40, 4), None, Format.NHWC, (made.record,))
    op = Resize(
        format=Format.NHWC, method=ResizeMethod.LINEAR, new_height=24, new_width=40,
        coordinate_transform_mode=CoordinateTransformMode.ASYMMETRIC,
    )  # fmt: skip
    made.graph.nodes.append(Node(op, "resize", (x,), (y,), QuantType.QUANT_ALL))
    (part,) = find_partitions(made.module(y).main, lambda node: not refusal(node))
    return write_tflite(part.nodes, part.inputs, part.outputs)


def test_vela_that_takes_too_long_is_ended() -> None:
    settings = dataclasses.replace(_settings(), time_limit=1e-3)  # type: ignore[arg-type]
    with pytest.raises(ConversionError, match="Increase time_limit in"):
        compile_file(_file(LAYERS["sum"]).data, settings)


def test_vela_that_fails_is_quoted() -> None:
    settings = dataclasses.replace(_settings(), memory_mode="Nowhere")
    with pytest.raises(
        ConversionError, match=r"vela failed with exit code \d+: .*Nowhere.*Check system_config and memory_mode"
    ):
        compile_file(_file(LAYERS["sum"]).data, settings)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.tflite").write_bytes(resnet8())
    results = []
    for name in ("a", "b"):
        words = [f"--modelFile={tmp_path / 'net.tflite'}", f"--outputFile={tmp_path / name}", "--target=ethos-u55-256"]
        assert main(words) == ExitStatus.OK
        results.append((tmp_path / f"{name}.ms").read_bytes())
    assert results[0] == results[1]
    said = capsys.readouterr().out
    assert "ethos-u55-256 (vela" in said
    assert "cycles" in said
    assert "SRAM" in said
    module = load(tmp_path / "a.ms")
    (node,) = module.main.nodes
    assert isinstance(node.op, Custom)
    call = call_of(node.op.attr or (), 2)
    assert call.cycles > 0
    (words_of_commands,) = struct.unpack("<I", node.inputs[0].array().tobytes()[:4])
    assert words_of_commands == int.from_bytes(b"COP1", "little")


def test_casts_of_a_float_border_stay_on_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(keywords())
    words = [f"--modelFile={tmp_path / 'net.tflite'}", f"--outputFile={tmp_path / 'u'}", "--target=ethos-u55"]
    assert main([*words, "--inputDataType=FLOAT", "--outputDataType=FLOAT"]) == ExitStatus.OK
    assert [node.op.name for node in load(tmp_path / "u.ms").main.nodes] == [
        "QuantDTypeCast",
        "Custom",
        "QuantDTypeCast",
    ]
