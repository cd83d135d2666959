"""Compares a converted `torch.export` program with the program, in two successive runs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Module, Value, numpy_type
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.options import Options
from mslite.converter.parsers.pytorch import ProgramRunError, ProgramRuns, run_program
from mslite.converter.verify.comparison import (
    AGREES,
    TOLERANCE,
    TOLERANCE_FLOAT16,
    TOLERANCE_QUANTIZED,
    Difference,
    difference,
)

LONGEST = 120
"""Time limit in seconds, for all runs of the program including PyTorch's start, and for each run of the result."""

_NOISE = 8
"""Tolerance, as a multiple of the program's change when its inputs change in their last bits."""
_LARGEST_NOISE = 0.1
"""An output that changes by more than this share of its largest value is not compared: it depends on rounding."""
_REMEDY = (
    "Please report the program, or convert it without comparison: converter_lite --verify=off (Converter.verify = "
    "False)"
)
_RUNS = ("random inputs", "random inputs, after the first run and with a row of each mask empty")


def compare_with_program(module: Module, options: Options, trains: bool) -> str:
    """Runs the converted module, a float model, and its source program, and compares the outputs.

    `trains`: the module is for training; a program in training mode is then not compared, because the converted model
    computes inference.

    Returns a note for the user. Raises ConversionError if an output differs or the result does not run.
    """
    if any(isinstance(node.op, Custom) for graph in module.graphs for node in graph.nodes):
        return "not compared with the program: the result has Custom nodes, whose kernels are not available here"
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        try:
            runs = run_program(options.model_file, options.input_shapes, trains, Path(folder), LONGEST)
        except ProgramRunError as reason:
            return f"not compared with the program: {reason}"
        files = save(module, Path(folder) / "result.ms")
        return _compared(files[0], module, options, runs)


def _compared(file: Path, module: Module, options: Options, runs: ProgramRuns) -> str:
    import mslite

    ends = module.outputs if module.outputs is not None else module.main.outputs
    if len(ends) != len(runs.outputs[0]):
        return f"not compared with the program: it has {len(runs.outputs[0])} outputs, and the result {len(ends)}"
    if len(module.main.inputs) != len(runs.inputs[0]):
        return f"not compared with the program: it has {len(runs.inputs[0])} inputs, and the result {len(module.main.inputs)}"
    context = mslite.Context()
    context.run_limits.milliseconds = LONGEST * 1000
    model = mslite.Model()
    share = TOLERANCE_FLOAT16 if runs.is_coarse or _is_coarse(module) else TOLERANCE
    if runs.is_quantized:
        share = TOLERANCE_QUANTIZED
    by_chance: set[str] = set()
    start = time.monotonic()
    try:
        model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, context)
        for run, (inputs, outputs) in enumerate(zip(runs.inputs, runs.outputs, strict=True)):
            start = time.monotonic()
            arrays = [
                _as_stored(value, array) for value, array in zip(module.main.inputs, inputs.values(), strict=True)
            ]
            tensors = model.get_inputs()
            if run == 0 and [tensor.shape for tensor in tensors] != [list(array.shape) for array in arrays]:
                model.resize(tensors, [list(array.shape) for array in arrays])
            results = [np.array(tensor.get_data_to_numpy()) for tensor in model.predict(arrays)]
            found = []
            for place, (value, got, want) in enumerate(zip(ends, results, outputs, strict=True)):
                one = _difference(value.name, _as_in_program(got, want, options), want, share)
                noise = 0.0 if runs.noise is None else float(runs.noise[run][place])
                if noise > _LARGEST_NOISE * _largest(want):
                    by_chance.add(value.name)
                elif not one.error <= max(one.allowed, _NOISE * noise):
                    found.append(one)
            if found:
                raise _differs(options, run, found, len(ends))
    except (RuntimeError, ValueError, TypeError, KeyError) as error:
        if time.monotonic() - start >= LONGEST:
            return f"not compared with the program: a run of the result takes more than {LONGEST} seconds"
        message = f"{options.model_file}: the program runs, but the converted model does not: {error}. {_REMEDY}"
        raise ConversionError(message, code=ReturnCode.NOT_SUPPORTED) from None
    if not by_chance:
        return AGREES
    names = ", ".join(f"'{name}'" for name in sorted(by_chance)[:8])
    return f"outputs that depend on random numbers or on rounding are not compared with the program: {names}"


def _differs(options: Options, run: int, found: list[Difference], count: int) -> ConversionError:
    """Returns the error with the outputs that differ and the kind of inputs."""
    worst = "; ".join(str(one) for one in found[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    message = (
        f"{options.model_file}: the result differs from the program in {len(found)} of {count} outputs, in run "
        f"{run + 1} ({_RUNS[min(run, 1)]}): output {worst}{more}. {_REMEDY}"
    )
    return ConversionError(message, code=ReturnCode.NOT_SUPPORTED)


def _difference(name: str, got: Array, want: Array, share: float) -> Difference:
    """Compares an output. Integers may have another width: the result may store int64 as int32."""
    if want.dtype.kind == "c" or got.dtype.kind == "c":
        want, got = _parts(want), _parts(got)
    return difference(name, got, want, share)


def _parts(array: Array) -> Array:
    """Returns complex numbers as pairs in an added last dimension of 2; other arrays unchanged."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def _largest(array: Array) -> float:
    numbers = np.abs(_parts(array).astype(np.float64))
    return float(numbers[np.isfinite(numbers)].max(initial=0.0))


def _as_stored(value: Value, array: Array) -> Array:
    """Converts an input of the program to the layout and type of the result's input."""
    array = _parts(array)
    if value.format is Format.NHWC and array.ndim == 4:
        array = array.transpose(0, 2, 3, 1)
    return np.array(array, numpy_type(value.dtype), order="C")


def _as_in_program(got: Array, want: Array, options: Options) -> Array:
    """Converts an output of the result to the program's layout."""
    return got.transpose(0, 3, 1, 2) if options.output_format is Format.NHWC and want.ndim == 4 else got


def _is_coarse(module: Module) -> bool:
    return any(value.dtype is DataType.FLOAT16 for graph in module.graphs for value in graph.values())
