"""`--compress`: constants unpacked when their layer runs give the same bits, take less flash, and no more memory than said."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mslite.codegen import sources
from mslite.codegen.compress import compressed
from mslite.codegen.compress.encode import BLOCK, NIBBLES, RAW, SPARSE, Encoded, best, encode, form_bytes
from mslite.codegen.compress.layers import STATIC, sign_fields
from mslite.codegen.emit import EmitOptions, emit_cores
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.lowering import lower_ms
from mslite.codegen.lowering.read_model import as_ms
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.program import Program, Step
from mslite.codegen.targets import STRICT_OPTIONS, target_named

from .generated import Compiled, Reference, by_chance, difference
from .networks import autoencoder, keywords, resnet8

FOUR_BITS = resnet8(largest=7)
SPARSE_WEIGHTS = resnet8(density=0.1)


def _decoded(encoded: Encoded) -> bytes:
    """The bytes again, by the description of the form alone."""
    data, values = encoded.data, []
    for form in encoded.forms:
        if form == RAW:
            values.append(np.frombuffer(data[:BLOCK], np.int8))
            data = data[BLOCK:]
            continue
        present = np.ones(BLOCK, bool)
        if form >= SPARSE:
            present = np.unpackbits(np.frombuffer(data[:2], np.uint8), bitorder="little").astype(bool)
            data = data[2:]
        count = int(present.sum())
        block = np.zeros(BLOCK, np.int16)
        if form == SPARSE:
            block[present] = np.frombuffer(data[:count], np.int8)
            data = data[count:]
        else:
            halves = np.array([(byte & 15, byte >> 4) for byte in data[: (count + 1) // 2]]).reshape(-1, 2)
            if form == NIBBLES:
                halves = halves.reshape(2, 4, 2).transpose(0, 2, 1)
            block[present] = halves.reshape(-1)[:count] - 8
            data = data[(count + 1) // 2 :]
        block = (block + encoded.base).astype(np.int8)
        if encoded.borrows:
            block[1::2] -= block[::2] < 0
        values.append(block)
    assert not data
    return b"".join(block.tobytes() for block in values)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_is_lost(data: st.DataObject) -> None:
    low, high = data.draw(st.sampled_from([(-128, 127), (-8, 7), (-128, -113), (0, 15), (-1, 1)]))
    size = data.draw(st.integers(0, 200))
    plain = np.array(data.draw(st.lists(st.integers(low, high), min_size=size, max_size=size)), np.int8)
    plain[np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)] = 0
    filled = plain.tobytes() + bytes(-size % BLOCK)
    for encoded in (encode(plain.tobytes(), False), encode(plain.tobytes(), True), best(plain.tobytes())):
        assert _decoded(encoded) == filled


@pytest.mark.parametrize("offset", [0, 8, -120])
def test_four_bits_take_half(offset: int) -> None:
    values = np.random.default_rng(1).integers(-8, 8, 4096) + offset
    encoded = best(values.astype(np.int8).tobytes())
    assert encoded.size <= 4096 // 2 + 4096 // 64


def test_pairs_of_the_dsp_kernels_take_half() -> None:
    odd, even = np.random.default_rng(1).integers(-8, 8, (2, 4096))
    encoded = best((256 * odd + even).astype("<i2").tobytes())
    assert encoded.borrows
    assert encoded.size <= 8192 // 2 + 8192 // 64


def test_bytes_by_chance_stay_raw() -> None:
    encoded = best(np.random.default_rng(1).bytes(4096))
    assert encoded.size <= 4096 * 65 // 64


_SHIM = """
#include <string.h>
#include "compressed.c"
static void copy(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  memcpy(run->outputs[0], run->inputs[0], *(const size_t *)run->derived);
}
void unpack_all(const void *data, void *memory, void *to, size_t size, int32_t forms_size) {
  const void *inputs[] = {data};
  void *outputs[] = {to};
  const mslite_compressed own = {.run = copy, .numbers = &size, .last_numbers = &size, .parts = {1}, .tiles = 1,
      .last_blocks = (int32_t)(size / 16), .forms_size = forms_size, .input_count = 1, FIELDS};
  const mslite_run run = {.derived = &own, .inputs = inputs, .outputs = outputs, .scratch = memory};
  mslite_compressed_run(&run, 0, 0);
}
"""


@pytest.mark.parametrize(("borrows", "base"), [(False, 0), (True, 0), (False, 8), (False, -120)])
def test_c_unpacks_the_same(borrows: bool, base: int, tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    parts = [
        chance.integers(-8, 8, 960) + base,
        chance.integers(-128, 128, 960),
        chance.integers(-128, 128, 960) * (chance.random(960) < 0.1),
        chance.integers(-8, 8, 960) * (chance.random(960) < 0.2),
    ]
    data = np.concatenate(parts).astype(np.int8).tobytes()
    encoded = encode(data, borrows, base)
    assert base or set(encoded.forms) == {0, 1, 2, 3}
    for name, text in sources.kernel_files([], "scalar").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "compressed").mkdir()
    for path in STATIC.iterdir():
        shutil.copy(path, tmp_path / "compressed")
    shim = tmp_path / "compressed" / "shim.c"
    shim.write_text(_SHIM.replace("FIELDS", sign_fields(encoded)))
    command = ["gcc", "-std=c99", *STRICT_OPTIONS, "-shared", "-fPIC", "-o", str(tmp_path / "shim.so"), str(shim)]
    subprocess.run(command, check=True)
    memory, found = np.zeros((2, len(data)), np.uint8)
    forms = form_bytes(encoded.forms)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (memory, found)]
    ctypes.CDLL(str(tmp_path / "shim.so")).unpack_all(
        forms + encoded.data, *pointers, ctypes.c_size_t(len(data)), ctypes.c_int32(len(forms))
    )
    assert found.tobytes() == data


def _programs(model: bytes, target: str, folder: Path, memory: MemoryOptions) -> tuple[Path, Program, Program]:
    """The `.ms` file, the plain program, and the compressed one."""
    path = folder / "model.tflite"
    path.write_bytes(model)
    chosen = target_named(target)
    with as_ms(path, {}) as converted:
        kept = folder / "model.ms"
        shutil.copy(converted, kept)
    again = lower_ms(kept, chosen)
    return kept, lower_ms(kept, chosen), compressed(again, memory, chosen.is_micro)


def _check(model: bytes, target: str, folder: Path, memory: MemoryOptions | None = None) -> tuple[int, int, Program]:
    """Compares what both compute with the runtime; bytes of constants before and after, and the compressed program."""
    memory = memory or MemoryOptions()
    path, plain, small = _programs(model, target, folder, memory)
    plans = [plan_memory(program, memory) for program in (plain, small)]
    cores = [
        emit_cores([(program, plan)], EmitOptions(weights_in_file=not target_named(target).is_micro))[0]
        for program, plan in zip((plain, small), plans, strict=True)
    ]
    compiled = Compiled(cores[1], folder / "core")
    reference = Reference(path, plain)
    for seed in range(3):
        inputs = by_chance(plain, seed)
        assert difference(reference.run(inputs), compiled.run([array.copy() for array in inputs])) == 0
    return cores[0].constants_size, cores[1].constants_size, small


def _notes(program: Program) -> list[str]:
    return [step.note for step in program.steps if isinstance(step, Step) and step.call is not None]


@pytest.mark.parametrize("target", ["x86", "cortex-m3", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("kind", ["four bits", "sparse"])
def test_the_same_bits_in_less_flash(kind: str, target: str, tmp_path: Path) -> None:
    before, after, program = _check(FOUR_BITS if kind == "four bits" else SPARSE_WEIGHTS, target, tmp_path)
    assert after < before * (0.62 if kind == "four bits" else 0.36)
    expected = "4 bits" if kind == "four bits" else "sparse"
    found = [note.startswith(expected) for note in _notes(program)]
    # Where kernels widen weights to 16 bits, the upper bytes are mostly zero.
    assert any(found) if target == "x86" else found and all(found)


@pytest.mark.parametrize("target", ["x86", "cortex-m4"])
def test_int4_of_tensorflow_lite_takes_half(target: str, tmp_path: Path) -> None:
    model = resnet8(largest=7, packed=True)
    assert len(model) < len(FOUR_BITS) * 0.7
    before, after, _ = _check(model, target, tmp_path)
    assert after < before * 0.62


def test_memory_does_not_grow_where_tiles_can_help(tmp_path: Path) -> None:
    memory = MemoryOptions()
    _, plain, small = _programs(FOUR_BITS, "cortex-m4", tmp_path, memory)
    assert plan_memory(small, memory).size == plan_memory(plain, memory).size
    tiled = [note for note in _notes(small) if "channels at a time" in note]
    assert tiled, "some layer has more weights than there is room for"
    for step in small.steps:
        if step.call is not None:
            assert step.scratch_size >= 16
            assert step.call.plain_constants is not None


def test_memory_grows_only_for_eight_times_as_much_flash(tmp_path: Path) -> None:
    before, after, program = _check(autoencoder(largest=7), "cortex-m4", tmp_path)
    _, plain, _ = _programs(autoencoder(largest=7), "cortex-m4", tmp_path, MemoryOptions())
    grown = plan_memory(program, MemoryOptions()).size - plan_memory(plain, MemoryOptions()).size
    assert 0 < grown * 8 <= before - after


def test_the_same_bits_some_rows_at_a_time(tmp_path: Path) -> None:
    _check(FOUR_BITS, "cortex-m4", tmp_path, MemoryOptions().least())


def test_weights_by_chance_stay_as_they_are(tmp_path: Path) -> None:
    _, plain, program = _programs(keywords(), "cortex-m4", tmp_path, MemoryOptions())
    assert not _notes(program)
    assert [step.kernel for step in program.steps] == [step.kernel for step in plain.steps]


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "arm64"])
def test_projects(target: str, tmp_path: Path) -> None:
    """Built and run for the target; the report says what each layer spares."""
    chosen = target_named(target)
    for program in (chosen.compiler, "qemu-system-arm" if chosen.is_micro else chosen.emulator[0]):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    model = tmp_path / "model.tflite"
    model.write_bytes(FOUR_BITS)
    folder = tmp_path / "project"
    generate([Source(model)], GenerateSettings(chosen, folder, compress=True, measure=False))
    done = subprocess.run(
        ["make", "-s", "-C", str(folder), "test"], capture_output=True, text=True, timeout=600, check=False
    )
    assert "2 of 2 cases as recorded" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]
    layers = json.loads((folder / "report.json").read_text())["models"][0]["layers"]
    spared = [layer for layer in layers if layer["plain_constants"] is not None]
    assert spared
    for layer in spared:
        assert layer["constants"] < layer["plain_constants"]
        assert layer["more_instructions"] > 0
