"""Damaged NumPy files end in one error, wherever they are read."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.sparse.trials import read_samples
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.numpy_file import NumpyFileError, read_numpy
from mslite.converter.verify.inputs import given_inputs
from mslite.quantizer.calibration.sources import calibration_data
from mslite.quantizer.settings import quantizer_settings

VALUES = np.arange(40, dtype=np.float32).reshape(4, 10)


def written(suffix: str) -> bytes:
    file = io.BytesIO()
    if suffix == ".npy":
        np.save(file, VALUES)
    else:
        np.savez_compressed(file, x=VALUES, y=VALUES[:, :3])
    return file.getvalue()


def damaged(content: bytes) -> Iterator[bytes]:
    """Cut, with other bits, and with bytes that headers are made of."""
    draw = random.Random(1)
    for length in range(0, len(content), 7):
        yield content[:length]
    for at in range(len(content)):
        for byte in (content[at] ^ 1 << draw.randrange(8), *draw.sample(b"\0\xff({[,'\"#\\\n019-<>OVUMfi8", 4)):
            yield content[:at] + bytes([byte]) + content[at + 1 :]


@pytest.mark.filterwarnings("ignore")  # NumPy's of what it reads
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_every_damage_is_one_error(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data{suffix}"
    errors = 0
    for content in damaged(written(suffix)):
        path.write_bytes(content)
        try:
            read_numpy(path)
        except (NumpyFileError, ConversionError):
            errors += 1
    assert errors > 100
    path.write_bytes(written(suffix))
    read = read_numpy(path)
    assert np.array_equal(read["x"] if isinstance(read, dict) else read, VALUES)


def test_what_is_in_an_archive_is_arrays(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("x", b"not an array")
    with pytest.raises(NumpyFileError, match="not an array"):
        read_numpy(tmp_path / "text.npz")


HEADERS = [
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 10",  # the tokenizer misses the end
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 10), }}",
    b"{'descr': [], 'fortran_order': False, 'shape': (4, 10), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776), }",
    b"{'descr': '|O', 'fortran_order': False, 'shape': (4, 10), }",
]


def header_file(header: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + VALUES.tobytes()


def archive_with_damage() -> bytes:
    """A member whose compressed bytes are none (`zlib.error`)."""
    content = bytearray(written(".npz"))
    name = int.from_bytes(content[26:28], "little") + int.from_bytes(content[28:30], "little")
    content[30 + name] ^= 0x07  # the kind of the first block
    return bytes(content)


@pytest.mark.parametrize("content", [*map(header_file, HEADERS), archive_with_damage()])
def test_who_reads_them_names_the_file(content: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    path = folder / ("data.npz" if content.startswith(b"PK") else "data.npy")
    path.write_bytes(content)
    value = Value("x", DataType.FLOAT32, (4, 10))
    settings = quantizer_settings(
        {
            "common_quant_param": {"quant_type": "FULL_QUANT"},
            "data_preprocess_param": {"calibrate_path": f"x:{folder}", "calibrate_size": "1", "input_type": "NPY"},
        }
    )
    with pytest.raises(ConversionError, match="data"):
        list(calibration_data(None, [value], settings.data))
    with pytest.raises(ConversionError, match="data"):
        given_inputs(str(path), [value])
    with pytest.raises(ConversionError, match="data"):
        read_samples(path)


def test_an_archive_is_no_input_of_a_comparison(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=VALUES)
    with pytest.raises(ConversionError, match="several arrays"):
        given_inputs(str(tmp_path / "data.npz"), [Value("x", DataType.FLOAT32, (4, 10))])
