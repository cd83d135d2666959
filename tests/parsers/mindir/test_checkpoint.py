"""Checkpoints in place of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import FmkType, Options


def _ckpt() -> bytes:
    """As mindspore.save_checkpoint writes it: value {tag, tensor {dims, tensor_type, tensor_content}}."""
    tensor = b"\x08\x02\x12\x07Float32\x1a\x08" + bytes(8)
    value = b"\x0a\x08c.weight\x12" + bytes([len(tensor)]) + tensor
    return b"\x0a" + bytes([len(value)]) + value


def _safetensors() -> bytes:
    header = b'{"c.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    return len(header).to_bytes(8, "little") + header + bytes(8)


@pytest.mark.parametrize(("name", "content"), [("net.ckpt", _ckpt()), ("net.safetensors", _safetensors())])
@pytest.mark.parametrize("fmk", [None, FmkType.MINDIR])
def test_checkpoint(name: str, content: bytes, fmk: FmkType | None, tmp_path: Path) -> None:
    """The message has the lines that make a model of it."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConversionError) as caught:
        convert(Options(path, tmp_path / "out.ms", fmk))
    assert "no network" in str(caught.value)
    assert f'ms.load_checkpoint("{name}"' in str(caught.value)
    assert 'ms.export(network, x, file_name="net", file_format="MINDIR")' in str(caught.value)
