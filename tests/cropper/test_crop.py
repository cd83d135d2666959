"""A cropped runtime computes the bits of the whole one for the models that it was made for, and refuses others by name."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mslite import _native
from mslite.converter import cli as converter
from mslite.converter.mindir.graph import constant
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.cropper import cli, mindspore_cropper
from mslite.cropper.crop import INSTRUCTION_SETS, Library, instruction_sets, kernels_to_keep
from mslite.cropper.model_needs import model_needs
from tests.cropper.subjects import (
    ARCHIVE,
    ROOT,
    convolution,
    cosine,
    product,
    program,
    run,
    squashed,
    stored_product,
    stored_weight,
)
from tests.runtime.test_exports import kernels_for_training
from tests.training.files import LENET, loss_model, needs_models

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file() or shutil.which("c++") is None, reason=f"no {ARCHIVE}, or no c++")
DIGITS = ROOT / "examples" / "digits"


@dataclass(frozen=True)
class Subject:
    """Models, the cropped libraries for them, and programs with the static libraries."""

    float_model: Path
    product: Path
    folder: Path
    report: str
    whole: Path
    cropped: Path


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("crop")
    common = [f"--modelFile={DIGITS / 'digits.onnx'}", "--inputShape=image:1,1,8,8"]
    assert converter.main([*common, f"--outputFile={folder / 'digits'}"]) == 0
    models = folder / "digits.ms", product(folder / "product.ms")
    command = [f"--models={models[0]},{models[1]}", f"--archive={ARCHIVE}", f"--output={folder / 'cropped'}"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert cli.main(command) == 0
    cropped = program(folder / "cropped" / "libmindspore-lite.a", folder / "run_cropped")
    return Subject(
        models[0],
        models[1],
        folder,
        output.getvalue(),
        program(ARCHIVE, folder / "run_whole"),
        cropped,
    )


def values(count: int, seed: int) -> bytes:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32).tobytes()


def test_the_bits_are_those_of_the_whole_runtime(subject: Subject) -> None:
    for model, count in ((subject.float_model, 64), (subject.product, 24)):
        wanted, _ = run(subject.whole, model, values(count, 1), 1)
        found, said = run(subject.cropped, model, values(count, 1), 1)
        assert wanted, said
        assert found == wanted, said


def dynamic_section(library: Path) -> str:
    return subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout


def test_the_shared_library_has_its_name_and_is_the_same_again(subject: Subject, tmp_path: Path) -> None:
    first = subject.folder / "cropped" / "libmindspore-lite.so"
    assert "[libmindspore-lite.so.0]" in dynamic_section(first)
    command = [f"--models={subject.float_model},{subject.product}", f"--archive={ARCHIVE}"]
    for name in ("again", "named"):
        flags = ["--soname=libmindspore-lite.so"] if name == "named" else []
        with contextlib.redirect_stdout(io.StringIO()):
            assert cli.main([*command, f"--output={tmp_path / name}", *flags]) == 0
    assert (tmp_path / "again" / "libmindspore-lite.so").read_bytes() == first.read_bytes()
    assert "[libmindspore-lite.so]" in dynamic_section(tmp_path / "named" / "libmindspore-lite.so")


@pytest.mark.parametrize("rows", [2, 7, 300])
def test_shapes_may_change(subject: Subject, rows: int) -> None:
    given = values(24 * rows, rows)
    wanted, _ = run(subject.whole, subject.product, given, rows)
    found, said = run(subject.cropped, subject.product, given, rows)
    assert wanted, said
    assert found == wanted, said


def test_another_operator_is_refused_by_name(subject: Subject) -> None:
    other = cosine(subject.folder / "cosine.ms")
    assert run(subject.whole, other, values(96, 2))[0] is not None
    found, said = run(subject.cropped, other, values(96, 2))
    assert found is None
    assert "this runtime was cropped for 'digits.ms, product.ms'" in said
    assert "node 'waves' (Cos): it has no kernel for Cos" in said


@pytest.mark.parametrize(
    ("dtype", "quant", "kind"),
    [
        (DataType.INT8, (QuantParam(scale=0.1, zeroPoint=3, inited=True),), "quantized 8-bit integers"),
        (DataType.INT32, (), "element types other than float32"),
    ],
)
def test_other_types_are_refused_and_not_computed_in_float(
    dtype: DataType, quant: tuple[QuantParam, ...], kind: str, subject: Subject
) -> None:
    model = squashed(subject.folder / f"{dtype.name}.ms", dtype, quant)
    assert run(subject.whole, model, values(96, 2))[0] is not None
    found, said = run(subject.cropped, model, values(96, 2))
    assert found is None
    assert f"node 'squash' (Activation): it has no kernel for Activation on {kind}" in said


STORED = {
    "unpacking": (
        stored_weight(4, DataType.INT8), QuantType.QUANT_WEIGHT, DataType.FLOAT32,
        "constant 'weight': it has no unpacking of constants",
    ),
    "weights": (
        stored_weight(16, DataType.INT16), QuantType.QUANT_WEIGHT, DataType.FLOAT32,
        "node 'product' (MatMulFusion): it has no float32 form of quantized constants",
    ),
    "integers": (
        stored_weight(16, DataType.INT16), QuantType.QUANT_NONE, DataType.FLOAT32,
        "node 'product' (MatMulFusion): it has no rewriting of quantized integers",
    ),
    "types": (
        constant("weight", np.ones((24, 40), np.float32)), QuantType.QUANT_NONE, DataType.FLOAT16,
        "node 'product' (MatMulFusion): it has no casts between element types",
    ),
    # A kernel reads the weights as they are stored.
    "kernel": (
        stored_weight(8, DataType.INT8), QuantType.QUANT_WEIGHT, DataType.FLOAT32,
        "node 'product' (MatMulFusion): it has no kernel for MatMulFusion on quantized 8-bit integers",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.slow] * (i > 0)) for i, what in enumerate(STORED)]
)
def test_what_stored_weights_and_casts_need_is_there_or_the_model_is_refused(
    what: str, subject: Subject, tmp_path: Path
) -> None:
    weight, kind, result, refusal = STORED[what]
    model = stored_product(tmp_path / f"{what}.ms", weight, kind, result)
    if what != "kernel":
        assert what in model_needs([model]).parts
    assert not model_needs([subject.float_model, subject.product]).parts
    given = values(96, 6)
    wanted, said = run(subject.whole, model, given)
    assert wanted is not None, said
    found, said = run(subject.cropped, model, given)
    assert found is None
    assert "this runtime was cropped for 'digits.ms, product.ms'" in said
    assert refusal in said
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main([f"--models={model}", f"--archive={ARCHIVE}", f"--output={tmp_path / 'out'}"]) == 0
    found, said = run(program(tmp_path / "out" / "libmindspore-lite.a", tmp_path / "run"), model, given)
    assert found == wanted, said


def test_the_shared_library_takes_the_place_of_the_whole_one(subject: Subject) -> None:
    shared = subject.folder / "cropped" / "libmindspore-lite.so"
    includes = [f"-I{ROOT}/lite_runtime", f"-I{ROOT}/lite_runtime/include"]
    command = subject.folder / "run_shared"
    whole = ARCHIVE.with_suffix(".so")
    source = Path(__file__).parent / "run_model.c"
    subprocess.run(["cc", *includes, "-o", command, source, whole, f"-Wl,-rpath,{whole.parent}"], check=True)
    wanted, _ = run(command, subject.float_model, values(64, 3))
    assert wanted is not None
    assert run(command, subject.float_model, values(64, 3), library=shared)[0] == wanted
    assert run(command, cosine(subject.folder / "other.ms"), values(96, 3), library=shared)[0] is None


def test_the_report_shows_what_shrank(subject: Subject) -> None:
    rows = {
        name.strip(): (int(before.replace(",", "")), int(after.replace(",", "")))
        for name, before, after in re.findall(r"^(.{28})\s*([\d,]+)\s+([\d,]+)$", subject.report, re.MULTILINE)
    }
    before, after = rows["stripped .so"]
    assert after == (subject.folder / "cropped" / "libmindspore-lite.so").stat().st_size
    assert after < before / 2
    groups = [rows[group] for group in cli.GROUPS]
    assert (sum(group[0] for group in groups), sum(group[1] for group in groups)) == (before, after)
    assert rows["engines"][1] < 1000 < rows["engines"][0]  # some texts are those of others, too
    assert all(size > 1000 for group in groups for size in group if group != rows["engines"])
    assert rows["kernels"][1] < rows["kernels"][0] / 3


@pytest.mark.slow
def test_engines_stay_where_they_are_asked_for(
    subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(__file__).parent / "run_on_gpu.c"
    command = [f"--models={subject.product}", f"--archive={ARCHIVE}"]
    said, sizes = {}, {}
    for name, flags in (("cropped", []), ("kept", ["--engines=opencl"])):
        assert cli.main([*command, f"--output={tmp_path / name}", *flags]) == 0
        run_on_gpu = program(tmp_path / name / "libmindspore-lite.a", tmp_path / f"run_{name}", source)
        done = subprocess.run([run_on_gpu, subject.product], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said[name] = done.stderr
        sizes[name] = (tmp_path / name / "libmindspore-lite.so").stat().st_size
    assert "only supports the CPU (mslite-crop --engines keeps other backends)" in said["cropped"]
    assert "only supports the CPU" not in said["kept"]
    assert sizes["kept"] > sizes["cropped"] + 100_000
    capsys.readouterr()
    assert cli.main([*command, f"--output={tmp_path / 'odd'}", "--engines=vulkan"]) == 1
    assert "'vulkan' is unknown" in capsys.readouterr().err


@pytest.mark.parametrize("kept", ["", pytest.param("adapters", marks=pytest.mark.slow)])
def test_what_no_inference_needs_is_refused_by_name(kept: str, subject: Subject, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [f"--models={subject.product}", f"--archive={ARCHIVE}", f"--output={output}", "--api=c", f"--keep={kept}"]
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main(command) == 0
    includes = [f"-I{ROOT}/lite_runtime", f"-I{ROOT}/lite_runtime/include"]
    shared, beyond = output / "libmindspore-lite.so", tmp_path / "run_beyond"
    source = Path(__file__).parent / "run_beyond.c"
    subprocess.run(["cc", *includes, "-o", beyond, source, shared], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(shared)}
    # No model is an adapter.
    done = subprocess.run(
        [beyond, subject.product, subject.product], env=environment, capture_output=True, text=True, check=True
    )
    given = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert int(given.pop("adapter")) != 0
    assert given == {
        "config": "0", "names": "0 0", "inference": "0", "training": "1", "rate": "1", "weights": "0", "export": "1"
    }  # fmt: skip
    cropped = "this runtime was cropped for 'product.ms'"
    for name in ("MSTrainCfgCreate", "MSModelSetTrainMode", "MSModelSetLearningRate", "MSExportModel"):
        assert f"{name}: {cropped} without training; use the full runtime" in done.stderr
    without = f"LoadAdapter: {cropped} without adapters; crop it with mslite-crop --keep=adapters"
    assert (without in done.stderr) == (not kept)
    assert ("is not an adapter" in done.stderr) == bool(kept)


def test_what_cannot_be_kept_is_refused(subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [f"--models={subject.product}", f"--archive={ARCHIVE}", f"--output={tmp_path / 'out'}"]
    assert cli.main([*command, "--keep=training"]) == 1
    assert "--keep: 'training' is unknown; known are adapters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kernel", "stride", "group", "family"),
    [
        (3, 1, 1, "winograd"),
        pytest.param(3, 2, 1, "", marks=pytest.mark.slow),
        pytest.param(1, 1, 1, "", marks=pytest.mark.slow),
        pytest.param(3, 1, 16, "depthwise", marks=pytest.mark.slow),
    ],
)
def test_kernels_for_other_convolutions_go(kernel: int, stride: int, group: int, family: str, tmp_path: Path) -> None:
    """Those that take none of the model's at any size: Winograd's for windows of 3 x 3, one apart, and for depthwise ones."""
    model = convolution(tmp_path / "convolution.ms", kernel, stride, group)
    library = Library.read(ARCHIVE.read_bytes(), "whole")
    kept = kernels_to_keep(library, model_needs([model]).operators, instruction_sets(library.machine, []))
    assert any("conv2d_gemm" in name for name in kept)
    for name in ("winograd", "depthwise"):
        assert any(name in symbol for symbol in kept) == (name == family), sorted(kept)


def test_kernels_are_read_from_the_archive_as_the_library_tells_them() -> None:
    library = Library.read(ARCHIVE.read_bytes(), "whole")
    numbers = INSTRUCTION_SETS
    quantized = set(_native.quantized_kernels())
    for_training = kernels_for_training()
    wanted = [
        (numbers[isa], name in quantized)
        for name, _, isa, _ in _native.kernels()
        if name.removesuffix(f"_{isa}") not in for_training
    ]
    assert [(kernel.isa, kernel.is_quantized) for kernel in library.kernels()] == wanted


def test_an_archive_written_again_is_the_same_to_a_linker(tmp_path: Path, subject: Subject) -> None:
    copy = tmp_path / "copy.a"
    copy.write_bytes(Library.read(ARCHIVE.read_bytes(), "whole").write())
    listed = [
        subprocess.run(["nm", "-s", file], capture_output=True, text=True, check=True).stdout
        for file in (ARCHIVE, copy)
    ]
    index = [sorted(line for line in text.splitlines() if " in " in line) for text in listed]
    assert len(index[0]) > 1000
    assert index[0] == index[1]
    found, said = run(program(copy, tmp_path / "run"), subject.float_model, values(64, 4))
    assert found is not None, said


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "not a static library"),
        (b"!<thin>\n", "a thin archive"),
        (b"!<arch>\nabc", "malformed at byte 8"),
        (b"!<arch>\n" + b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"a.o/", 0, 0, 0, 0, 9), "ends within a member"),
        (b"!<arch>\n" + b"%-16s%-12d%-6d%-6d%-8o%-10d`\nabcd" % (b"a.o/", 0, 0, 0, 0, 4), "not an ELF object file"),
        (b"!<arch>\n", "not mslite's libmindspore-lite.a"),
    ],
)
def test_what_cannot_be_cropped_is_refused(
    contents: bytes, reason: str, tmp_path: Path, subject: Subject, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "odd.a"
    file.write_bytes(contents)
    assert cli.main([f"--models={subject.product}", f"--archive={file}", f"--output={tmp_path / 'out'}"]) == 1
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_cropped_library_is_not_cropped_again(
    subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cropped = subject.folder / "cropped" / "libmindspore-lite.a"
    assert cli.main([f"--models={subject.product}", f"--archive={cropped}", f"--output={tmp_path / 'out'}"]) == 1
    assert "is already cropped" in capsys.readouterr().err


def test_kernels_of_the_training_library_cannot_be_kept(
    subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "loss.ms"
    model.write_bytes(loss_model())
    output = tmp_path / "out"
    assert cli.main([f"--models={subject.product},{model}", f"--archive={ARCHIVE}", f"--output={output}"]) == 1
    said = capsys.readouterr().err
    assert f"file '{model}': node 'huber' (SmoothL1Loss): its kernels are in libmindspore-lite-train.so" in said
    assert not output.exists()


@needs_models
def test_a_training_file_infers_as_before(tmp_path: Path) -> None:
    output = tmp_path / "out"
    model = tmp_path / "lenet.ms"
    model.write_bytes(LENET.read_bytes())
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main([f"--models={model}", f"--archive={ARCHIVE}", f"--output={output}"]) == 0
    given = values(2 * 32 * 32, 7)
    wanted, said = run(program(ARCHIVE, tmp_path / "whole"), model, given)
    assert wanted is not None, said
    found, said = run(program(output / "libmindspore-lite.a", tmp_path / "run"), model, given)
    assert found == wanted, said


@pytest.mark.slow
def test_float64_models_keep_what_casts_need(subject: Subject, tmp_path: Path) -> None:
    model = cosine(tmp_path / "wide.ms", DataType.FLOAT64)
    output = tmp_path / "out"
    assert cli.main([f"--models={model}", f"--archive={ARCHIVE}", f"--output={output}"]) == 0
    given = np.linspace(-3, 3, 96).tobytes()
    wanted, _ = run(subject.whole, model, given)
    found, said = run(program(output / "libmindspore-lite.a", tmp_path / "run"), model, given)
    assert wanted is not None
    assert found == wanted, said


def test_the_original_s_flags(subject: Subject, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapping = ARCHIVE.parent / "mslite" / "cropper_mapping_cpu.cfg"
    output = tmp_path / "small.a"
    flags = [f"--packageFile={ARCHIVE}", f"--configFile={mapping}", f"--outputFile={output}"]
    assert mindspore_cropper.main([*flags, f"--modelFile={subject.float_model}"]) == 0
    said = capsys.readouterr().out
    assert f"Save package file{output} success.\nCROPPER RESULT SUCCESS:0\n" in said
    wanted, _ = run(subject.whole, subject.float_model, values(64, 5))
    found, _ = run(program(output, tmp_path / "run"), subject.float_model, values(64, 5))
    assert wanted is not None
    assert found == wanted
    models = tmp_path / "models" / "inner"
    models.mkdir(parents=True)
    product(models / "product.ms")
    assert mindspore_cropper.main([*flags, f"--modelFolderPath={models.parent}"]) == 0
    capsys.readouterr()
    assert mindspore_cropper.main(flags) == 1
    assert "INPUT MISSING" in capsys.readouterr().err
    assert mindspore_cropper.main([*flags, "--modelFile=a.ms", "--modelFolderPath=b"]) == 1
    assert "INPUT ILLEGAL" in capsys.readouterr().err
    assert mindspore_cropper.main([*flags, "--modelFile=nothing.ms"]) == 1
    assert "CROPPER RESULT FAILED:" in capsys.readouterr().err
    assert mindspore_cropper.main([]) == 0
    assert "--packageFile" in capsys.readouterr().out
