"""Whole `.ms` files."""

from __future__ import annotations

import dataclasses
import os
import random
import stat
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from comparison import assert_same_module
from hypothesis import assume, given, settings
from strategies import modules

from mslite.converter.mindir.compatibility_fields import shared_with_packers
from mslite.converter.mindir.flatbuffer import Source
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.model_diff import differences
from mslite.converter.mindir.module_io import load, save, to_meta, to_module
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ms_writer import ms_bytes, write_ms
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, SubGraph, Tensor
from mslite.converter.mindir.ops.unary import Abs
from mslite.converter.mindir.serialization import MindirFormatError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
MODELS = sorted(SHARED.glob("mindspore_ms*/*/*.ms"))
V0 = "retinaface0924"


def adder(weight: np.ndarray) -> Module:
    x, y = Value("x", DataType.FLOAT32, weight.shape), Value("y", DataType.FLOAT32, weight.shape)
    return Module([Graph("main", [x], [y], [Node(AddFusion(), "add", (x, constant("w", weight)), (y,))])])


@pytest.mark.nonconforming("one of the genuine files is for another device")
@pytest.mark.skipif(not MODELS, reason="../shared/models is not there")
@pytest.mark.parametrize("path", [p for p in MODELS if V0 not in str(p)], ids=lambda path: path.parent.name)
def test_reading_and_writing_a_file_loses_nothing(path: Path, tmp_path: Path) -> None:
    meta = read_ms(path)
    assert meta.nodes
    write_ms(meta, tmp_path / "copy.ms")
    assert list(differences(meta, read_ms(tmp_path / "copy.ms"))) == []
    module = load(path)
    assert_same_module(module, to_module(read_ms(ms_bytes(to_meta(module)))), symbols=False)


@pytest.mark.skipif(not MODELS, reason="../shared/models is not there")
def test_a_v0_file_is_refused_with_its_version_and_advice() -> None:
    (path,) = (p for p in MODELS if V0 in str(p))
    with pytest.raises(MindirFormatError, match=r"MindSpore Lite 1\.0\.0.*v0.*Convert the source model again"):
        read_ms(path)


@pytest.mark.nonconforming("modules at random")
@settings(max_examples=150, deadline=None)
@given(modules())
def test_a_module_survives_the_file(module: Module) -> None:
    assume(not shared_with_packers(module))  # such constants are written twice
    back = to_module(read_ms(ms_bytes(to_meta(module))))
    assert_same_module(module, back, symbols=False)


@pytest.mark.nonconforming("each field holds something, whatever it means")
def test_every_field_of_every_table_survives() -> None:
    tensor = Tensor(
        nodeType=1, dataType=43, dims=(), refCount=3, offset=4, data=b"", quantParams=[], quantClusters=(1.5,), name="",
        enableHuffmanCode=True,
    )  # fmt: skip
    node = CNode(name="n", nodeType=7, primitive=Abs(), inputIndex=(0,), outputIndex=(), deviceType=2)
    meta = MetaGraph(
        name="m", version="v", fmkType=3, inputIndex=(), mempoolSize=9, nodes=[node], allTensors=[tensor],
        subGraph=[SubGraph(name="s", nodeIndices=(0,))], obfuscate=True, obfMetaData=b"secret",
    )  # fmt: skip
    back = read_ms(ms_bytes(meta))
    assert list(differences(meta, back)) == []
    assert back.outputIndex is None
    assert back.inputIndex == ()
    assert back.allTensors is not None
    assert back.allTensors[0].data is not None


def test_files_are_read_only_and_can_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "m.ms"
    for value in (1.0, 2.0):
        save(adder(np.full(4, value, np.float32)), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o400
        assert load(path).main.nodes[0].inputs[1].array()[0] == value
    assert os.listdir(tmp_path) == ["m.ms"]


def test_big_models_put_their_constants_beside_the_file(tmp_path: Path) -> None:
    module = adder(np.arange(1000, dtype=np.float32))
    files = save(module, tmp_path / "big.ms", side_file_limit=1000)
    assert [file.name for file in files] == ["big.ms", "big.msw"]
    side = (tmp_path / "big.msw").read_bytes()
    assert struct.unpack_from("<I", side)[0] == 0x12345678
    assert struct.unpack_from("<I", side, 4)[0] == (tmp_path / "big.ms").read_bytes()[0]
    assert np.array_equal(np.frombuffer(side[4096:], np.float32), np.arange(1000))
    assert_same_module(module, load(tmp_path / "big.ms"))
    with pytest.raises(MindirFormatError, match="read by path"):
        read_ms((tmp_path / "big.ms").read_bytes())
    (tmp_path / "big.msw").unlink()
    with pytest.raises(MindirFormatError, match=r"big\.msw"):
        read_ms(tmp_path / "big.ms")


def test_both_files_appear_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.ms"
    save(adder(np.zeros(100, np.float32)), path, side_file_limit=0)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    replace = os.replace

    def fail_on_model(source: Path, target: Path) -> None:
        if Path(target) == path:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_on_model)
    with pytest.raises(OSError, match="No space"):
        save(adder(np.ones(50, np.float32)), path, side_file_limit=0)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_side_file_is_a_plain_name_and_in_bounds(tmp_path: Path) -> None:
    save(adder(np.zeros(100, np.float32)), tmp_path / "m.ms", side_file_limit=0)
    data = (tmp_path / "m.ms").read_bytes()
    (tmp_path / "evil.ms").write_bytes(data.replace(b"m.msw", b"../ww"))
    with pytest.raises(MindirFormatError, match="plain file name"):
        read_ms(tmp_path / "evil.ms")
    (tmp_path / "m.msw").chmod(0o600)
    (tmp_path / "m.msw").write_bytes(b"short")
    with pytest.raises(MindirFormatError, match="outside"):
        read_ms(tmp_path / "m.ms")


def test_constants_are_not_copied(tmp_path: Path) -> None:
    """64 MiB of weights, a quarter of them transposed views, cost no more than one of them in memory."""
    size = 16 << 20
    arrays = [np.zeros((1024, size // 4096), np.float32) for _ in range(3)]
    arrays.append(np.arange(size // 4, dtype=np.float32).reshape(1024, -1).T)
    x = Value("x", DataType.FLOAT32, (1,))
    nodes = [
        Node(AddFusion(), f"n{i}", (x, constant(f"w{i}", a)), (Value(f"y{i}", DataType.FLOAT32),))
        for i, a in enumerate(arrays)
    ]
    module = Module([Graph("main", [x], [nodes[-1].output], nodes)])
    tracemalloc.start()
    save(module, tmp_path / "m.ms")
    back = load(tmp_path / "m.ms")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * size
    assert np.array_equal(back.main.nodes[3].inputs[1].array(), arrays[3])
    assert not back.main.nodes[0].inputs[1].array().flags.owndata


def _mutated(data: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(broken))
        if chance.random() < 0.5:
            struct.pack_into(
                "<I", broken, min(at & ~3, len(broken) - 4), chance.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, at])
            )
        else:
            broken[at] ^= 1 << chance.randrange(8)
    return bytes(broken[: chance.randrange(len(broken))]) if chance.random() < 0.2 else bytes(broken)


def test_damaged_files_give_one_kind_of_error() -> None:
    good = ms_bytes(to_meta(adder(np.ones(3, np.float32))))
    chance = random.Random(2)
    refused = 0
    for _ in range(4000):
        try:
            to_module(read_ms(_mutated(good, chance)))
        except MindirFormatError:
            refused += 1
    assert refused > 500


@pytest.mark.parametrize("data", [b"", b"MSL2", b"\0" * 64, b"\x10\0\0\0MSL2" + b"\xff" * 64, b"hello, this is text"])
def test_things_that_are_no_models(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.ms"
    path.write_bytes(data)
    with pytest.raises(MindirFormatError, match=r"x\.ms"):
        read_ms(path)


@pytest.mark.nonconforming("a malformed file")
def test_shared_tables_cannot_unfold_without_end() -> None:
    """Many references to one table with a long list: small in the file, enormous in memory."""
    many = tuple(range(20000))
    node = CNode(name="n", primitive=Abs(), inputIndex=many)
    meta = MetaGraph(version="v", nodes=[node], subGraph=[SubGraph(name="s", tensorIndices=many)])
    data = bytearray(ms_bytes(meta))
    source = Source(bytes(data))
    root = source.root()
    nodes = root.tables(6)
    graphs = root.tables(8)
    assert nodes
    assert graphs
    field, indices = root.position(6), graphs[0].position(4)
    assert field is not None
    assert indices is not None
    vector = source.follow(indices)
    assert field < vector < nodes[0].at
    struct.pack_into("<I", data, field, vector - field)
    for index in range(len(many)):
        at = vector + 4 + 4 * index
        struct.pack_into("<I", data, at, nodes[0].at - at)
    with pytest.raises(MindirFormatError, match="too often"):
        read_ms(bytes(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputIndex": (9,)}, "tensor 9"),
        ({"primitive": None}, "no operator"),
        ({"outputIndex": (1,), "inputIndex": (1,)}, "cycle"),
    ],
)
def test_wrong_indices_are_named(change: dict[str, object], message: str) -> None:
    meta = to_meta(adder(np.ones(3, np.float32)))
    assert meta.nodes is not None
    if message == "cycle":
        change = {"inputIndex": meta.nodes[0].outputIndex}
    meta.nodes[0] = dataclasses.replace(meta.nodes[0], **change)  # type: ignore[arg-type]
    with pytest.raises(MindirFormatError, match=message):
        to_module(meta)
