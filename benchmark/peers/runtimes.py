"""Adapters for the runtimes: each loads an ONNX file, or a file converted from it, and runs it.

The arguments of an adapter are the ONNX file, a folder for converted files, the inputs, the number of threads and the precision.
An adapter raises `ImportError` if its package is not installed, and another exception if it cannot load the model; the benchmark
reports both. Converted files that exist are used again, so that they can be copied to a machine without the converters.
"""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Inputs = dict[str, npt.NDArray[Any]]


class Runtime(ABC):
    """A model loaded in one runtime. `package` is the name of the Python package, used to look up the version."""

    package: str
    precisions: tuple[str, ...] = ("float32",)
    """The precisions in which the runtime can run a float32 file."""

    @abstractmethod
    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None: ...

    @classmethod  # noqa: B027 (those that read ONNX files write nothing)
    def convert(cls, model: Path, work: Path, inputs: Inputs) -> None:
        """Converts the ONNX file into the runtime's format in `work`, unless the converted file exists."""

    @abstractmethod
    def run(self) -> list[npt.NDArray[Any]]:
        """Runs one inference. Returns the outputs in the order of the ONNX graph, in ONNX's layout."""

    @classmethod
    def version(cls) -> str:
        return version(cls.package)


def _convert(command: list[str], work: Path) -> None:
    """Runs a converter in the folder `work`.

    Raises:
        RuntimeError: the converter failed; the message has its exit status and its last line of output.
    """
    done = subprocess.run(command, capture_output=True, cwd=work, text=True, errors="replace", check=False)
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise RuntimeError(": ".join([f"{Path(command[0]).name} failed with exit status {done.returncode}", *last]))


class Mslite(Runtime):
    package = "mslite"

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        import mslite

        self.convert(model, work, inputs)
        context = mslite.Context()
        context.cpu.thread_num = threads
        self.model = mslite.Model()
        self.model.build_from_file(str(work / f"{model.stem}.ms"), mslite.ModelType.MINDIR_LITE, context)
        self.inputs = self.model.get_inputs()
        for tensor in self.inputs:
            tensor.set_data_from_numpy(np.ascontiguousarray(inputs[tensor.name]))

    @classmethod
    def convert(cls, model: Path, work: Path, inputs: Inputs) -> None:
        import mslite

        converted = work / f"{model.stem}.ms"
        if not converted.exists():
            converter = mslite.Converter()
            converter.input_format = mslite.Format.NCHW
            converter.convert(mslite.FmkType.ONNX, str(model), str(converted))

    def run(self) -> list[npt.NDArray[Any]]:
        return [output.get_data_to_numpy() for output in self.model.predict(self.inputs)]

    @classmethod
    def version(cls) -> str:
        import mslite

        return str(mslite.__version__)


class OnnxRuntime(Runtime):
    package = "onnxruntime"

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.inputs = inputs

    def run(self) -> list[npt.NDArray[Any]]:
        outputs: list[npt.NDArray[Any]] = self.session.run(None, self.inputs)
        return outputs


class OpenVino(Runtime):
    package = "openvino"

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        import openvino

        core = openvino.Core()
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "NUM_STREAMS": 1,
        }
        self.request = core.compile_model(str(model), "CPU", settings).create_infer_request()
        self.inputs = inputs

    def run(self) -> list[npt.NDArray[Any]]:
        return list(self.request.infer(self.inputs).values())


class Mnn(Runtime):
    package = "MNN"
    precisions = ("float32", "float16")

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        import MNN.expr as expression
        import MNN.nn as network

        self.convert(model, work, inputs)
        converted = str(work / f"{model.stem}.mnn")
        precise = "high" if precision == "float32" else "low"
        runtime = network.create_runtime_manager(({"backend": "CPU", "precision": precise, "numThread": threads},))
        self.module = network.load_module_from_file(converted, list(inputs), [], runtime_manager=runtime)
        self.variables = []
        for array in inputs.values():
            data = array.astype(np.int32) if array.dtype == np.int64 else array
            kind = expression.int if data.dtype == np.int32 else expression.float
            self.variables.append(expression.const(data, list(data.shape), expression.NCHW, kind))

    @classmethod
    def convert(cls, model: Path, work: Path, inputs: Inputs) -> None:
        converted = work / f"{model.stem}.mnn"
        if not converted.exists():
            command = [
                str(Path(sys.executable).parent / "mnnconvert"),
                "-f",
                "ONNX",
                "--modelFile",
                str(model.resolve()),
            ]
            _convert([*command, "--MNNModel", str(converted), "--bizCode", "x"], work)

    def run(self) -> list[npt.NDArray[Any]]:
        # The array that read() returns belongs to the variable and is freed with it.
        return [output.read().copy() for output in self.module.forward(self.variables)]


class Ncnn(Runtime):
    package = "ncnn"
    precisions = ("float32", "float16")

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        import ncnn

        self.convert(model, work, inputs)
        param = work / f"{model.stem}.ncnn.param"
        self.net = ncnn.Net()
        self.net.opt.num_threads = threads
        half = precision == "float16"
        self.net.opt.use_fp16_storage = self.net.opt.use_fp16_packed = self.net.opt.use_fp16_arithmetic = half
        if self.net.load_param(str(param)) != 0 or self.net.load_model(str(param.with_suffix(".bin"))) != 0:
            raise RuntimeError(f"ncnn cannot load {param.name}")
        self.inputs = [
            ncnn.Mat(np.ascontiguousarray(array[0].astype(np.int32) if array.dtype == np.int64 else array[0])).clone()
            for array in inputs.values()
        ]

    @classmethod
    def convert(cls, model: Path, work: Path, inputs: Inputs) -> None:
        if (work / f"{model.stem}.ncnn.param").exists():
            return
        pnnx = Path(sys.executable).parent / "pnnx"
        copy = work / model.name
        copy.write_bytes(model.read_bytes())
        shapes = ",".join(
            str(list(array.shape)).replace(" ", "") + ("i64" if array.dtype == np.int64 else "")
            for array in inputs.values()
        )
        _convert([str(pnnx), copy.name, f"inputshape={shapes}", "fp16=0"], work)

    def run(self) -> list[npt.NDArray[Any]]:
        extractor = self.net.create_extractor()
        for name, data in zip(self.net.input_names(), self.inputs, strict=True):
            extractor.input(name, data)
        outputs = []
        for name in self.net.output_names():
            status, output = extractor.extract(name)
            if status != 0:
                raise RuntimeError(f"ncnn failed with status {status} at output {name}")
            outputs.append(np.array(output)[None])
        return outputs


def _reason(absent: Path) -> str:
    """Returns ": REASON" from missing.txt in the file's folder, which `networks` writes; "" if it has no such line."""
    notes = absent.parent / "missing.txt"
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else []
    return next((f": {line.partition(': ')[2]}" for line in lines if line.startswith(f"{absent.name}: ")), "")


class LiteRt(Runtime):
    """Runs the file `<model>.tflite` in the folder of the ONNX file, because LiteRT does not read ONNX."""

    package = "ai-edge-litert"

    def __init__(self, model: Path, work: Path, inputs: Inputs, threads: int, precision: str = "float32") -> None:
        from ai_edge_litert.interpreter import Interpreter

        converted = model.with_suffix(".tflite")
        if not converted.exists():
            raise FileNotFoundError(f"LiteRT does not read ONNX, and {converted.name} is missing{_reason(converted)}")
        self.interpreter = Interpreter(str(converted), num_threads=threads)
        self.interpreter.allocate_tensors()
        for detail, array in zip(self.interpreter.get_input_details(), inputs.values(), strict=True):
            data = array
            if array.ndim == 4 and tuple(detail["shape"]) != array.shape:
                data = array.transpose(0, 2, 3, 1)
            self.interpreter.set_tensor(detail["index"], np.ascontiguousarray(data.astype(detail["dtype"])))
        self.outputs = [detail["index"] for detail in self.interpreter.get_output_details()]

    def run(self) -> list[npt.NDArray[Any]]:
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(index) for index in self.outputs]


RUNTIMES: dict[str, type[Runtime]] = {
    "mslite": Mslite,
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
    "MNN": Mnn,
    "ncnn": Ncnn,
    "litert": LiteRt,
}

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Idle OpenMP threads sleep instead of spinning, so that they do not slow down the next runtime."""
