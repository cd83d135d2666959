"""Core files of generated projects: compiled here, run, compared with the runtime."""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mslite.codegen.emit.c_values import WIDTH, c_values_of, numbers_of_bytes, wrapped
from mslite.codegen.emit.names import Names, comment, short
from mslite.codegen.memory import Inputs, MemoryOptions

from . import modules
from .generated import Compiled, Reference, Settings, by_chance, difference, generate_core

MODELS = Path(__file__).resolve().parents[1] / "models"
CHECKED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all")
CALLER = MemoryOptions(inputs=Inputs.CALLER)


def compared(path: Path, folder: Path, settings: Settings | None = None, runs: int = 3) -> float:
    """The largest difference between generated C and the runtime, over some runs one after the other."""
    settings = settings or Settings(options=CHECKED)
    core = generate_core(path, "x86", settings)
    compiled = Compiled(core, folder / "project", settings)
    reference = Reference(path, core.program)
    inputs = [by_chance(core.program, seed) for seed in range(runs)]
    return max(difference(reference.run(given), compiled.run(given)) for given in inputs)


@pytest.mark.parametrize("name", ["quantized.ms", "packed.ms"])
def test_models_of_all_quantizations_give_the_runtime_s_bits(tmp_path: Path, name: str) -> None:
    assert compared(MODELS / name, tmp_path) == 0


@pytest.mark.parametrize(
    "make",
    [
        modules.floats,
        modules.normalized,
        modules.stored,
        modules.counter,
        modules.swapped,
        modules.looked_up,
        modules.passed_on,
        modules.fixed,
        modules.extreme,
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        Settings(options=CHECKED),
        Settings(CALLER, weights_in_file=True, options=CHECKED),
        Settings(MemoryOptions().least(), options=CHECKED),
        Settings(replace(CALLER, overlap=False), threads=3, options=CHECKED),
    ],
    ids=["arena", "caller", "least", "threads"],
)  # fmt: skip
def test_generated_c_gives_the_runtime_s_bits(tmp_path: Path, make: object, settings: Settings) -> None:
    assert callable(make)
    assert compared(modules.write(make(), tmp_path), tmp_path, settings) == 0


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.parametrize("options", [("-O0",), ("-O3",)])
def test_other_compilers_and_levels_give_the_same_bits(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = modules.write(modules.stored(), tmp_path)
    assert compared(path, tmp_path, Settings(compiler="clang", options=options)) == 0


def test_rows_at_a_time_take_less_memory(tmp_path: Path) -> None:
    path = modules.write(modules.stored(size=32), tmp_path)
    whole = generate_core(path)
    least = Settings(MemoryOptions().least(), options=CHECKED)
    fused = generate_core(path, settings=least)
    assert fused.arena_size < whole.arena_size
    assert "turn" in fused.files["src/model0/net0.c"]
    assert compared(path, tmp_path, least) == 0


def test_the_same_model_gives_the_same_text(tmp_path: Path) -> None:
    path = modules.write(modules.stored(), tmp_path)
    assert generate_core(path, "cortex-m4").files == generate_core(path, "cortex-m4").files


def test_an_impossible_value_is_an_error(tmp_path: Path) -> None:
    core = generate_core(modules.write(modules.looked_up(), tmp_path))
    compiled = Compiled(core, tmp_path / "project")
    with pytest.raises(AssertionError, match="model0_run returns 5"):
        compiled.run([np.array([0, 17, 1], np.int32)])


def test_steps_show_their_outputs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSLITE_DUMP", str(tmp_path))
    settings = Settings(debug=True, options=CHECKED)
    path = modules.write(modules.stored(), tmp_path)
    core = generate_core(path, "x86", settings)
    inputs = by_chance(core.program, 1)
    outputs = Compiled(core, tmp_path / "project", settings).run(inputs)
    assert difference(Reference(path, core.program).run(inputs), outputs) == 0
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("model0 step ")]
    assert len(lines) == sum(len(step.outputs) for step in core.program.steps)
    values = outputs[0].ravel()
    assert f"min {values.min()} max {values.max()} mean {values.astype(float).mean():g}: {values[0]}" in lines[-1]
    (last,) = tmp_path.glob(f"model0_{len(lines) - 1:03}_*_0.bin")
    assert last.read_bytes() == outputs[0].tobytes()


@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m4", "cortex-m55"])
def test_packed_weights_are_fields_of_their_own(tmp_path: Path, target: str) -> None:
    """The bias of each channel, with what the zero point of the input adds, is found by its name."""
    module = modules.stored()
    core = generate_core(modules.write(module, tmp_path), target)
    header, text = core.files["src/model0/weight0.h"], core.files["src/model0/weight0.c"]
    assert " words[" not in header
    for field in ("bias", "multiplier", "shift", "weights"):
        assert re.search(rf"int(8|32)_t {field}\b", header)
    x, weight, bias = module.main.nodes[0].inputs
    assert x is not None
    assert weight is not None
    assert weight.data is not None
    assert bias is not None
    assert bias.data is not None
    sums = weight.data.astype(np.int64).reshape(weight.data.shape[0], -1).sum(axis=1)
    own = text[text.index(".conv0 = ") : text.index(".conv1 = ")]
    found = re.findall(r"\.(?:odd_)?bias = \{?([-\d,\s]+)", own)
    written = [int(number) for part in found for number in re.findall(r"-?\d+", part)]
    assert written == list(bias.data - x.quant[0].zeroPoint * sums)


def test_pointers_are_checked(tmp_path: Path) -> None:
    core = generate_core(modules.write(modules.floats(), tmp_path), settings=Settings(CALLER, weights_in_file=True))
    compiled = Compiled(core, tmp_path / "project")
    run, good = compiled.entry(by_chance(core.program, 1))
    assert run(*good) == 0
    for place in range(len(good)):
        assert run(*good[:place], None, *good[place + 1 :]) == -1
    inputs, outputs, arena, weights = good
    assert run(inputs, outputs, ctypes.c_void_p(arena.value + 4), weights) == -2
    assert run(inputs, outputs, arena, ctypes.c_void_p(weights.value + 1)) == -2
    inputs[0] = inputs[0] + 1
    assert run(inputs, outputs, arena, weights) == -2
    inputs[0] = None
    assert run(inputs, outputs, arena, weights) == -1


def test_names_of_a_model_are_harmless(tmp_path: Path) -> None:
    module = modules.stored()
    module.name = "*/ int main(void) { /*"
    for node in module.main.nodes:
        node.name = '*/\n#error "x" ??/ \\'
        for value in node.outputs:
            value.name = "a*/b\u2028c\\"
    path = modules.write(module, tmp_path)
    assert compared(path, tmp_path) == 0


@given(st.lists(st.floats(width=32)))
def test_floats_keep_their_bits(values: list[float]) -> None:
    array = np.array(values, np.float32)
    numbers = c_values_of(array)
    if numbers.ctype == "float":
        read = np.array([np.float32(text.removesuffix("f")) for text in numbers.texts], np.float32)
    else:
        read = np.array([int(text.removesuffix("u")) for text in numbers.texts], np.uint32).view(np.float32)
    assert read.tobytes() == array.tobytes()


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_have_literals(values: list[int]) -> None:
    texts = c_values_of(np.array(values, np.int64)).texts
    assert [eval(text.replace("LL", "")) for text in texts] == values
    assert all(abs(int(number)) < 2**63 for text in texts for number in re.findall(r"\d+", text.replace("LL", "")))


@given(st.binary(max_size=40))
def test_bytes_are_words_where_possible(data: bytes) -> None:
    numbers = numbers_of_bytes(data)
    code = "i" if numbers.ctype == "int32_t" else "b"
    assert struct.pack(f"<{len(numbers)}{code}", *(eval(text) for text in numbers.texts)) == data


@given(st.text())
def test_comments_end_where_they_should(text: str) -> None:
    clean = comment(text)
    assert "*/" not in clean
    assert "/*" not in clean
    assert clean.isascii()
    assert "\n" not in clean


@given(st.lists(st.text(max_size=60)))
def test_names_are_identifiers_of_their_own(texts: list[str]) -> None:
    names = Names()
    made = [names.make(text, "step") for text in texts]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"[a-z_]\w*", name, re.ASCII) for name in made)


def test_fused_layers_are_called_by_their_convolution() -> None:
    # As TensorFlow Lite's converter names a convolution, its normalization and its activation.
    parts = ["re_lu_1/Relu", "batch_normalization_1/batchnorm/add_1", "conv2d_1/Squeeze", "conv2d_1/BiasAdd"]
    parts += ["batch_normalization_1/batchnorm/mul", "conv2d_1/convolution", "batch_normalization_1/batchnorm/sub1"]
    assert short(";".join(f"functional_1/{part}" for part in parts), "step") == "conv2d_1_convolution"
    parts = ["activation_1/Relu", "batch_normalization_1/FusedBatchNormV3", "depthwise_1/depthwise", "conv2d_4/Conv2D"]
    parts += ["depthwise_1/BiasAdd/ReadVariableOp/resource1"]
    assert short(";".join(f"model/{part}" for part in parts), "step") == "depthwise_1"
    assert short("model/batch_norm/sub", "step") == "batch_norm_sub"
    assert short("/layer1/conv/Conv", "step") == "conv_conv"
    assert short(";", "step") == "step"


def test_lines_of_numbers_are_not_too_long() -> None:
    assert max(map(len, wrapped(["-0.12345678f"] * 100, "    ").split("\n"))) <= WIDTH
