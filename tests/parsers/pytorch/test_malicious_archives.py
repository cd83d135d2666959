"""torch.export archives from strangers: what they would run is never run, with and without PyTorch."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import pytest

from mslite.converter.cli import main
from mslite.converter.errors import ConversionError
from mslite.converter.parsers.pytorch.checked_copy import write_checked_copy
from mslite.converter.parsers.pytorch.expressions import UnsafeProgram, check_expression
from mslite.converter.parsers.pytorch.pickles import UnsafePickle, check_pickle
from mslite.converter.parsers.pytorch.program import checked_program

from .malicious_archives import archive, attacks, model, program
from .test_pytorch import needs_torch

ATTACKS = attacks(Path("marker"))


@pytest.mark.parametrize("check", [False, True], ids=["convert", "check"])
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_runs(
    name: str, check: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.pt2"
    path.write_bytes(ATTACKS[name]())
    code = main([f"--modelFile={path}", "--fmk=PYTORCH", "--check" if check else f"--outputFile={tmp_path / 'net'}"])
    text = capfd.readouterr()
    assert code in (1, 3)
    assert str(path) in text.err
    assert "is not installed" not in text.err, "it was refused for another reason"
    assert "please report" not in text.err
    assert [file.name for file in tmp_path.iterdir()] == ["net.pt2"]


def test_a_harmless_archive_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "net.pt2", tmp_path / "copy.pt2"
    source.write_bytes(program(extra__notes_DOT_txt=b"hello"))
    write_checked_copy(source, target)
    write_checked_copy(target, tmp_path / "again.pt2")
    assert target.stat().st_size > 0


def test_guards_are_left_out(tmp_path: Path) -> None:
    found = model()
    found["guards_code"] = ["__import__('os').system('touch marker')"]
    source = tmp_path / "net.pt2"
    source.write_bytes(program(models__model_DOT_json=found))
    write_checked_copy(source, tmp_path / "copy.pt2")
    with zipfile.ZipFile(tmp_path / "copy.pt2") as copy:
        assert json.loads(copy.read("net/models/model.json"))["guards_code"] == []


@pytest.mark.parametrize(
    "value",
    [((), {}), ([1, 2.5, "text", None, True], {"a": (1, "")}), OrderedDict(w=1), {"s": {1, 2}}],
    ids=["empty", "plain", "dictionary", "set"],
)
def test_plain_values_are_no_danger(value: object) -> None:
    assert check_pickle(pickle.dumps(value, 2), "net.pt2") == {}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"\x80\x02", "damaged"),
        (b"\x80\x02N", "damaged"),
        (b"\x80\x02.", "stack is empty"),
        (b"\x80\x02h\x05.", "is not set"),
        (b"\x80\x02]q\x00h\x00a.", "contains itself"),
        (b"\x80\x02cbuiltins\neval\n.", r"builtins\.eval"),
        (b"\x80\x02ctorch._utils\n_rebuild_wrapper_subclass\n.", "unwrap_tensor_subclass"),
        (b"\x80\x04(\x8c\x02os\x8c\x06systemc\n\n\x93.", "imports"),
        (b"\x80\x02ctorch\nFloatStorage\n)R.", "calls"),
        (b"\x80\x02ctorch\nFloatStorage\n}X\x01\x00\x00\x00xK\x01sb.", "sets attributes"),
        (b"\x80\x02X\x01\x00\x00\x00xQ.", "not a storage"),
        (b"\x80\x02}))s.", "neither a string nor a number"),
    ],
)
def test_what_pickles_may_not_do(data: bytes, reason: str) -> None:
    with pytest.raises(UnsafePickle, match=reason):
        check_pickle(data, "net.pt2")


def test_operators_of_torchao_are_refused_with_a_remedy() -> None:
    with pytest.raises(UnsafeProgram, match="quantize it with mslite"):
        checked_program(b'{"target": "torch.ops.torchao.quantize_affine.default"}')


@pytest.mark.parametrize(
    "text",
    [
        "Symbol('s0', positive=True, integer=True)",
        "Add(Mul(Integer(2), Symbol('s0')), Integer(-3))",
        "Pow(Symbol('s0'), Rational(1, 2))",
        "FloorDiv(Symbol('u0', integer=True), Integer(4))",
        "2*s0 + 1",
        "Mul(Float('2.5', precision=53), Symbol('s77'))",
    ],
)
def test_sizes(text: str) -> None:
    check_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "open('marker', 'w')",
        "().__class__",
        "[x for x in ()]",
        "lambda: 1",
        "Symbol('s0 + open(1)')",
        "Symbol('s0', cls=Integer)",
        "Integer('9' * 10**9)",
        "9**9**9",
        "Pow(Pow(Integer(9), Integer(60)), Integer(60))",
        "s0" + " + 1" * 20_000,
        "-" * 10_000 + "1",
        "Integer(1" + "0" * 40 + ")",
        "ꜱ0",
        "",
    ],
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UnsafeProgram):
        check_expression(text)


def test_an_archive_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(8):
            file.writestr(f"net/extra/{number}", bytes(16 << 20))
    with pytest.raises(ValueError, match="times as much"):
        write_checked_copy(path, tmp_path / "copy.pt2")


def test_the_memory_limit_holds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(archive({"extra/zeros": bytes(70 << 20)}))
    flags = [f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}", "--fmk=PYTORCH", "--memoryLimit=64"]
    assert main(flags) == 1
    assert "--memoryLimit" in capfd.readouterr().err


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["dynamic", "containers", "cond", "lstm", "shared"])
def test_programs_of_the_exporter_pass(kind: str, tmp_path: Path) -> None:
    import torch

    from .networks import NETWORKS

    build: Callable[[], torch.export.ExportedProgram] = NETWORKS[kind]
    torch.export.save(build(), str(tmp_path / "net.pt2"))
    write_checked_copy(tmp_path / "net.pt2", tmp_path / "copy.pt2")
    before, after = (torch.export.load(str(tmp_path / name)) for name in ("net.pt2", "copy.pt2"))
    assert str(after.graph) == str(before.graph)
    assert {key: value.shape for key, value in after.state_dict.items()} == {
        key: value.shape for key, value in before.state_dict.items()
    }


def test_text_of_errors(tmp_path: Path) -> None:
    from mslite.converter.convert import convert
    from mslite.converter.options import Options

    path = tmp_path / "net.pt2"
    path.write_bytes(ATTACKS["reduce, protocol 2"]())
    with pytest.raises(ConversionError) as caught:
        convert(Options(path, tmp_path / "net"))
    for part in ("net.pt2", "net/data/sample_inputs/model.pt", "system", "torch.export.save"):
        assert part in str(caught.value)
