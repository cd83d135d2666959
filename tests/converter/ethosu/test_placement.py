"""What becomes of a graph when its parts are compiled. The compiler here only names places; test_vela.py has the real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.cli import main
from mslite.converter.errors import ConversionError, ExitStatus, ReturnCode
from mslite.converter.ethosu import npu_settings, placement
from mslite.converter.ethosu.node import TYPE, call_of
from mslite.converter.ethosu.settings import NpuSettings
from mslite.converter.ethosu.vela import Compiled, UnsupportedOperations
from mslite.converter.mindir.flatbuffer import Source
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.verifier import verify
from mslite.converter.tflite_writer.write import HALF_TO_EVEN
from tests.codegen.ethosu.stand_in import no_compiler
from tests.codegen.networks import keywords

from .graphs import Builder, names

_FOUND = npu_settings("ethos-u55", {})
assert _FOUND is not None
SETTINGS: NpuSettings = _FOUND
Compiler = Callable[[bytes, NpuSettings], Compiled | UnsupportedOperations]


def _tensors(data: bytes) -> list[str]:
    (graph,) = Source(data).root().tables(2) or ()
    return [table.text(3) or "" for table in graph.tables(0) or ()]


def _written(data: bytes) -> set[str]:
    (graph,) = Source(data).root().tables(2) or ()
    return {_tensors(data)[int(index)] for table in graph.tables(3) or () for index in table.numbers(2, "int") or ()}


def _compiler(refused: dict[str, str] | None = None) -> Compiler:
    """Gives every tensor a place; files that write tensors of `refused` are refused for these."""

    def compile_file(data: bytes, settings: NpuSettings) -> Compiled | UnsupportedOperations:
        tensors = _tensors(data)
        reasons = {name: why for name, why in (refused or {}).items() if name in _written(data)}
        if reasons:
            return UnsupportedOperations(reasons)
        places = {name: 16 * number for number, name in enumerate(tensors)}
        return Compiled(b"COP1", b"constants", 4096, 0, places, 1000, 2000, 4096, 5e8)

    return compile_file


def _place(module: Module, monkeypatch: pytest.MonkeyPatch, compiler: Compiler) -> placement.Placement:
    monkeypatch.setattr(placement, "vela_version", lambda settings: "5.2.0")
    monkeypatch.setattr(placement, "compile_file", compiler)
    found = placement.compile_for_npu(module, SETTINGS)
    verify(module)
    return found


def test_a_part_becomes_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    x = made.input()
    y = made.leaky(made.convolution(x, "a"), "b")
    module = made.module(y)
    found = _place(module, monkeypatch, _compiler())
    (node,) = module.main.nodes
    assert isinstance(node.op, Custom)
    assert node.op.type == TYPE
    assert [value.name for value in node.inputs[2:]] == ["x"]
    assert node.outputs == (y,)
    assert node.inputs[0].data is not None
    assert node.inputs[0].data.tobytes() == b"COP1"
    call = call_of(node.op.attr or (), 2)
    assert (call.accelerator, call.scratch, call.fast_scratch) == ("ethos-u55-128", 4096, 0)
    assert call.vela == "5.2.0 Ethos_U55_High_End_Embedded Shared_Sram"
    assert found.parts[0].nodes == ("a_node", "b_node")
    assert found.left == ()


def test_what_the_compiler_refuses_stays_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    y = made.convolution(made.leaky(made.convolution(made.input(), "a"), "b"), "c")
    module = made.module(y)
    found = _place(module, monkeypatch, _compiler({"b": "vela leaves LEAKY_RELU to the CPU: too steep"}))
    assert [part.nodes for part in found.parts] == [("a_node",), ("c_node",)]
    assert found.left == (("b_node", "Activation", "vela leaves LEAKY_RELU to the CPU: too steep"),)
    assert [node.op.name for node in module.main.nodes] == ["Custom", "Activation", "Custom"]


def test_a_part_that_is_refused_without_a_reason_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    first = made.convolution(made.input(), "a")
    y = made.convolution(made.foreign(first, "f"), "c")
    module = made.module(y)

    def compiler(data: bytes, settings: NpuSettings) -> Compiled | UnsupportedOperations:
        return UnsupportedOperations({}) if "a" in _tensors(data) else _compiler()(data, settings)

    found = _place(module, monkeypatch, compiler)
    assert [part.nodes for part in found.parts] == [("c_node",)]
    assert "without a reason" in found.left[0][2]


@pytest.mark.parametrize("places", [{"a": 0}, {"x": -1, "a": 0}])
def test_a_part_whose_tensors_have_no_place_stays(places: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    module = made.module(made.convolution(made.input(), "a"))
    compiled = Compiled(b"COP1", b"", 4096, 0, places, 1, 1, 1, 5e8)
    with pytest.raises(ConversionError, match="without a reason"):
        _place(module, monkeypatch, lambda data, settings: compiled)


def test_unsigned_borders_are_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The casts that made the numbers signed and unsigned again have nothing left to do."""
    made = Builder(unsigned=True)
    x = made.input()
    x.dtype, x.quant = DataType.UINT8, (made.record,)
    x.quant[0].zeroPoint = 121
    made.record = Builder(unsigned=True).record
    inner = made.convolution(made.unsigned_border(x, "signed", DataType.INT8), "a")
    y = made.unsigned_border(made.leaky(inner, "b"), "y", DataType.UINT8)
    module = made.module(y)
    _place(module, monkeypatch, _compiler())
    (node,) = module.main.nodes
    assert node.inputs[2:] == (x,)
    assert node.outputs == (y,)


def test_unsigned_numbers_are_cast_where_others_read_them_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder(unsigned=True)
    x = made.input()
    module = made.module(made.foreign(made.convolution(x, "a"), "f"))
    _place(module, monkeypatch, _compiler())
    assert [node.op.name for node in module.main.nodes] == ["QuantDTypeCast", "Custom", "QuantDTypeCast", "Ceil"]
    (npu,) = (node for node in module.main.nodes if isinstance(node.op, Custom))
    assert [value.dtype for value in (*npu.inputs[2:], *npu.outputs)] == [DataType.UINT8] * 2
    assert [value.quant[0].zeroPoint for value in (*npu.inputs[2:], *npu.outputs)] == [121] * 2


def test_parts_that_read_each_other_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    a = made.convolution(made.input(), "a")
    c = made.add(made.foreign(a, "f"), a, "c")
    module = made.module(c)
    _place(module, monkeypatch, _compiler())
    assert [node.op.name for node in module.main.nodes] == ["Custom", "Ceil", "Custom"]
    assert len(set(names(module.main.nodes))) == 3


def test_a_model_with_nothing_for_the_npu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Builder()
    made.record.roundType = 3
    module = made.module(made.convolution(made.input(), "a"))
    with pytest.raises(ConversionError) as caught:
        _place(module, monkeypatch, _compiler())
    assert caught.value.code is ReturnCode.NOT_SUPPORTED
    assert f"no node can run on ethos-u55-128: Conv2DFusion 'a_node': {HALF_TO_EVEN}" in str(caught.value)


def test_without_vela_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_compiler(monkeypatch)
    (tmp_path / "net.tflite").write_bytes(keywords())
    words = [f"--modelFile={tmp_path / 'net.tflite'}", f"--outputFile={tmp_path / 'net'}", "--target=ethos-u55"]
    assert main(words) == ExitStatus.NOT_CONVERTIBLE
    assert "pip install '.[ethosu]'" in capsys.readouterr().err
    assert not (tmp_path / "net.ms").exists()


def test_scales_become_numbers_of_32_bits() -> None:
    made = Builder()
    made.record.scale = 0.1
    module = made.module(made.convolution(made.input(), "a"))
    placement.round_scales(module)
    scales = [record.scale for value in module.main.values() for record in value.quant]
    assert all(float(np.float32(scale)) == scale for scale in scales)


def test_attributes_that_are_damaged_are_named() -> None:
    made = Builder()
    module = made.module(made.convolution(made.input(), "a"))
    with pytest.MonkeyPatch.context() as patch:
        _place(module, patch, _compiler())
    (node,) = module.main.nodes
    assert isinstance(node.op, Custom)
    attributes = node.op.attr or ()
    for name in ("accelerator", "scratch", "places"):
        with pytest.raises(ValueError, match="its attributes are damaged"):
            call_of([pair for pair in attributes if pair[0] != name], 2)
    with pytest.raises(ValueError, match="its attributes are damaged"):
        call_of(attributes, 3)
    with pytest.raises(ValueError, match="a size is negative"):
        call_of([(name, data if name != "scratch" else b"\xff" * 8) for name, data in attributes], 2)
