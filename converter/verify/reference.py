"""Runs the source model with its framework's runtime and keeps the outputs of all layers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array
from mslite.converter.options import FmkType
from mslite.converter.parsers.tflite.model import SourceModel, load
from mslite.extras import install

Arrays = dict[str, Array]


def _module(name: str, extra: str = "verify") -> Any:
    """Imports an optional package. Raises ConversionError with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise ConversionError(
            f"--verify needs the package {package}. Install it with: {install(extra)}",
            code=ReturnCode.NOT_SUPPORTED,
        ) from None


def run_source(model: Path, framework: FmkType, inputs: Mapping[str, Array], signature: str = "") -> Arrays:
    """Returns name → elements of all tensors that the source model computes, with the `signature` that was converted.

    Raises ConversionError if the runtime is not installed or cannot run the model.
    """
    if framework not in _RUNNERS:
        raise ConversionError(
            f"--verify does not support {framework.name} models: it compares with onnxruntime, LiteRT or TensorFlow",
            code=ReturnCode.NOT_SUPPORTED,
        )
    try:
        return _RUNNERS[framework](model, inputs, signature)
    except ConversionError:
        raise
    except Exception as error:  # the exceptions of the packages have no common base class
        raise ConversionError(f"--verify: the source model does not run: {error}", code=ReturnCode.ERROR) from None


def _run_onnx(model: Path, inputs: Mapping[str, Array], signature: str) -> Arrays:
    del signature  # ONNX models have no signatures
    runtime = _module("onnxruntime")
    onnx = _module("onnx")
    proto = onnx.load(str(model))
    present = {output.name for output in proto.graph.output}
    wanted = [output.name for output in proto.graph.output]
    for node in proto.graph.node:
        for name in node.output:
            if name and name not in present:
                proto.graph.output.append(onnx.ValueInfoProto(name=name))
                wanted.append(name)
                present.add(name)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = runtime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(wanted, dict(inputs))
    return {name: result for name, result in zip(wanted, results, strict=True) if isinstance(result, np.ndarray)}


def _run_tflite(model: Path, inputs: Mapping[str, Array], signature: str) -> Arrays:
    runtime = _module("ai_edge_litert.interpreter")
    with warnings.catch_warnings():  # LiteRT warns that this option is for debugging, as here
        warnings.simplefilter("ignore")
        interpreter = runtime.Interpreter(str(model), experimental_preserve_all_tensors=True)
    if signature:
        return _run_signature(interpreter, signature, load(model), inputs)
    details = {detail["name"]: detail for detail in interpreter.get_input_details()}
    for name, array in inputs.items():
        if name in details and tuple(details[name]["shape"]) != array.shape:
            interpreter.resize_tensor_input(details[name]["index"], array.shape)
    interpreter.allocate_tensors()
    for name, array in inputs.items():
        interpreter.set_tensor(details[name]["index"], array)
    interpreter.invoke()
    return _tensors(interpreter, 0)


def _run_signature(interpreter: Any, name: str, model: SourceModel, inputs: Mapping[str, Array]) -> Arrays:
    """Runs the graph of a signature; inputs and outputs are named as in the signature."""
    number = next(signature.number for signature in model.signatures if signature.key == name)
    outputs = interpreter.get_signature_runner(name)(**inputs)
    return {**_tensors(interpreter, number), **outputs}


def _tensors(interpreter: Any, number: int) -> Arrays:
    """Returns the tensors of a graph after a run, by name."""
    results: Arrays = {}
    for detail in interpreter.get_tensor_details(number):
        if detail["dtype"] is np.object_:  # the handle of a variable
            continue
        try:
            results[detail["name"]] = interpreter.get_tensor(detail["index"], number)
        except ValueError:  # a tensor without data after a run
            continue
    return results


def _run_tensorflow(model: Path, inputs: Mapping[str, Array], signature: str) -> Arrays:
    from mslite.converter.verify.tensorflow_reference import quiet, run_tensorflow

    with quiet():
        return run_tensorflow(_module("tensorflow", "tf"), model, inputs, signature)


_RUNNERS: dict[FmkType, Callable[[Path, Mapping[str, Array], str], Arrays]] = {
    FmkType.ONNX: _run_onnx,
    FmkType.TFLITE: _run_tflite,
    FmkType.TF: _run_tensorflow,
}
