"""`--padToMaxOutputSize`: generated C with NonMaxSuppression, whose rows behind the boxes found are -1."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.codegen.cli import main
from mslite.codegen.lowering import LoweringError
from mslite.codegen.lowering.padded import pad_non_max_suppressions
from mslite.codegen.lowering.padding_rules import PaddingContents
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.detection import NonMaxSuppression
from tests.parsers.tflite.tflite_build import single
from tests.passes.builder import Builder

from . import modules
from .detectors import BOXES, CLASSES, MOST, SELECTED, detector, filled, padded, predictions, run, run_plain
from .generated import Array

ROWS = CLASSES * MOST
SANITIZED = ("clang", "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
END_TO_END = """
    image = Slice (selected, a, b, b)
    column = Slice (selected, c, d, b)
    label = Slice (selected, b, c, b)
    place = Concat <axis = 1> (image, column)
    corners = GatherND (boxes, place)
    score = GatherND (scores, selected)
    lifted = Unsqueeze (score, b)
    number = Cast <to = 1> (image)
    class = Cast <to = 1> (label)
    rows = Concat <axis = 1> (number, corners, class, lifted)
"""


def _generate(model: Path, folder: Path, *flags: str) -> Path:
    assert main([str(model), f"--output={folder / 'net'}", "--padToMaxOutputSize", *flags]) == 0
    return folder / "net"


def _record(project: Path, case: int, inputs: list[Array], outputs: list[Array]) -> None:
    """Puts a run of our own in the place of a recorded one."""
    data = project / "test" / "data"
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for place, array in enumerate(arrays):
            path = data / f"model0_case{case}_{kind}{place}.bin"
            assert path.stat().st_size == array.nbytes
            array.tofile(path)


def _test(project: Path, compiler: str = "gcc", flags: str = "-O2") -> str:
    command = ["make", "-C", str(project), "test", f"CC={compiler}", f"CFLAGS={flags}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.parametrize("found", [0, 1, MOST - 1, MOST, BOXES])
def test_rows_behind_the_boxes_found_are_minus_one(found: int, tmp_path: Path) -> None:
    model = detector(tmp_path / "net.onnx")
    given = predictions(found)
    (rows,) = run_plain(model, given)
    assert len(rows) == CLASSES * min(found, MOST)
    (have,) = run(padded(model, tmp_path).path, given)
    assert np.array_equal(have, filled(rows, ROWS))


@pytest.mark.parametrize("most", [0, -1, BOXES + 1, (1 << 63) - 1])
def test_a_most_beyond_the_boxes(most: int, tmp_path: Path) -> None:
    """torchvision's exports say 2^63 - 1: as many rows as there are boxes."""
    suppression = SELECTED.replace("most", "limit")
    path = detector(tmp_path / "net.onnx", suppression=suppression, constants=f", int64[1] limit = {{{most}}}")
    for found in (0, 7, BOXES):
        (rows,) = run_plain(path, predictions(found))
        (have,) = run(padded(path, tmp_path).path, predictions(found))
        assert len(rows) == (CLASSES * found if most > 0 else 0)
        assert np.array_equal(have, filled(rows, CLASSES * BOXES if most > 0 else 0))


@pytest.mark.parametrize(("compiler", "flags"), [("gcc", "-O2"), pytest.param(*SANITIZED, marks=pytest.mark.slow)])
def test_the_last_node(compiler: str, flags: str, tmp_path: Path) -> None:
    """Few boxes and as many as can be, beside the runtime's result of the model as it is; the recorded ones as well."""
    model = detector(tmp_path / "net.onnx")
    project = _generate(model, tmp_path)
    assert "2 of 2 cases as recorded" in _test(project, compiler, flags)
    for case, found in enumerate((2, MOST)):
        (rows,) = run_plain(model, predictions(found))
        assert len(rows) == CLASSES * found
        _record(project, case, [predictions(found)], [filled(rows, ROWS)])
    assert "2 of 2 cases as recorded" in _test(project, compiler, flags)


def _end_to_end(model: Path, given: Array) -> list[Array]:
    """The runtime's rows; those behind are -1 and what the last box of the last class gives."""
    (rows,) = run_plain(model, given)
    boxes, logits = given[0, :, :4], given[0, :, 4:]
    score = 1 / (1 + np.exp(-logits[-1, -1]))
    last = np.array([-1, *boxes[-1], -1, score], np.float32)
    return [np.concatenate([rows, np.tile(last, (ROWS - len(rows), 1))])]


@pytest.mark.parametrize(("compiler", "flags"), [pytest.param("gcc", "-O2", marks=pytest.mark.slow), SANITIZED])
def test_nodes_behind(compiler: str, flags: str, tmp_path: Path) -> None:
    """Boxes, scores and classes by the indices, as YOLO's exports have them: rows of padding read the last box, not memory
    outside of the tables."""
    model = detector(tmp_path / "net.onnx", END_TO_END, "float[n, 7] rows")
    project = _generate(model, tmp_path)
    for case, found in enumerate((1, MOST)):
        _record(project, case, [predictions(found)], _end_to_end(model, predictions(found)))
    assert "2 of 2 cases as recorded" in _test(project, compiler, flags)


@pytest.mark.parametrize("target", ["cortex-m4", pytest.param("cortex-m0+", marks=pytest.mark.slow)])
def test_on_a_board(target: str, tmp_path: Path) -> None:
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None:
        pytest.skip("arm-none-eabi-gcc or qemu-system-arm is not installed")
    model = detector(tmp_path / "net.onnx", END_TO_END, "float[n, 7] rows")
    project = _generate(model, tmp_path, f"--target={target}")
    for case, found in enumerate((1, MOST)):
        _record(project, case, [predictions(found)], _end_to_end(model, predictions(found)))
    done = subprocess.run(
        ["make", "-C", str(project), "test"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "2 of 2 cases as recorded" in done.stdout + done.stderr


COLUMN = "column = Gather <axis = 1> (selected, two)  table = Reshape (boxes, flat)  found = Gather (table, column)"
BEHIND = {
    "gather": (COLUMN, "float[n, 4] found", 0, PaddingContents.LAST),
    "column": (COLUMN, "int64[n] column", 0, PaddingContents.INDEX),
    "slice": (f"{COLUMN}  y = Slice (found, a, ten, a)", "float[m, 4] y", 0, PaddingContents.LAST),
    "later-rows": ("y = Slice (selected, b, ten, a)", "int64[m, 3] y", 0, PaddingContents.INDEX),
    "squeeze": ("column = Slice (selected, c, d, b)  y = Squeeze (column, b)", "int64[n] y", 0, PaddingContents.INDEX),
    "transpose": (f"{COLUMN}  y = Transpose <perm = [1, 0]> (found)", "float[4, n] y", 1, PaddingContents.LAST),
    "split": (f"{COLUMN}  y, z = Split <axis = 1> (found, halves)", "float[n, 2] z", 0, PaddingContents.LAST),
    "arithmetic": (f"{COLUMN}  h = Slice (found, c, four, b)  l = Slice (found, a, c, b)  y = Mul (h, l)",
                   "float[n, 2] y", 0, PaddingContents.LAST),
    "on-indices": ("y = Mul (selected, selected)", "int64[n, 3] y", 0, PaddingContents.OTHER),
    "columns-joined": (f"{COLUMN}  f = Cast <to = 1> (selected)  y = Concat <axis = 1> (found, f)",
                       "float[n, 7] y", 0, PaddingContents.PART),
    "best-class": ("t = Squeeze (probabilities, a)  column = Gather <axis = 1> (selected, two)  p = Gather (t, column)"
                   "  y = ArgMax <axis = 1, keepdims = 0> (p)", "int64[n] y", 0, PaddingContents.LAST),
    "sum-of-columns": (f"{COLUMN}  y = ReduceSum <keepdims = 0> (found, b)", "float[n] y", 0, PaddingContents.LAST),
    "as-many-numbers": ("column = Gather <axis = 1> (selected, two)  s = Shape (column)  y = Expand (lowest, s)",
                        "float[n] y", 0, PaddingContents.LAST),
    "as-many-zeros": ("s = Shape (selected)  y = ConstantOfShape (s)", "float[n, 3] y", 0, PaddingContents.LAST),
    "to-its-own-rows": (f"{COLUMN}  s = Shape (column)  t = Concat <axis = 0> (s, c, c)  y = Reshape (found, t)",
                        "float[n, 2, 2] y", 0, PaddingContents.LAST),
    "images-of-columns": (f"table = Reshape (boxes, flat)  t = Transpose <perm = [1, 0]> (table)  {COLUMN.split('  ')[0]}"
                          "  y = Gather <axis = 1> (t, column)", "float[4, n] y", 1, PaddingContents.LAST),
    "labels-of-labels": ("column = Gather <axis = 1> (selected, one)  y = Gather (numbers, column)  z = Gather (numbers, y)",
                         "int64[n] z", 0, PaddingContents.LAST),
}  # fmt: skip


@pytest.mark.parametrize("name", BEHIND)
def test_rows_of_boxes_stay_as_they_are(name: str, tmp_path: Path) -> None:
    behind, output, axis, filling = BEHIND[name]
    model = detector(tmp_path / "net.onnx", behind, output)
    copy = padded(model, tmp_path)
    assert filling.value in copy.note
    for found in (0, 1, MOST):
        given = predictions(found)
        (want,) = run_plain(model, given)
        have, *told = run(copy.path, given)
        assert len(told) == (filling in (PaddingContents.LAST, PaddingContents.OTHER))
        size = want.shape[axis]
        assert size <= have.shape[axis] <= ROWS
        assert np.array_equal(np.take(have, range(size), axis), want)
        assert have.shape[axis] > size or found == MOST or name == "slice"
        rest = np.take(have, range(size, have.shape[axis]), axis)
        if filling is PaddingContents.INDEX:
            assert (rest == -1).all()
        elif filling is not PaddingContents.PART:
            assert (rest == np.take(rest, [0], axis)).all() if rest.size else True


@pytest.mark.parametrize("name", ["gather", "squeeze", "images-of-columns", "sum-of-columns"])
def test_one_row(name: str, tmp_path: Path) -> None:
    """Which dimension counts rows is told from the operator, where all sizes are 1."""
    behind, output, axis, _ = BEHIND[name]
    one = SELECTED.replace("scores, most", "best, b")
    first = "best = Slice (scores, a, b, b)  " + one
    model = detector(tmp_path / "net.onnx", behind, output, first)
    path = padded(model, tmp_path).path
    for found in (0, 1):
        (want,), (have, *_) = run_plain(model, predictions(found)), run(path, predictions(found))
        assert (want.shape[axis], have.shape[axis]) == (found, 1)
        assert np.array_equal(np.take(have, range(found), axis), want)


ACROSS = "across the rows of NonMaxSuppression 'selected/NonMaxSuppression', some of which may be padding"
COUNTS = "which includes padding rows"
REFUSED = {
    "topk": (f"{COLUMN}  s = GatherND (scores, selected)  y, i = TopK <axis = 0> (s, a)", "float[k] y", "TopKFusion", ACROSS),
    "sum": (f"{COLUMN}  y = ReduceSum <keepdims = 0> (found, a)", "float[4] y", "ReduceFusion", ACROSS),
    "sum-of-all": (f"{COLUMN}  y = ReduceSum <keepdims = 0> (found)", "float y", "ReduceFusion", ACROSS),
    "best": ("s = GatherND (scores, selected)  y = ArgMax <axis = 0> (s)", "int64[1] y", "ArgMaxFusion", ACROSS),
    "softmax": ("s = GatherND (scores, selected)  y = Softmax <axis = 0> (s)", "float[n] y", "Softmax", ACROSS),
    "product": (f"{COLUMN}  t = Transpose (found)  y = MatMul (t, found)", "float[4, 4] y", "MatMulFusion", ACROSS),
    "joined": ("y = Concat <axis = 0> (selected, selected)", "int64[m, 3] y", "Concat", ACROSS),
    "filled-with-others": (f"{COLUMN}  l = Concat <axis = 0> (column, ab)  y = Slice (l, a, c, a)", "int64[2] y", "Concat", ACROSS),
    "filled-too-little": (f"{COLUMN}  l = Concat <axis = 0> (column, a)  y = Slice (l, a, four, a)", "int64[m] y", "Concat", ACROSS),
    "from-the-end": ("y = Slice (selected, back, ten, a)", "int64[m, 3] y", "StridedSlice", ACROSS),
    "one-row": ("y = Gather <axis = 0> (selected, two)", "int64[3] y", "Gather", ACROSS),
    "flattened": ("y = Reshape (selected, minus)", "int64[m] y", "Reshape", ACROSS),
    "count": ("y = Shape (selected)", "int64[2] y", "Cast", COUNTS),
    "count-as-number": ("s = Shape (selected)  f = Cast <to = 1> (s)  y = Sqrt (f)", "float[2] y", "Sqrt", COUNTS),
    "elements": ("y = Size (selected)", "int64 y", "Size", ACROSS),
    "written-to": ("label = Slice (selected, b, c, b)  ones = Squeeze (label, b)  y = ScatterND (numbers, label, ones)",
                   "int64[3] y", "ScatterNdUpdate", ACROSS),
    "flat-index": ("i = Slice (selected, a, b, b)  c0 = Slice (selected, c, d, b)  r = Mul (i, ten)  p = Add (r, c0)"
                   "  table = Reshape (boxes, flat)  y = Gather (table, p)", "float[n, 1, 4] y", "Gather",
                   "so indices in padding rows may be out of range"),
    "again": (f"{COLUMN}  f = Unsqueeze (found, a)  s = GatherND (scores, selected)  t = Unsqueeze (s, ab)"
              "  again = NonMaxSuppression <center_point_box = 1> (f, t, most, overlap)", "int64[m, 3] again",
              "PaddedNonMaxSuppression", ACROSS),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_padding_would_change_is_refused(name: str, tmp_path: Path) -> None:
    behind, output, operator, reason = REFUSED[name]
    model = detector(tmp_path / "net.onnx", behind, output)
    with pytest.raises(LoweringError) as caught:
        padded(model, tmp_path)
    (blocker,) = caught.value.blockers
    assert blocker.operator == operator
    assert reason in blocker.reason
    assert "End the model before it" in blocker.remedy
    assert f"{model}: 1 node(s) are unsupported in generated C with --padToMaxOutputSize" in str(caught.value)


SUPPRESSIONS = {
    "NON_MAX_SUPPRESSION_V4": ("NonMaxSuppressionV4Options", (), ("int32", "int32")),
    "NON_MAX_SUPPRESSION_V5": ("NonMaxSuppressionV5Options", (np.float32(0),), ("int32", "float32", "int32")),
}


@pytest.mark.parametrize(("name", "most"), [("NON_MAX_SUPPRESSION_V4", 20), ("NON_MAX_SUPPRESSION_V5", 5)])
def test_results_that_are_filled_up_anyway(name: str, most: int, tmp_path: Path) -> None:
    """TensorFlow Lite's give indices, with zeros behind them, and their number: the same as without padding."""
    kind, sigma, outputs = SUPPRESSIONS[name]
    draw = np.random.default_rng(most)
    corner = draw.uniform(0, 20, (12, 2)).astype(np.float32)
    boxes = np.concatenate([corner, corner + 3], 1)
    scores = draw.permutation(np.linspace(0.3, 0.95, 12, dtype=np.float32))
    inputs = [boxes, scores, np.int32(most), np.float32(0.4), np.float32(0.5), *sigma]
    arguments: dict[str, Any] = {"constant": tuple(range(2, len(inputs))), "outputs": outputs}
    model = tmp_path / "net.tflite"
    model.write_bytes(single(name, inputs, **arguments, options_type=kind, options={}))
    copy = padded(model, tmp_path)
    assert not copy.note
    project = _generate(model, tmp_path)
    assert "2 of 2 cases as recorded" in _test(project)
    for case, given in enumerate((scores, scores - np.float32(0.4))):
        want, have = run_plain(model, boxes, given), run(copy.path, boxes, given)
        assert 0 < want[-1] < 12
        for one, other in zip(want, have, strict=True):
            assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
        _record(project, case, [boxes, given], want)
    assert "2 of 2 cases as recorded" in _test(project)


def test_without_the_flag_the_refusal_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = detector(tmp_path / "net.onnx", COLUMN, "float[n, 4] found")
    assert main([str(model), f"--output={tmp_path / 'net'}"]) == 3
    message = capsys.readouterr().err
    assert "1 node(s) are unsupported in generated C for x86" in message
    assert "NonMaxSuppression 'selected/NonMaxSuppression'" in message
    assert "--padToMaxOutputSize of mslite-codegen pads the result to its largest size" in message
    assert not (tmp_path / "net").exists()
    assert main([str(model), f"--output={tmp_path / 'net'}", "--padToMaxOutputSize"]) == 0
    note = (
        "note: net.onnx: the rows after the boxes found are padding, with the values of the last box of the last class and "
        "image in 'found'; -1 in 'selected/NonMaxSuppression', which was added to the outputs"
    )
    assert note in capsys.readouterr().out


def test_an_output_tells_which_rows_are_padding(tmp_path: Path) -> None:
    """Where the model gives boxes only, NonMaxSuppression's result is one more output; the others keep their places."""
    model = detector(tmp_path / "net.onnx", COLUMN, "float[n, 4] found")
    project = _generate(model, tmp_path)
    selected = detector(tmp_path / "selected.onnx")
    for case, number in enumerate((1, MOST)):
        given = predictions(number)
        (rows,), (indices,) = run_plain(model, given), run_plain(selected, given)
        last = np.tile(given[0, -1:, :4], (ROWS - len(rows), 1))
        _record(project, case, [given], [np.concatenate([rows, last]), filled(indices, ROWS).astype(np.int32)])
    assert "2 of 2 cases as recorded" in _test(project)


def test_two_nodes_of_one_name_are_two(tmp_path: Path) -> None:
    """Files may name nodes as they like; which boxes are whose is still told."""
    build = Builder()
    boxes, scores = build.input(1, 5, 4), build.input(1, 1, 5)
    limits = (np.array([2], np.int32), np.float32([0.5]))
    found = [build.call(NonMaxSuppression(), boxes, scores, *limits) for _ in range(2)]
    for node in build.graph.nodes:
        node.name = "same"
    path = modules.write(build.module(build.call(AddFusion(), *found)), tmp_path)
    with pytest.raises(LoweringError, match="it combines the boxes of different NonMaxSuppression nodes"):
        pad_non_max_suppressions(path, tmp_path, {}, str(path))


def test_a_most_that_is_not_known_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    computed = "total = ReduceSum <keepdims = 0> (predictions)  n = Cast <to = 7> (total)  limit = Reshape (n, b)  "
    model = detector(tmp_path / "net.onnx", suppression=computed + SELECTED.replace("most", "limit"))
    assert main([str(model), f"--output={tmp_path / 'net'}", "--padToMaxOutputSize"]) == 3
    message = capsys.readouterr().err
    assert "NonMaxSuppression 'selected/NonMaxSuppression': max_output_boxes_per_class" in message
    assert "is computed at run time, so its maximum is unknown. Export the model with a constant" in message
    assert not (tmp_path / "net").exists()


def test_a_branch_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    branch = """
        total = ReduceSum <keepdims = 0> (predictions)  zero = Sub (total, total)  wanted = Greater (total, zero)
        selected = If (wanted) <
            then_branch = yes () => (int64[n, 3] p) { p = NonMaxSuppression (boxes, scores, most, overlap, lowest) },
            else_branch = no () => (int64[n, 3] q) { q = NonMaxSuppression (boxes, scores, b, overlap, lowest) }
        >"""
    model = detector(tmp_path / "net.onnx", suppression=branch)
    assert main([str(model), f"--output={tmp_path / 'net'}", "--padToMaxOutputSize"]) == 3
    message = capsys.readouterr().err
    assert "2 node(s) are unsupported in generated C with --padToMaxOutputSize" in message
    assert "it is in a branch or loop" in message


def test_a_model_without_it_is_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = detector(tmp_path / "net.onnx", "y = Relu (scores)", "float[1, 3, 40] y", suppression="")
    _generate(model, tmp_path)
    assert "note: net.onnx: the model has no NonMaxSuppression" in capsys.readouterr().out
