"""`--verify` runs the source and the result on the same input and finds the first layer that differs. `--infer` runs
the
result once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from mslite.converter.convert import Report
from mslite.converter.encryption import Encryption
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.front_ends import parse_model
from mslite.converter.mindir.graph import Array, Graph, Module, Value, data_type_of, numpy_type
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.quantized import SHIFTS, dequantized_array, is_quantized
from mslite.converter.options import FmkType, Options
from mslite.converter.training import is_training, of_training
from mslite.converter.verify.comparison import (
    AGREES,
    TOLERANCE,
    TOLERANCE_FLOAT16,
    TOLERANCE_QUANTIZED,
    Difference,
    difference,
)
from mslite.converter.verify.inputs import given_inputs, random_inputs
from mslite.converter.verify.interpreter import InterpreterError, run_graph
from mslite.converter.verify.reference import Arrays, run_source

_RANDOM = ("random", "true", "on")


def _was_compared(report: Report, what: str, say: Callable[[str], None]) -> bool:
    """Returns whether the conversion compared its result with the `torch.export` program. Raises ConversionError for
    input files."""
    if what not in _RANDOM:
        message = "--verify compares a torch.export program on random inputs only; give no files"
        raise ConversionError(message, code=ReturnCode.INPUT_PARAMETER_INVALID)
    if AGREES in report.notes:
        return True
    say("verify      the result was not compared with the program; see the notes")
    return False


def _compare(value: Value, got: Array, want: Array, share: float) -> Difference:
    """Compares a tensor of the result with that of the source."""
    least = 2 * max((record.scale for record in value.quant), default=0.0)
    return difference(value.name, _real(value, got), _real(value, want), share, least)


def _real(value: Value, array: Array) -> Array:
    """Dequantizes the integers of a quantized value, which may be unsigned in the source; returns other arrays
    unchanged."""
    if not is_quantized(value) or array.dtype.kind == "f":
        return array
    shift = SHIFTS.get(data_type_of(array), 0) if numpy_type(value.dtype).kind == "i" else 0
    return dequantized_array(array.astype(np.int64) - shift, value.quant, axis=0)


def _as_stored(value: Value, array: Array) -> Array:
    """Converts an input from the source's layout to the result's."""
    shape = value.shape or ()
    if value.format is Format.NHWC and array.ndim == 4 and not _fits(array.shape, shape):
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    return array


def _fits(shape: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    return len(shape) == len(declared) and all(d < 0 or s == d for s, d in zip(shape, declared, strict=True))


def run_result(file: Path, inputs: list[Array], key: bytes | None = None) -> list[Array]:
    """Runs a `.ms` file and returns its outputs; `key` decrypts an encrypted file. Raises ConversionError if it does
    not run."""
    import mslite

    model = mslite.Model()
    try:
        model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, dec_key=key)
        tensors = model.get_inputs()
        shapes = [list(array.shape) for array in inputs]
        if shapes != [list(tensor.shape) for tensor in tensors]:
            model.resize(tensors, shapes)
        return [tensor.get_data_to_numpy() for tensor in model.predict(inputs)]
    except (RuntimeError, ValueError, TypeError) as error:
        raise ConversionError(f"{file}: the result does not run: {error}", code=ReturnCode.NOT_SUPPORTED) from None


def infer_once(file: Path, encryption: Encryption) -> None:
    """Loads the result and runs it once on random data (`--infer`). Raises ConversionError."""
    module = load(file, encryption.result_opener)
    inputs = module.main.inputs
    if is_training(module):  # inputs that only the loss reads are not inputs of inference
        inputs = [value for value in inputs if not all(of_training(node) for node in value.users)]
    run_result(file, random_inputs(inputs), encryption.encrypt_key)


def verify_conversion(options: Options, report: Report, what: str, say: Callable[[str], None] = print) -> bool:
    """Compares the written file with its source on `what` (`random`, or .npy files). Returns whether all outputs agree.

    A `torch.export` program was already compared during conversion. Raises ConversionError if a model cannot be run.
    """
    if report.framework is FmkType.PYTORCH:
        return _was_compared(report, what, say)
    source_inputs = parse_model(options, report.framework).main.inputs
    named = source_inputs
    arrays = random_inputs(named) if what in _RANDOM else given_inputs(what, named)
    by_name = {value.name: array for value, array in zip(named, arrays, strict=True)}
    source = run_source(options.model_file, report.framework, by_name, options.signature)
    module = load(report.files[0], options.encryption.result_opener)
    stored = [_as_stored(value, array) for value, array in zip(module.main.inputs, arrays, strict=True)]
    share = _tolerance(module)
    results = run_result(report.files[0], stored, options.encryption.encrypt_key)
    outputs = module.outputs if module.outputs is not None else module.main.outputs
    wrong: list[Difference] = []
    for value, got in zip(outputs, results, strict=True):
        want = source.get(value.name)
        if want is None:
            say(f"verify      the source has no tensor with the name of output '{value.name}'")
            return False
        found = _compare(value, _like(got, want), want, share)
        say(f"verify      output {found}")
        if found.is_too_large:
            wrong.append(found)
    if wrong:
        say(f"verify      {_first_layer(module.main, stored, source, share)}")
    return not wrong


def _tolerance(module: Module) -> float:
    """Returns the tolerance for the least precise data type of the written model."""
    values = [value for graph in module.graphs for value in graph.values()]
    if any(is_quantized(value) for value in values):
        return TOLERANCE_QUANTIZED
    return TOLERANCE_FLOAT16 if any(value.dtype is DataType.FLOAT16 for value in values) else TOLERANCE


def _like(got: Array, want: Array) -> Array:
    """Converts an NHWC output to the layout of an NCHW source."""
    if got.ndim == 4 and got.shape != want.shape and got.transpose(0, 3, 1, 2).shape == want.shape:
        return got.transpose(0, 3, 1, 2)
    return got


def _in_source(value: Value, source: Arrays) -> Array | None:
    """Returns the source's tensor of a value, or None. A value before or after an added cast has the tensor's name
    with a suffix."""
    want = source.get(value.name)
    if want is None:
        want = source.get(value.name.removesuffix("/QuantDTypeCast" if value.quant else "_uncast"))
    return want


def _first_layer(graph: Graph, inputs: list[Array], source: Arrays, share: float) -> str:
    """Returns a message with the first layer, in execution order, that differs from the source by more than the
    tolerance."""
    try:
        contents = run_graph(graph, {v.name: a for v, a in zip(graph.inputs, inputs, strict=True)})
    except InterpreterError as error:
        return f"the first layer that differs cannot be found: {error}"
    for node in graph.nodes:
        for value in node.outputs:
            want, got = _in_source(value, source), contents.get(value)
            if want is None or got is None or got.size != want.size:
                continue
            nhwc = value.format is Format.NHWC and got.ndim == 4 and want.ndim == 4
            mine = got.transpose(0, 3, 1, 2) if nhwc and got.transpose(0, 3, 1, 2).shape == want.shape else got
            if mine.shape != want.shape:
                continue
            found = _compare(value, mine, want, share)
            if found.is_too_large:
                return f"the first layer that differs is {node.op.name} '{node.name}': {found}"
    return "all layers agree if they run with the scalar kernels: the difference comes from the runtime's kernels"
