"""Encrypted models: what is read, and that everything else is one clear error."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite import _native
from mslite.converter import cli
from tests.converter.onnx_models import small_network
from tests.runtime.encrypted_files import CBC, HEAD, KEY, LONG_KEYS, SM4, cbc_block, gcm_block, gcm_file, opened

BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).resolve().parents[2] / "build"))
BENCHMARK = BUILD / "benchmark" / "benchmark"
INPUT = np.linspace(-1, 1, 60, dtype=np.float32).reshape(1, 6, 5, 2)
OTHER_KEY = KEY[:-1] + b"0"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    path = small_network(folder / "net.onnx")
    assert cli.main([f"--modelFile={path}", f"--outputFile={folder / 'plain'}"]) == 0
    return folder / "plain.ms"


def result(path: Path, key: bytes | None = None, mode: str = "AES-GCM") -> np.ndarray:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE, dec_key=key, dec_mode=mode)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(INPUT)
    return model.predict(inputs)[0].get_data_to_numpy()


def refusal(path: Path, key: bytes | None, mode: str = "AES-GCM") -> str:
    """What is said of the file; the key is never part of it."""
    with pytest.raises(RuntimeError) as caught:
        mslite.Model().build_from_file(path, mslite.ModelType.MINDIR_LITE, dec_key=key, dec_mode=mode)
    message = str(caught.value)
    assert "\n" not in message
    if key is not None:
        assert key.decode("latin-1") not in message
        assert key.hex() not in message.lower()
    return message


@pytest.mark.parametrize("key", LONG_KEYS, ids=len)
@pytest.mark.parametrize("sizes", [(), (1,), (16,), (1000, 17, 1), (0, 5)], ids=str)
def test_files_of_another_library_run(plain: Path, tmp_path: Path, key: bytes, sizes: tuple[int, ...]) -> None:
    """All three lengths of keys; one block, several, blocks of one byte and of none."""
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(plain.read_bytes(), key, sizes))
    np.testing.assert_array_equal(result(secret, key), result(plain))
    assert "the key is wrong" in refusal(secret, key[:-1] + b"\0")


@pytest.mark.parametrize("size", [1, 15, 16, 17, 4095, 1 << 16])
def test_our_files_open_with_another_library(size: int) -> None:
    text = random.Random(size).randbytes(size)
    (block,) = opened(_native.encrypt(text, KEY))
    assert block.text == text
    assert _native.decrypt(gcm_file(text, KEY, (size // 2,)), KEY, "AES-GCM", "x") == text


def test_blocks_have_64_mib_and_an_iv_each() -> None:
    block = 64 << 20
    text = bytes(1 << 20) * 64 + b"the rest"
    file = _native.encrypt(text, KEY)
    found = opened(file)
    assert [len(one.text) for one in found] == [block, 8]
    assert b"".join(one.text for one in found) == text
    assert found[0].iv != found[1].iv
    assert _native.decrypt(file, KEY, "AES-GCM", "x") == text
    assert [len(one.text) for one in opened(_native.encrypt(text[:block], KEY))] == [block]


def test_no_two_files_are_equal() -> None:
    files = [_native.encrypt(b"the same", KEY) for _ in range(20)]
    assert len({opened(file)[0].iv for file in files}) == len(set(files)) == 20


def test_a_file_that_is_cut_off(plain: Path, tmp_path: Path) -> None:
    """At every field, in every cipher, and between two blocks."""
    text = plain.read_bytes()
    whole, first = gcm_file(text, KEY, (200,)), HEAD + 200
    path = tmp_path / "cut.ms"
    places = {*range(60), *range(first - 2, first + HEAD + 4), *range(first + HEAD, len(whole), 501), len(whole) - 1}
    for size in sorted(places - {0}):
        path.write_bytes(whole[:size])
        message = refusal(path, KEY)
        if size < 4:
            assert "a key is given, but the file is not encrypted" in message
        elif size != first:  # behind the first block the model is cut off, not the file
            assert "cut off" in message or "does not begin with a block mark" in message, size
        else:
            assert "cut.ms" in message


def test_a_file_that_was_changed(plain: Path, tmp_path: Path) -> None:
    """Each byte of the fields of both blocks, and bytes of the cipher."""
    whole = gcm_file(plain.read_bytes(), KEY, (200,))
    path = tmp_path / "changed.ms"
    for place in [*range(HEAD + 4), *range(HEAD + 200, 2 * HEAD + 204), *range(2 * HEAD + 204, len(whole), 397)]:
        for bit in (1, 128):
            changed = bytearray(whole)
            changed[place] ^= bit
            path.write_bytes(changed)
            message = refusal(path, KEY)
            assert "changed.ms" in message
            expected = r"the file was changed|is damaged|not encrypted|encrypted with AES-CBC"
            assert any(words in message for words in expected.split("|")), (place, message)
    path.write_bytes(whole)
    np.testing.assert_array_equal(result(path, KEY), result(plain))


def test_random_edits(plain: Path, tmp_path: Path) -> None:
    """Whatever is done to a file, it is an error, and a message."""
    whole = gcm_file(plain.read_bytes()[:2000], KEY, (300, 40))
    rng = random.Random(1)
    for _ in range(3000):
        changed = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(changed))
            match rng.randrange(4):
                case 0:
                    changed[at] = rng.randrange(256)
                case 1:
                    del changed[at : at + rng.randrange(60)]
                case 2:
                    changed[at:at] = rng.randbytes(rng.randrange(60))
                case _:
                    changed[at : at + 4] = struct.pack("<I", rng.choice((0, 16, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)))
            changed = changed or bytearray(b"x")
        if changed != whole:
            try:
                text = _native.decrypt(bytes(changed), KEY, "AES-GCM", "x")
            except RuntimeError:
                continue
            assert text in (plain.read_bytes()[:300], plain.read_bytes()[:340])  # cut off between two blocks


@pytest.mark.parametrize("rest", [0, 23, 26, 1 << 31, (1 << 32) - 1])
@pytest.mark.parametrize("size", [0, 1, 1 << 31, (1 << 32) - 25, (1 << 32) - 24, (1 << 32) - 1])
def test_lengths_that_overflow(tmp_path: Path, rest: int, size: int) -> None:
    path = tmp_path / "odd.ms"
    path.write_bytes(struct.pack("<I16sII16sI", 0x7F3A5ED8, bytes(16), rest, 16, bytes(16), size) + bytes(100))
    message = refusal(path, KEY)
    assert "encrypted block 0: " in message
    path.write_bytes(struct.pack("<I16sII16sI", 0x7F3A5ED8, bytes(16), (24 + size) & 0xFFFFFFFF, 16, bytes(16), size))
    assert "odd.ms" in refusal(path, KEY)


def test_without_a_key_or_with_one_for_nothing(plain: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(plain.read_bytes()))
    assert "it is encrypted (AES-GCM); give its key" in refusal(secret, None)
    assert "a key is given, but the file is not encrypted" in refusal(plain, KEY)
    for mark, mode in ((CBC, "AES-CBC"), (SM4, "SM4-CBC")):
        secret.write_bytes(struct.pack("<I", mark) + bytes(100))
        assert f"it is encrypted ({mode})" in refusal(secret, None)
        assert f"it is encrypted with {mode}" in refusal(secret, KEY)


def test_modes(plain: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(plain.read_bytes()))
    assert "decryption mode AES-CBC is not supported for .ms models" in refusal(secret, KEY, "AES-CBC")
    assert "decryption mode SM4-CBC is not supported" in refusal(secret, KEY, "SM4-CBC")
    assert "unknown decryption mode 'aes'" in refusal(secret, KEY, "aes")


def test_keys_that_are_none(plain: Path) -> None:
    model = mslite.Model()
    for key in (b"", b"short", KEY + b"0", KEY * 3):
        with pytest.raises(ValueError, match="16, 24 or 32 bytes"):
            model.build_from_file(plain, mslite.ModelType.MINDIR_LITE, dec_key=key)
    with pytest.raises(TypeError, match="dec_key must be bytes"):
        model.build_from_file(plain, mslite.ModelType.MINDIR_LITE, dec_key=KEY.decode())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="dec_mode must be str"):
        model.build_from_file(plain, mslite.ModelType.MINDIR_LITE, dec_key=KEY, dec_mode=None)  # type: ignore[arg-type]


def test_what_was_opened_is_not_shared(plain: Path, tmp_path: Path) -> None:
    """A model that lives opens the file for nobody else."""
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(plain.read_bytes()))
    model = mslite.Model()
    model.build_from_file(secret, mslite.ModelType.MINDIR_LITE, dec_key=KEY)
    assert "give its key" in refusal(secret, None)
    assert "the key is wrong" in refusal(secret, OTHER_KEY)


def test_aes_cbc(tmp_path: Path) -> None:
    """Of MINDIR files; the last block's padding goes."""
    for text in (b"", b"a", bytes(16), bytes(range(100))):
        file = cbc_block(text) + cbc_block(text[:7])
        assert _native.decrypt(file, KEY, "AES-CBC", "x") == text + text[:7]
    for changed in (file[:-1], file[:-16], file + b"\0", file[:40] + cbc_block(b"")[40:], gcm_block(b"a")):
        with pytest.raises(RuntimeError, match=r"damaged|expected|changed"):
            _native.decrypt(changed, KEY, "AES-CBC", "x")


def test_a_side_file_is_not_covered(plain: Path, tmp_path: Path) -> None:
    from mslite.converter.mindir.module_io import load, save

    files = save(load(plain), tmp_path / "net.ms", side_file_limit=1)
    assert len(files) == 2
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(files[0].read_bytes()))
    assert "'net.msw', which the encryption of the model does not cover" in refusal(secret, KEY)


@pytest.mark.skipif(not BENCHMARK.is_file(), reason="benchmark was not built")
def test_benchmark(plain: Path, tmp_path: Path) -> None:
    secret, page = tmp_path / "secret.ms", tmp_path / "page.html"
    secret.write_bytes(gcm_file(plain.read_bytes(), LONG_KEYS[2]))
    digits = LONG_KEYS[2].hex()
    for flags, status, said in (
        ([f"--decryptKey={digits}", f"--htmlFile={page}"], 0, "Run Benchmark secret.ms Success."),
        ([f"--decryptKey={digits.upper()}", "--cryptoLibPath=libcrypto.so.3"], 0, "Success."),
        ([], 1, "it is encrypted (AES-GCM); give its key"),
        ([f"--decryptKey={digits[:32]}"], 1, "the key is wrong"),
        ([f"--decryptKey={digits}", "--cryptoLibPath=/absent.so"], 1, "'/absent.so' cannot be loaded"),
        ([f"--decryptKey={digits}0"], 2, "expected 32, 48 or 64 hexadecimal digits"),
        ([f"--decryptKey={'x' * 32}"], 2, "expected 32, 48 or 64 hexadecimal digits"),
        (["--cryptoLibPath=libcrypto.so"], 2, "--cryptoLibPath needs --decryptKey"),
        ([f"--decryptkey={digits}"], 2, "--decryptkey=... is not a valid flag; did you mean --decryptKey?"),
        ([f"-decryptKey={digits}"], 2, "'-decryptKey=...' is not a flag"),
    ):
        command = [BENCHMARK, f"--modelFile={secret}", "--loopCount=1", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done.stderr
        assert said in done.stdout + done.stderr
        assert digits[:32] not in done.stdout + done.stderr
    assert f"--decryptKey={'*' * 64}" in page.read_text()
    assert digits not in page.read_text()


_C_PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "include/c_api/model_c.h"

static MSContextHandle context(void) {
  MSContextHandle made = MSContextCreate();
  MSContextAddDeviceInfo(made, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  return made;
}

int main(int argc, char **argv) {
  static char bytes[1 << 20];
  FILE *file = fopen(argv[1], "rb");
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (int from_file = 0; from_file < 2; ++from_file) {
    for (int wrong = 0; wrong < 4; ++wrong) {
      MSModelHandle model = MSModelCreate();
      MSContextHandle own = context();
      char key[] = "0123456789ABCDEF";
      if (wrong == 1) key[0] = 'x';
      size_t key_size = wrong == 2 ? 15 : 16;
      const char *mode = wrong == 3 ? "AES-CBC" : from_file ? NULL : "AES-GCM";
      MSStatus status =
          from_file ? MSModelBuildFromFileWithKey(model, argv[1], kMSModelTypeMindIR, own, key, key_size, mode, NULL)
                    : MSModelBuildWithKey(model, bytes, size, kMSModelTypeMindIR, own, key, key_size, mode, "libcrypto.so.3");
      printf("%d ", status == kMSStatusSuccess              ? 0
                    : status == kMSStatusLiteGraphFileError ? 1
                    : status == kMSStatusLiteParamInvalid   ? 2
                    : status == kMSStatusLiteNotSupport     ? 3
                                                            : 9);
      if (status != kMSStatusSuccess) MSContextDestroy(&own);
      MSModelDestroy(&model);
    }
  }
  MSModelHandle model = MSModelCreate();
  MSContextHandle own = context();
  printf("%d\n", MSModelBuildWithKey(model, bytes, size, kMSModelTypeMindIR, own, NULL, 16, NULL, NULL) == kMSStatusLiteNullptr);
  MSContextDestroy(&own);
  MSModelDestroy(&model);
  return argc - 2;
}
"""


def run_program(text: str, folder: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Compiles a C program against the library and runs it."""
    compiler, library = shutil.which("gcc"), BUILD / "lite_runtime" / "libmindspore-lite.so"
    if compiler is None or not library.is_file():
        pytest.skip("there is no gcc, or no library")
    source, program = folder / "main.c", folder / "main"
    source.write_text(text)
    headers = Path(__file__).resolve().parents[2] / "lite_runtime"
    flags = [f"-I{headers}", f"-L{library.parent}", f"-Wl,-rpath,{library.parent.resolve()}", "-lmindspore-lite"]
    subprocess.run([compiler, "-std=gnu99", "-Wall", "-Werror", source, *flags, "-o", program], check=True, timeout=60)
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True)


def test_c_program(plain: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ms"
    secret.write_bytes(gcm_file(plain.read_bytes()))
    done = run_program(_C_PROGRAM, tmp_path, secret)
    assert done.stdout == "0 1 2 3 0 1 2 3 1\n"
    assert KEY.decode() not in done.stderr


_SCANNER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "include/c_api/model_c.h"

enum { kSize = 32, kChunk = 1 << 16 };
static unsigned char masked[kSize];  /* the key, so that this is no copy of it */

/* How often 16 bytes of the key, its front or its back, stand in memory that this program can write to. */
static int copies(void) {
  static unsigned char chunk[kChunk + kSize];
  int memory = open("/proc/self/mem", O_RDONLY), found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512], permissions[8];
  unsigned long begin, end;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, permissions) != 3 || permissions[1] != 'w') continue;
    for (unsigned long at = begin; at < end; at += kChunk) {
      ssize_t size = pread(memory, chunk, end - at < sizeof chunk ? end - at : sizeof chunk, (off_t)at);
      for (ssize_t i = 0; i + 16 <= size; ++i) {
        for (int half = 0; half < kSize; half += 16) {
          int k = 0;
          while (k < 16 && (chunk[i + k] ^ 0x55) == masked[half + k]) ++k;
          found += k == 16;
        }
      }
      memset(chunk, 0, sizeof chunk);
    }
  }
  fclose(maps);
  close(memory);
  return found;
}

int main(int argc, char **argv) {
  unsigned char key[kSize];
  int file = open(argv[2], O_RDONLY);
  if (read(file, key, kSize) != kSize) return 1;
  close(file);
  for (int i = 0; i < kSize; ++i) masked[i] = key[i] ^ 0x55;
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  int before = copies();
  MSStatus status = MSModelBuildFromFileWithKey(model, argv[1], kMSModelTypeMindIR, context, key, kSize, NULL, NULL);
  int with_own = copies();
  memset(key, 0, kSize);
  __asm__ __volatile__("" : : "r"(key) : "memory");
  printf("%d %d %d %d\n", status == kMSStatusSuccess, before > 0, with_own <= before, copies());
  MSModelDestroy(&model);
  return argc - 3;
}
"""


def test_no_copy_of_the_key_stays_in_memory(plain: Path, tmp_path: Path) -> None:
    """Neither ours nor OpenSSL's: a program looks through its own memory. It finds its own copy, until it wipes that."""
    if not Path("/proc/self/mem").exists():
        pytest.skip("there is no /proc")
    secret, key = tmp_path / "secret.ms", tmp_path / "key"
    key.write_bytes(random.Random(7).randbytes(32))
    secret.write_bytes(gcm_file(plain.read_bytes(), key.read_bytes(), (100,)))
    assert run_program(_SCANNER, tmp_path, secret, key).stdout == "1 1 1 0\n"
