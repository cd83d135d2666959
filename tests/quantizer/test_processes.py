"""The processes of a search: they run no program of the caller again, and what becomes of them is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.quantizer.accuracy.process_pool import ProcessPool
from mslite.quantizer.accuracy.workers import workers

MODEL = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.onnx"

SCRIPT = """
import numpy as np
import mslite

print("the script begins", flush=True)

def likeness(expected, actual):
    assert __name__ == "__main__"
    return 1.0

converter = mslite.Converter()
converter.input_shape = {"image": [1, 1, 8, 8]}
converter.set_config_info("common_quant_param", {"quant_type": "FULL_QUANT"})
converter.set_config_info("accuracy_param", {"budget": BUDGET, "processes": "2"})
generator = np.random.default_rng(0)
converter.set_calibration_data([generator.random((1, 1, 8, 8), np.float32) for _ in range(8)])
converter.convert(mslite.FmkType.ONNX, MODEL, "digits")
"""


@pytest.mark.parametrize("budget", ["sqnr:45", "__main__:likeness:0.5"])
def test_a_script_without_main_guard_converts_once(budget: str, tmp_path: Path) -> None:
    script = tmp_path / "convert.py"
    script.write_text(f"MODEL = {str(MODEL)!r}\nBUDGET = {budget!r}\n{SCRIPT}")
    environment = {**os.environ, "PYTHONPATH": str(Path(mslite.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert (run.stdout + run.stderr).count("the script begins") == 1
    assert (tmp_path / "digits.ms").is_file()


def _double(payload: bytes | Path, item: int) -> int:
    print("what a function prints is no answer")
    return 2 * item


def _process(payload: bytes | Path, item: int) -> int:
    return os.getpid()


def test_answers_come_from_other_processes() -> None:
    with workers(processes=2) as pool:
        assert sorted(pool.map(_double, b"shared", range(20))) == [(item, 2 * item) for item in range(20)]
        assert os.getpid() not in {process for _, process in pool.map(_process, b"", range(4))}


class _Stubborn(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _leave() -> None:
    os._exit(5)


def _refuse() -> None:
    raise ConversionError("too little", code=ReturnCode.SHAPE_ERROR)


def _use_wrongly() -> None:
    raise UsageError("wrongly used")


def _be_stubborn() -> None:
    raise _Stubborn(1, 2)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (_kill, ConversionError, "by signal SIGKILL.*processes=1"),
        (_leave, ConversionError, "with status 5"),
        (_refuse, ConversionError, "too little"),
        (_use_wrongly, UsageError, "wrongly used"),
        (_be_stubborn, RuntimeError, "_Stubborn: 1 and 2"),  # cannot be pickled
    ],
)
def test_what_becomes_of_a_process_is_said(function: Callable[[], None], kind: type, message: str) -> None:
    pool = ProcessPool(1)
    try:
        with pytest.raises(kind, match=message):
            pool.submit(function).result(timeout=60)
    finally:
        pool.shutdown()


def test_arguments_that_do_not_arrive_are_an_error_of_the_call() -> None:
    pool = ProcessPool(1)
    try:
        with pytest.raises(Exception, match="cannot arrive"):
            pool.submit(np.sum, _Lost()).result(timeout=60)
        assert pool.submit(np.sum, np.ones(3)).result(timeout=60) == 3, "the process goes on"
    finally:
        pool.shutdown()


def _lose() -> None:
    raise ValueError("cannot arrive")


class _Lost:
    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _lose, ()
