"""The report about a generated project: figures that agree with the plan, a page that holds them, budgets."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

import mslite
from mslite.codegen.core import Core
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.memory.budget import Budgets, check_budgets
from mslite.codegen.memory.usage import Kind, arena_usage
from mslite.codegen.program import Move, Program, Step, Storage
from mslite.codegen.report import (
    NOT_CHECKED,
    CodeSize,
    NotMeasured,
    check_misra,
    gather,
    measure,
    print_report,
    report_files,
)
from mslite.codegen.report.instructions import instructions
from mslite.codegen.report.measure import PACKAGES, deepest
from mslite.codegen.targets import TARGETS, target_named
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.program_exit import running

from .programs import autoencoder, image, keywords, resnet8, separable, step, tensor

M4 = target_named("cortex-m4")
UNKNOWN = NotMeasured("no compiler here")


def core_of(program: Program, options: MemoryOptions | None = None) -> Core:
    plan = plan_memory(program, options)
    return Core(0, program, plan, {}, arena_size=plan.size, constants_size=1000)


@pytest.mark.parametrize("program", [separable(), resnet8(), keywords(), autoencoder()])
def test_picture_agrees_with_plan(program: Program) -> None:
    """Without sharing, what is there at the same time lies apart, and the peak step fills the arena."""
    plan = plan_memory(program, MemoryOptions(in_place=False, overlap=False))
    picture = arena_usage(program, plan)
    assert len(picture.columns) == len(program.steps)
    assert max(one.offset + one.size for one in picture.rectangles) == plan.size
    assert picture.in_use[picture.peak] == plan.size
    for column in range(len(picture.columns) + 1):
        spans = sorted(
            (one.offset, one.offset + one.size) for one in picture.rectangles if one.first <= column <= one.last
        )
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert {one.name for one in picture.rectangles if one.kind is Kind.INPUT} == {program.inputs[0].name}
    (output,) = [one for one in picture.rectangles if one.kind is Kind.OUTPUT]
    assert output.last == len(picture.columns)


def test_picture_of_joined_tensors() -> None:
    """Pieces are there until the concat, that needs no step, makes a whole of them."""
    x, whole, out = image(8), tensor("whole", 1, 10, 8), tensor("out", 8)
    a, b = tensor("a", 1, 4, 8), tensor("b", 1, 6, 8)
    steps = [
        step("one", "Any", [x], [a]),
        step("two", "Any", [x], [b]),
        step("concat", "Concat", [a, b], [whole]),
        step("last", "Any", [whole], [out]),
    ]
    program = Program("p", "cortex-m4", [x], [out], steps)
    picture = arena_usage(program, plan_memory(program))
    lives = {one.name: (one.first, one.last) for one in picture.rectangles}
    assert lives == {"image": (0, 2), "a": (1, 2), "b": (2, 2), "whole": (2, 3), "out": (3, 3)}


def test_picture_of_rows_and_moves() -> None:
    program = separable(lead=True)
    picture = arena_usage(program, plan_memory(program, MemoryOptions().least()))
    assert any(one.kind is Kind.ROWS for one in picture.rectangles)
    program = keywords(lead=True)
    plan = plan_memory(program, MemoryOptions().least())
    picture = arena_usage(program, plan)
    for column, entry in enumerate(plan.order, 1):
        if isinstance(entry, Move):
            places = [one for one in picture.rectangles if one.name == entry.tensor.name]
            assert len(places) == 2
            assert (places[0].last, places[1].first, places[1].offset) == (column, column + 1, entry.target)


def test_page_and_json() -> None:
    program = resnet8(lead=True)
    core = core_of(program)
    figures = gather("project <1>", [core], M4, CodeSize("gcc", 12_345, 678))
    files = report_files(figures)
    page = files["report.html"]
    assert "project &lt;1&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<tr") >= len(program.steps)
    known = json.loads(files["report.json"])
    assert known["flash"] == {"code": 12_345, "weights": 1000}
    assert known["stack"] == 678
    assert known["ram"]["arena"] == core.plan.size
    (model,) = known["models"]
    assert sum(layer["is_peak"] for layer in model["layers"]) == 1
    assert model["activations"] + model["workspace"] == max(layer["in_use"] for layer in model["layers"])


def test_page_names_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The models and the C that was made of them; the JSON says nothing that differs from run to run."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    core = core_of(resnet8())
    core.files = {"src/model0/net0.c": "int x;\n", "src/parallel.h": ""}
    core.weights = b"weights"
    model = tmp_path / "net.tflite"
    model.write_bytes(b"model")
    figures = gather("project", [core], M4, UNKNOWN)
    with running("mslite-codegen", ["net.tflite", "--name=a b", "--decryptKey=0123"]):
        files = report_files(figures, [core], [model])
    page = files["report.html"]
    for data in (b"model", b"int x;\n", b"weights"):
        assert hashlib.sha256(data).hexdigest() in page
    assert "src/model0/net0.bin, 7 bytes" in page
    assert "1970-01-01 00:00:00 UTC" in page
    assert f"mslite {mslite.__version__}" in page
    assert "mslite-codegen net.tflite &#39;--name=a b&#39; --decryptKey=..." in page
    assert "0123" not in page
    assert files["report.json"] == report_files(figures)["report.json"]
    assert "none (Python API)" in report_files(figures)["report.html"]


def test_text() -> None:
    stream = io.StringIO()
    figures = gather("project", [core_of(autoencoder())], M4, UNKNOWN)
    print_report(figures, Console(file=stream, width=120))
    text = stream.getvalue()
    assert "768 B" in text
    assert "unknown: no compiler here" in text


def test_without_compiler() -> None:
    target = replace(M4, compiler="no-such-compiler")
    assert measure([core_of(autoencoder())], target) == NotMeasured("no-such-compiler is not installed")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is needed")
def test_measured_code_and_stack() -> None:
    """A function that nobody calls is not counted; the stack is that of the deepest chain, calls through pointers included."""
    source = """
    int unused(int x) { volatile char room[5000]; room[x] = 1; return room[0]; }
    static __attribute__((noinline)) int leaf(int x) { volatile char room[1000]; room[x] = 2; return room[1]; }
    int reached(int x) { volatile char room[300]; room[x] = 3; return leaf(x) + room[2]; }
    int (*volatile pointer)(int) = reached;
    int model0_run(int x) { return pointer(x) + 1; }
    """
    core = core_of(autoencoder())
    core.files = {"src/model0/net0.c": source, "src/model0/weight0.c": "const int big[9999] = {1};"}
    found = measure([core], target_named("x86"))
    assert isinstance(found, CodeSize)
    assert 40 < found.code < 2000
    assert found.stack is not None
    assert 1100 <= found.stack < 1600
    core.files = {"src/model0/net0.c": "int model0_run(void) { return nothing; }"}
    broken = measure([core], target_named("x86"))
    assert isinstance(broken, NotMeasured)
    assert "nothing" in broken.reason


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is needed")
def test_a_compiler_without_a_c_library() -> None:
    """The package is named: Debian's cross compilers come without it."""
    core = core_of(autoencoder())
    core.files = {"src/model0/net0.c": "#include <math.h>\nint model0_run(void) { return 0; }"}
    broken = measure([core], replace(target_named("x86"), options=("-nostdinc",)))
    assert isinstance(broken, NotMeasured)
    assert broken.reason == "gcc has no C library: math.h is missing (Debian: apt install libc6-dev)"
    assert PACKAGES["arm-none-eabi-gcc"][1] == "libnewlib-arm-none-eabi"
    assert {target.compiler for target in TARGETS.values()} <= set(PACKAGES)


def test_deepest_of_call_graph() -> None:
    graph = (
        'graph: { title: "a.c"\n'
        'node: { title: "model0_run" label: "model0_run\\na.c:1:1\\n40 bytes (static)\\n0 dynamic objects" }\n'
        'node: { title: "f" label: "f\\na.c:2:1\\n100 bytes (static)\\n0 dynamic objects" }\n'
        'node: { title: "g" label: "g\\na.c:3:1\\n8 bytes (static)\\n0 dynamic objects" }\n'
        'edge: { sourcename: "model0_run" targetname: "g" label: "a.c:1:1" }\n'
        'edge: { sourcename: "g" targetname: "memcpy" label: "a.c:1:1" }\n'
        'edge: { sourcename: "g" targetname: "g" label: "a.c:1:1" }\n}\n'
    )
    assert deepest([graph]) == 48
    indirect = 'edge: { sourcename: "g" targetname: "__indirect_call" label: "a.c:1:1" }\n'
    assert deepest([graph, indirect]) == 148
    # Two functions that may call each other: each once, whichever is looked at first.
    label = 'label: "a.c:4:1\\n50 bytes (static)\\n0 dynamic objects"'
    circle = f'node: {{ title: "h" {label} }}\n' + "".join(
        f'edge: {{ sourcename: "{name}" targetname: "__indirect_call" label: "a.c:1:1" }}\n' for name in "fh"
    )
    assert deepest([graph, indirect, circle]) == deepest([circle, indirect, graph]) == 198
    assert deepest([]) is None


def test_instruction_estimates() -> None:
    for one in separable().steps:
        costly = replace(one, macs=100 * max(1, one.outputs[0].size))
        assert (instructions(costly, "cortex-m55") or 0) < (instructions(costly, "cortex-m4") or 0)
        assert instructions(costly, "cortex-m7") == instructions(costly, "cortex-m4")
        assert instructions(one, "x86") is None


def test_budgets() -> None:
    program = separable(lead=True)
    options = MemoryOptions()
    plan = plan_memory(program, options)
    check_budgets(Budgets(plan.size, 1000), [program], [plan], options, 600, 400)
    check_budgets(Budgets(), [program], [plan], options, 1 << 30, None)
    with pytest.raises(ConversionError) as caught:
        check_budgets(Budgets(30 * 1024, None), [program], [plan], options, 0, None)
    message = str(caught.value)
    least = plan_memory(program, options.least()).size
    assert f"{plan.size} bytes are needed, {plan.size - 30 * 1024} more than --ramBudget=30720" in message
    assert f"--memory=min: {least} bytes, which fits" in message
    assert f"the peak is at {arena_usage(program, plan).peak_layer}\n" in message
    with pytest.raises(
        ConversionError, match=r"flash: 1001 bytes are needed \(600 of constants, 401 of code\), 1 more"
    ):
        check_budgets(Budgets(None, 1000), [program], [plan], options, 600, 401)


def test_budget_of_float_model() -> None:
    program = autoencoder()
    for one in program.steps:
        for operand in (*one.inputs, *one.outputs):
            if operand is not None:
                operand.dtype = DataType.FLOAT32
    plan = plan_memory(program)
    with pytest.raises(ConversionError, match="quantized to int8"):
        check_budgets(Budgets(100, None), [program], [plan], MemoryOptions(), 0, None)


def test_int8_is_not_advised_to_a_model_in_int8() -> None:
    program = autoencoder()
    given = program.inputs[0]
    given.storage = Storage.ACTIVATION
    raw = tensor("raw", 2560, storage=Storage.INPUT)
    program = Program("p", "t", [raw], program.outputs, [step("cast", "Cast", [raw], [given]), *program.steps])
    for one in program.steps:
        for operand in (*one.inputs, *one.outputs):
            if operand is not None:
                operand.dtype = DataType.INT8
    raw.dtype = DataType.FLOAT32
    with pytest.raises(ConversionError) as caught:
        check_budgets(Budgets(100, None), [program], [plan_memory(program)], MemoryOptions(), 0, None)
    assert "quantized to int8" not in str(caught.value)
    assert "with 8-bit inputs and outputs (--inputDataType=INT8" in str(caught.value)
    assert "needs about 1280 bytes" in str(caught.value)  # 640 of each


def test_layers_of_one_name_are_told_apart() -> None:
    program = autoencoder()
    for number, one in enumerate(program.steps):
        one.name = "model/dense/MatMul"
        one.packed = {1: bytes(number)}
    plan = plan_memory(program)
    last = len(program.steps)
    expected = f"the largest in 'dense_matmul_{last}' {last - 1}, 'dense_matmul_{last - 1}' {last - 2}"
    with pytest.raises(ConversionError, match=expected):
        check_budgets(Budgets(None, 100), [program], [plan], MemoryOptions(), 200, None)


def test_that_nothing_helps_is_said() -> None:
    program = autoencoder()
    options = MemoryOptions().least()
    plan = plan_memory(program, options)
    with pytest.raises(ConversionError) as caught:
        check_budgets(Budgets(100, 100), [program], [plan], options, 200, None)
    message = str(caught.value)
    assert "--memory=min is already set" in message
    assert "no option helps" in message
    assert "quantization to int8 saves nothing more" in message
    peak = arena_usage(program, plan).entry(plan)
    assert isinstance(peak, Step)
    output = peak.outputs[0]
    assert f"its output {'x'.join(map(str, output.shape))} ({output.size} bytes)" in message


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed")
def test_rules_of_misra_are_counted() -> None:
    text = "int f(int a);\nint f(int a) {\n  if (a) return 1;\n  return a << 3 + 1;\n}\n"
    program = autoencoder()
    core = Core(0, program, plan_memory(program), {"src/model0/net0.c": text, "src/model0/weight0.c": "int broken("})
    found = check_misra([core])
    assert found.findings["10.1"] == 1  # a signed number is shifted
    assert found.findings["14.4"] == 1  # an integer as a condition
    assert found.total == sum(found.findings.values()) > found.mandatory == 0
    assert str(found.total) in found.text()
    assert "--misra" in NOT_CHECKED.text()
