"""Encrypted results and sources: the flags, `mslite.Converter`, and that no key is ever repeated."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag

import mslite
from mslite.converter import cli
from mslite.converter.convert import convert
from mslite.converter.encryption import Encryption
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load, save_sealed
from mslite.converter.mindir.show import main as show
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.mindir.messages import ModelProto
from tests.converter.onnx_models import small_network
from tests.runtime.encrypted_files import CBC, KEY, LONG_KEYS, SM4, cbc_block, gcm_file, opened

DIGITS = KEY.hex()
FLAG = f"--encryptKey={DIGITS}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """net.onnx, and plain.ms and plain.mindir of it."""
    folder = tmp_path_factory.mktemp("models")
    source = f"--modelFile={small_network(folder / 'net.onnx')}"
    assert cli.main([source, f"--outputFile={folder / 'plain'}"]) == 0
    assert cli.main([source, f"--outputFile={folder / 'plain'}", "--saveType=MINDIR"]) == 0
    return folder


def run(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, str]:
    """The exit status, and all that is said: never a key."""
    status = cli.main(flags)
    said = "".join(capsys.readouterr())
    assert DIGITS not in said
    assert KEY.decode() not in said
    return status, said


def test_the_result_holds_the_plain_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = f"--modelFile={folder / 'net.onnx'}", tmp_path / "secret.ms"
    for flags in ([FLAG], [FLAG.upper().replace("ENCRYPTKEY", "encryptKey"), "--encryption=true"]):
        assert run(capsys, source, f"--outputFile={out}", *flags)[0] == 0
        assert [path.name for path in tmp_path.iterdir()] == ["secret.ms"]
        assert out.stat().st_mode & 0o777 == 0o400
        (block,) = opened(out.read_bytes())
        assert block.text == (folder / "plain.ms").read_bytes()
        with pytest.raises(InvalidTag):
            opened(out.read_bytes(), KEY[::-1])
    model = mslite.Model()
    model.build_from_file(out, mslite.ModelType.MINDIR_LITE, dec_key=KEY)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(np.ones((1, 6, 5, 2), np.float32))
    assert np.isfinite(model.predict(inputs)[0].get_data_to_numpy()).all()


def test_no_key_no_encryption(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "net.ms"
    for flags, warned in ((["--encryption=true"], True), (["--encryption=false", FLAG], False), ([], False)):
        status, said = run(capsys, f"--modelFile={folder / 'net.onnx'}", f"--outputFile={out}", *flags)
        assert status == 0
        assert ("--encryption=true without --encryptKey: the result is not encrypted" in said) == warned
        assert out.read_bytes() == (folder / "plain.ms").read_bytes()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--encryptKey=0123"], "encryptKey must be 32 hexadecimal digits"),
        ([f"--encryptKey={DIGITS}00"], "encryptKey must be 32 hexadecimal digits"),
        ([f"--encryptKey={DIGITS[:-1]}g"], "encryptKey must be 32 hexadecimal digits"),
        ([f"--decryptKey={DIGITS}00"], "decryptKey must be 32, 48 or 64 hexadecimal digits"),
        (["--encryption=maybe"], "encryption must be true|false"),
        (["--decryptMode=SM4-CBC"], "decryptMode must be AES-GCM|AES-CBC"),
        ([FLAG, "--saveType=MINDIR"], "encryptKey applies to .ms files, not to saveType=MINDIR"),
        ([FLAG, "--digest=on"], "digest is for unencrypted files"),
        ([f"--decryptKey={DIGITS}"], "decryptKey is for MINDIR and MSLITE models; this is a ONNX model"),
        ([f"encryptKey={DIGITS}"], "flag encryptKey=... is not valid"),
        ([f"--encryptkey={DIGITS}"], "Did you mean --encryptKey"),
    ],
)
def test_wrong_usage(
    folder: Path, tmp_path: Path, flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = run(capsys, f"--modelFile={folder / 'net.onnx'}", f"--outputFile={tmp_path / 'net'}", *flags)
    assert status == 2
    assert message in said
    assert not list(tmp_path.iterdir())


def test_encrypted_mindir_sources(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys of all lengths, both modes: the result is that of the plain file."""
    text = (folder / "plain.mindir").read_bytes()
    source, out = tmp_path / "source.mindir", tmp_path / "net.ms"
    assert run(capsys, f"--modelFile={folder / 'plain.mindir'}", f"--outputFile={out}")[0] == 0
    expected = out.read_bytes()
    out.unlink()
    for key in LONG_KEYS:
        other = (key[:-1] + b"x").hex()
        for mode, content in (("AES-GCM", gcm_file(text, key, (100,))), ("AES-CBC", cbc_block(text, key))):
            source.write_bytes(content)
            flags = [f"--modelFile={source}", f"--outputFile={out}", f"--decryptMode={mode}", "--fmk=MINDIR"]
            assert run(capsys, *flags, f"--decryptKey={key.hex()}")[0] == 0
            assert out.read_bytes() == expected
            out.unlink()
            for said in (
                run(capsys, *flags, f"--decryptKey={other}"),
                run(capsys, *flags),
                run(capsys, flags[0], flags[1], f"--decryptKey={key.hex()}") if mode == "AES-CBC" else (1, "encrypt"),
            ):
                assert said[0] != 0
                assert "crypt" in said[1]
                assert not out.exists()
    source.write_bytes(text)
    status, said = run(capsys, f"--modelFile={source}", f"--outputFile={out}", f"--decryptKey={DIGITS}")
    assert status == 1
    assert "a key is given, but the file is not encrypted" in said


def test_data_files_beside_a_mindir_model_have_the_same_key(tmp_path: Path) -> None:
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    proto = ModelProto(ir_version="0.1.0", producer_name="MindSpore", model_version="1.8.0")
    graph = proto.graph
    graph.name = "net"
    info = graph.input.add(name="x")
    info.tensor.add(data_type=1, dims=[4, 2], name="x")
    tensor = graph.parameter.add(name="net:w", data_type=1, dims=[2, 3])
    tensor.external_data.location, tensor.external_data.offset, tensor.external_data.length = "data_0", 64, 24
    node = graph.node.add(name="m", op_type="MatMul", input=["x", "net:w"], output=["y"])
    del node
    output = graph.output.add(name="y")
    output.tensor.add(data_type=1, dims=[4, 3], name="y")
    data = bytes([1]) + bytes(63) + weights.tobytes()
    for folder, sealed in (("plain", lambda text: text), ("secret", gcm_file)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.mindir").write_bytes(sealed(proto.SerializeToString()))
        (tmp_path / folder / "data_0").write_bytes(sealed(data))
    plain = Options(tmp_path / "plain" / "net.mindir", tmp_path / "plain" / "net", framework=FmkType.MINDIR)
    secret = Options(
        tmp_path / "secret" / "net.mindir",
        tmp_path / "secret" / "net",
        framework=FmkType.MINDIR,
        encryption=Encryption(decrypt_key=KEY),
    )
    convert(plain)
    convert(secret)
    assert (tmp_path / "secret" / "net.ms").read_bytes() == (tmp_path / "plain" / "net.ms").read_bytes()
    (tmp_path / "secret" / "data_0").write_bytes(gcm_file(data)[:-1])
    with pytest.raises(ConversionError, match=r"data_0.*cut off"):
        convert(secret)


def test_encrypted_ms_sources(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "secret.ms", tmp_path / "again.ms"
    source.write_bytes(gcm_file((folder / "plain.ms").read_bytes(), LONG_KEYS[2]))
    flags = [f"--modelFile={source}", f"--outputFile={out}"]
    assert run(capsys, *flags, f"--decryptKey={LONG_KEYS[2].hex()}", FLAG)[0] == 0
    assert opened(out.read_bytes())[0].text == (folder / "plain.ms").read_bytes()
    out.unlink()
    status, said = run(capsys, *flags)
    assert status == 1
    assert "the file is encrypted (AES-GCM). Give its key with --decryptKey" in said
    assert show([str(source)]) == 1
    assert "the file is encrypted (AES-GCM)" in capsys.readouterr().err


def test_infer_and_verify_read_the_encrypted_result(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [f"--modelFile={folder / 'net.onnx'}", f"--outputFile={tmp_path / 'net'}", FLAG, "--infer=true"]
    assert run(capsys, *flags)[0] == 0
    status, said = run(capsys, *flags, "--verify")
    assert status == 0
    assert "verify      output" in said


def test_converter_api(folder: Path, tmp_path: Path) -> None:
    converter = mslite.Converter()
    assert converter.enable_encryption  # as in MindSpore Lite's builds that can
    converter.encrypt_key = DIGITS
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(tmp_path / "secret"))
    text = (folder / "plain.ms").read_bytes()
    (block,) = opened((tmp_path / "secret.ms").read_bytes())
    assert load(tmp_path / "secret.ms", lambda content, name: block.text).main.inputs
    converter.enable_encryption = False
    converter.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(tmp_path / "plain"))
    assert load(tmp_path / "plain.ms").main.inputs
    assert DIGITS not in str(converter)
    assert DIGITS not in repr(converter.report)

    (tmp_path / "source.mindir").write_bytes(cbc_block((folder / "plain.mindir").read_bytes()))
    back = mslite.Converter()
    back.decrypt_key = DIGITS
    back.decrypt_mode = "AES-CBC"
    back.convert(mslite.FmkType.MINDIR, str(tmp_path / "source.mindir"), str(tmp_path / "back"))
    assert (tmp_path / "back.ms").is_file()

    wrong = mslite.Converter()
    wrong.encrypt_key = DIGITS + "0"
    with pytest.raises(RuntimeError, match="encryptKey must be 32 hexadecimal digits") as caught:
        wrong.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(tmp_path / "none"))
    assert DIGITS not in str(caught.value)
    keyless = mslite.Converter()
    keyless.enable_encryption = True
    with pytest.warns(UserWarning, match="the result is not encrypted"):
        keyless.convert(mslite.FmkType.ONNX, str(folder / "net.onnx"), str(tmp_path / "keyless"))
    assert len(text) > 0


def test_keys_are_no_part_of_what_options_print() -> None:
    options = Options(Path("a"), Path("b"), encryption=Encryption(KEY, KEY))
    assert "0123456789" not in repr(options)


def test_what_does_not_fit_into_one_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A side file would not be encrypted."""
    monkeypatch.setattr("mslite.converter.mindir.ms_writer.SIDE_FILE_LIMIT", 100)
    module = load(folder / "plain.ms")
    with pytest.raises(ValueError, match="2 GiB"):
        save_sealed(module, tmp_path / "net.ms", lambda content: content)
    options = Options(folder / "net.onnx", tmp_path / "net", framework=FmkType.ONNX, encryption=Encryption(KEY))
    with pytest.raises(ConversionError, match="Leave out --encryptKey"):
        convert(options)
    assert not list(tmp_path.iterdir())


def test_other_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.mindir"
    for mark, words in ((CBC, "--decryptMode=AES-CBC"), (SM4, "SM4-CBC, which is not supported")):
        path.write_bytes(struct.pack("<I", mark) + bytes(64))
        status, said = run(capsys, f"--modelFile={path}", f"--outputFile={tmp_path / 'e'}")
        assert status == 3
        assert words in said


@pytest.mark.nonconforming("it says that it is obfuscated")
def test_obfuscated_files_are_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mslite.converter.mindir.ms_reader import read_ms
    from mslite.converter.mindir.ms_writer import write_ms

    for number, fields in enumerate(({"obfMetaData": b"secret"}, {"obfuscate": True})):
        meta = read_ms(folder / "plain.ms")
        for name, value in fields.items():
            setattr(meta, name, value)
        path = tmp_path / f"obfuscated{number}.ms"
        write_ms(meta, path)
        status, said = run(capsys, f"--modelFile={path}", f"--outputFile={tmp_path / 'out'}")
        assert status == 1
        assert "obfuscated (obfMetaData)" in said
        with pytest.raises(RuntimeError, match=r"obfuscated \(obfMetaData\)"):
            mslite.Model().build_from_file(path, mslite.ModelType.MINDIR_LITE)
