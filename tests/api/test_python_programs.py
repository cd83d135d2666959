"""Programs that were written from MindSpore Lite's reference alone run as they stand, and type checkers understand ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mslite
from tests.api.models import X, dense_file, image_onnx, wanted

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPAT = ROOT / "lite_runtime" / "python" / "compat"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def program(name: str, *arguments: object) -> list[str]:
    """The lines that a program of `programs/python` prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(COMPAT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(HERE / "programs" / "python" / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fixed_file(path: Path) -> Path:
    """The dense model with two rows."""
    from mslite.converter.convert import convert
    from mslite.converter.options import Options

    source = dense_file(path.with_name("open.ms"))
    convert(Options(model_file=source, output_file=path, input_shapes={"x": (2, 3)}))
    return path


def test_classify(tmp_path: Path) -> None:
    X.tofile(tmp_path / "x.bin")
    best = wanted(X).argmax(axis=-1).tolist()
    assert program("classify.py", fixed_file(tmp_path / "model.ms"), tmp_path / "x.bin") == [
        "x DataType.FLOAT32 [2, 3] 6 24",
        f"DataType.FLOAT32 [2, 4] {best}",
        f"{best}",
    ]


def test_parallel_requests(tmp_path: Path) -> None:
    (line,) = program("parallel_requests.py", dense_file(tmp_path / "model.ms"), 8)
    ones = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(
        [float(word) for word in line.split()], [wanted(ones * n).sum() for n in range(8)], rtol=1e-5
    )


def test_convert_and_resize(tmp_path: Path) -> None:
    lines = program("convert_and_resize.py", DIGITS, tmp_path / "digits")
    assert lines[0] == "CONVERT RESULT SUCCESS:0"
    for line, batch in zip(lines[1:4], (1, 4, 2), strict=True):
        assert line.startswith(f"{batch} [{batch}, 8, 8, 1] [{batch}, 10] [")
    assert lines[4] == "still [2, 8, 8, 1]"


def test_the_page_about_python(tmp_path: Path) -> None:
    """The programs of docs/python.md, one after the other."""
    fixed_file(tmp_path / "net.ms")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    calls = (
        "results = asyncio.run(serve(model, [np.ones((2, 3), np.float32)] * 3))\n"
        "print([result[0].shape for result in results], context)\n"
    )
    text = "\n".join(["import asyncio", *blocks, calls])
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(mslite.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(blocks) == 3
    lines = done.stdout.splitlines()
    assert lines[-1] == "[[2, 4], [2, 4], [2, 4]] Context(cpu.thread_num=2, run_limits.milliseconds=500)"
    assert lines[0].startswith("Model('net.ms', inputs=[(name='x', shape=[2, 3], dtype=FLOAT32)]")


TYPED = """
from typing import assert_type
from collections.abc import Sequence
import numpy as np
import numpy.typing as npt
from typing import Any
import {package} as mslite

class Other:
    def __dlpack__(self, stream: int | None = None) -> object:
        return None
    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

async def use(inputs: list[mslite.Tensor]) -> None:
    model, runner = mslite.Model(), mslite.ModelParallelRunner()
    context = mslite.Context()
    context.cpu.thread_num = 1
    context.run_limits.milliseconds = 100
    assert_type(context.parallel.config_info, dict[str, dict[str, str]])
    assert_type(context.gpu.rank_id, int)
    assert_type(context.ascend.provider, str)
    assert_type(model.build_from_file("a.ms", mslite.ModelType.MINDIR, context), None)
    assert_type(model.get_inputs(), list[mslite.Tensor])
    assert_type(model.get_outputs(), tuple[mslite.TensorMeta, ...])
    assert_type(model.predict(inputs), list[mslite.Tensor])
    assert_type(await model.predict_async(inputs, [np.zeros(2)]), list[mslite.Tensor])
    assert_type(await runner.predict_async(inputs), list[mslite.Tensor])
    assert_type(model.cancel(), bool)
    assert_type(model.predict([np.zeros(2), inputs[0], Other()]), list[mslite.Tensor])
    assert_type(mslite.Tensor.from_dlpack(Other()), mslite.Tensor)
    assert_type(inputs[0].get_data_to_numpy(), npt.NDArray[Any])
    assert_type(inputs[0].shape, list[int])
    assert_type(mslite.Tensor.from_numpy(np.zeros(2)), mslite.Tensor)
    assert_type(mslite.Tensor(np.zeros(2)).dtype, mslite.DataType)
    assert_type(mslite.ModelGroup().cal_max_size_of_workspace(mslite.ModelType.MINDIR, context), int)
    assert_type(mslite.Converter().input_shape, dict[str, list[int]])
    assert_type(mslite.__version__, str)
"""
MISTAKES = {
    "mslite.NoSuchName": "attr-defined",
    "mslite.Context().cpu.thread_nums = 1": "attr-defined",
    "mslite.Context().cpu.thread_num = '1'": "assignment",
    "mslite.Model().predict(1)": "arg-type",
    "mslite.Model().build_from_file('a.ms', 4)": "arg-type",
    "mslite.ModelGroup(1)": "arg-type",
}


@pytest.mark.parametrize("package", ["mslite", "mindspore_lite"])
def test_type_checkers_know_everything(package: str, tmp_path: Path) -> None:
    shutil.copy(COMPAT / "mindspore_lite-stubs" / "__init__.pyi", tmp_path / "mindspore_lite.pyi")
    text = TYPED.replace("{package}", package)
    first = len(text.splitlines()) + 1
    (tmp_path / "user.py").write_text(text + "\n".join(MISTAKES) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    configuration = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path.parent / "mypy")]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(tmp_path), str(Path(mslite.__file__).parents[1])])}
    done = subprocess.run(
        [*command, *configuration, "user.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    told = [line for line in done.stdout.splitlines() if ": error:" in line]
    expected = [(f"user.py:{first + index}:", f"[{code}]") for index, code in enumerate(MISTAKES.values())]
    assert len(told) == len(expected), done.stdout + done.stderr
    for line, (place, code) in zip(told, expected, strict=True):
        assert line.startswith(place), line
        assert line.endswith(code), line


def test_networks_of_mindspore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteInfer, with a stand-in for MindSpore whose export writes a MINDIR file of the converter."""
    source = str(image_onnx(tmp_path / "image.onnx"))
    converter = mslite.Converter()
    converter.save_type = mslite.ModelType.MINDIR
    converter.convert(mslite.FmkType.ONNX, source, str(tmp_path / "network"))
    asked: list[Any] = []

    class Cell:
        pass

    class Model:
        predict_network = Cell()

    def export(network: Cell, *inputs: object, file_name: str, file_format: str) -> None:
        assert isinstance(network, Cell)
        asked.append((inputs, file_format))
        shutil.copy(tmp_path / "network.mindir", f"{file_name}.mindir")

    fake: Any = ModuleType("mindspore")
    fake.nn, fake.train, fake.export = ModuleType("nn"), ModuleType("train"), export
    fake.nn.Cell, fake.train.Model = Cell, Model
    monkeypatch.setitem(sys.modules, "mindspore", fake)
    image = np.random.default_rng(1).random((1, 3, 6, 6), np.float32)
    converter = mslite.Converter()
    converter.input_format = mslite.Format.NCHW
    converter.convert(mslite.FmkType.ONNX, source, str(tmp_path / "direct"))
    direct = mslite.Model()
    direct.build_from_file(str(tmp_path / "direct.ms"), mslite.ModelType.MINDIR_LITE)
    (reference,) = direct.predict([image])
    for network in (Cell(), Model()):
        infer = mslite.LiteInfer(network, image, context=mslite.Context(), config={"weight": {"weight_path": "."}})
        (y,) = infer.predict([image])
        np.testing.assert_allclose(np.asarray(y), np.asarray(reference), rtol=1e-5)
        inputs = infer.get_inputs()
        infer.resize(inputs, [[3, 3, 6, 6]])
        assert infer.predict(inputs)[0].shape[0] == 3
    assert asked == [((image,), "MINDIR")] * 2
    with pytest.raises(ValueError, match=r"nn\.Cell, not object"):
        mslite.LiteInfer(object())
