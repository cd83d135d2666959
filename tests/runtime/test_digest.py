"""The digest at the end of a `.ms` file: who asks for it sees damage, and nobody else sees it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter import cli
from mslite.converter.mindir.digest import MARK, MAX_BYTES
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.text import to_text
from tests.converter.onnx_models import small_network

BUILD = Path(__file__).parents[2] / os.environ.get("MSLITE_BUILD", "build")
BENCHMARK = BUILD / "benchmark" / "benchmark"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """plain.ms, and marked.ms with a digest."""
    folder = tmp_path_factory.mktemp("models")
    path = small_network(folder / "net.onnx")
    assert cli.main([f"--modelFile={path}", f"--outputFile={folder / 'plain'}"]) == 0
    assert cli.main([f"--modelFile={path}", f"--outputFile={folder / 'marked'}", "--digest=on"]) == 0
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("size", [1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 1 << 20])
def test_sha256(size: int, tmp_path: Path) -> None:
    path = tmp_path / "any.bin"
    path.write_bytes(np.random.default_rng(size).bytes(size))
    mslite.verify_digest(path, sha256(path))
    mslite.verify_digest(path, sha256(path).upper())
    with pytest.raises(RuntimeError, match=f"its digest is {sha256(path)}, which is not the expected one"):
        mslite.verify_digest(path, "0" * 64)


def test_the_rest_of_the_file_is_as_without(folder: Path) -> None:
    plain, marked = (folder / "plain.ms").read_bytes(), (folder / "marked.ms").read_bytes()
    assert marked[: len(plain)] == plain
    assert len(plain) < len(marked) <= len(plain) + MAX_BYTES
    assert marked.endswith(hashlib.sha256(marked[: -32 - len(MARK)]).digest() + MARK)
    again = folder / "again"
    assert cli.main([f"--modelFile={folder / 'net.onnx'}", f"--outputFile={again}", "--digest=on"]) == 0
    assert again.with_suffix(".ms").read_bytes() == marked


def test_readers_pass_over_it(folder: Path, tmp_path: Path) -> None:
    assert to_text(load(folder / "marked.ms")) == to_text(load(folder / "plain.ms"))
    outputs = []
    for name in ("plain", "marked"):
        model = mslite.Model()
        model.build_from_file(folder / f"{name}.ms", mslite.ModelType.MINDIR_LITE)
        inputs = model.get_inputs()
        inputs[0].set_data_from_numpy(np.linspace(-1, 1, 60, dtype=np.float32).reshape(1, 6, 5, 2))
        outputs.append(model.predict(inputs)[0].get_data_to_numpy())
        assert cli.main([f"--modelFile={folder / name}.ms", "--fmk=MSLITE", f"--outputFile={tmp_path / name}"]) == 0
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert (tmp_path / "plain.ms").read_bytes() == (tmp_path / "marked.ms").read_bytes()


def test_fine_and_missing(folder: Path) -> None:
    mslite.verify_digest(folder / "marked.ms")
    mslite.verify_digest(folder / "marked.ms", sha256(folder / "marked.ms"))
    mslite.verify_digest(folder / "plain.ms", sha256(folder / "plain.ms"))
    with pytest.raises(RuntimeError, match="it has no digest"):
        mslite.verify_digest(folder / "plain.ms")
    with pytest.raises(RuntimeError, match="cannot open"):
        mslite.verify_digest(folder / "absent.ms")
    for wrong in ("abc", "g" * 64, sha256(folder / "plain.ms") + "0"):
        with pytest.raises(RuntimeError, match="64 hexadecimal digits"):
            mslite.verify_digest(folder / "plain.ms", wrong)


def test_damage_is_seen(folder: Path, tmp_path: Path) -> None:
    contents = (folder / "marked.ms").read_bytes()
    path = tmp_path / "damaged.ms"
    places = {*range(0, len(contents), 37), *range(len(contents) - MAX_BYTES, len(contents))}
    for place in places:
        path.write_bytes(contents[:place] + bytes([contents[place] ^ 1]) + contents[place + 1 :])
        with pytest.raises(RuntimeError, match=r"the file is damaged|it has no digest"):
            mslite.verify_digest(path)
    for size in (1, 16, 99, 100, len(contents) - 1):
        path.write_bytes(contents[:size])
        with pytest.raises(RuntimeError, match="it has no digest"):
            mslite.verify_digest(path)


def test_an_end_that_somebody_made_up(tmp_path: Path) -> None:
    """A digest that is right does not make its other fields so."""
    path = tmp_path / "made_up.ms"
    for name, length, reason in (
        (b"", 1, "cannot open"),
        (b"", 1 << 31, "is invalid"),
        (b"../x", 4, "not a plain file name"),
        (b"..", 2, "not a plain file name"),
        (b"absent.msw", 10, "cannot open"),
        (b"a" * 300, 300, "is invalid"),
    ):
        head = b"model" + name + length.to_bytes(4, "little") + bytes(32)
        path.write_bytes(head + hashlib.sha256(head).digest() + MARK)
        with pytest.raises(RuntimeError, match=reason):
            mslite.verify_digest(path)


def test_side_file(folder: Path, tmp_path: Path) -> None:
    module = load(folder / "plain.ms")
    files = save(module, tmp_path / "net.ms", side_file_limit=1, digest=True)
    assert [file.name for file in files] == ["net.ms", "net.msw"]
    mslite.verify_digest(files[0])
    contents = files[1].read_bytes()
    os.chmod(files[1], 0o600)
    files[1].write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    with pytest.raises(RuntimeError, match=r"net\.msw.*differs"):
        mslite.verify_digest(files[0])
    with pytest.raises(RuntimeError, match=r"net\.msw.*differs"):
        mslite.verify_digest(files[0], sha256(files[0]))
    files[1].unlink()
    with pytest.raises(RuntimeError, match=r"cannot open '.*net\.msw'"):
        mslite.verify_digest(files[0])


def test_flag(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"--modelFile={folder / 'net.onnx'}"
    assert cli.main([source, f"--outputFile={tmp_path / 'a'}", "--digest"]) == 0
    assert (tmp_path / "a.ms").read_bytes() == (folder / "marked.ms").read_bytes()
    assert cli.main([source, f"--outputFile={tmp_path / 'b'}", "--digest=maybe"]) == 2
    assert cli.main([source, f"--outputFile={tmp_path / 'b'}", "--digest=on", "--saveType=MINDIR"]) == 2
    assert "digest" in capsys.readouterr().err
    converter = mslite.Converter()
    converter.digest = True
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(tmp_path / "c"))
    assert (tmp_path / "c.ms").read_bytes() == (folder / "marked.ms").read_bytes()


@pytest.mark.skipif(not BENCHMARK.is_file(), reason="benchmark was not built")
def test_benchmark(folder: Path) -> None:
    plain, marked = sha256(folder / "plain.ms"), sha256(folder / "marked.ms")
    (folder / "no_model.ms").write_bytes(b"no model at all")
    for name, flags, status, said in (
        ("marked", ["--verifyDigest"], 0, "Digest: equal to the digest in the file"),
        ("marked", [f"--verifyDigest={marked}"], 0, "Digest: equal to the expected digest"),
        ("plain", [f"--verifyDigest={plain}"], 0, "Digest: equal to the expected digest"),
        ("plain", ["--verifyDigest"], 1, "it has no digest"),
        ("plain", [f"--verifyDigest={marked}"], 1, "which is not the expected one"),
        ("no_model", ["--verifyDigest"], 1, "it has no digest"),  # before anything else is said of it
        ("plain", ["--verifyDigest=abc"], 2, "64 hexadecimal digits"),
        ("plain", ["--no-verifyDigest"], 2, "is not a valid flag"),
    ):
        command = [BENCHMARK, f"--modelFile={folder / name}.ms", "--loopCount=1", *flags]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == status, result.stderr
        assert said in result.stdout + result.stderr
    report = folder / "report.json"
    subprocess.run([BENCHMARK, f"--modelFile={folder / 'marked.ms'}", f"--jsonFile={report}"], check=True)
    assert json.loads(report.read_text())["model"] == "marked.ms"
