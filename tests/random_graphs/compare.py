"""Runs converter and runtime on a random graph, and compares with onnxruntime."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto

from mslite.context import Context
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.onnx.graph_inputs import known_type
from mslite.converter.parsers.onnx.loading import load
from mslite.model import Model
from mslite.types import ModelType

from .graphs import RandomGraph, Sample
from .values import EXACT, OTHER, Array

RELATIVE = {"float32": 2.0**-17, "float64": 2.0**-17, "float16": 2.0**-9}
"""Tolerance of an element relative to the tensor's largest magnitude."""
VANISHING = 1e-25
"""Values that count as zero: some exponential functions underflow early."""
DRIFTS = 4.0
"""Additional tolerance as a multiple of the drift of the disturbed graphs."""


_COUNTING = frozenset(
    {"Compress", "ConcatFromSequence", "If", "Loop", "NonMaxSuppression", "NonZero", "Scan", "Unique"}
)
"""Operators with outputs of data-dependent sizes, or of sizes that ONNX's inference does not know."""

_UNKNOWN_RANK = (
    "the rank of its input is unknown",
    "the rank of '",
    "the rank of the result",
    "the number of dimensions",
)
"""Parts of messages about an unknown rank."""


@dataclass(frozen=True)
class Variant:
    """A way to convert a graph."""

    name: str
    fusion: bool
    input_format: Format


VARIANTS = (
    Variant("optimized", True, Format.NCHW),
    Variant("not optimized", False, Format.NCHW),
    Variant("images as NHWC", True, Format.NHWC),
)


def problem(graph: RandomGraph) -> str:
    """Returns "" if every variant of the graph computes the expected results, with one and three threads, for both samples."""
    if text := _wrong_shape(graph):
        return text
    for variant in VARIANTS:
        if variant.input_format is Format.NHWC and not any(sample.rank_4 for sample in graph.samples):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                target = converted(graph.model, Path(folder), variant)
                text = _first_problem(graph, target, variant)
            except ConversionError as error:
                text = "" if _needs_sizes(graph.model, str(error)) else f"is not converted: {error}"
            except RuntimeError as error:
                text = f"does not run: {error}"
            except TimeoutError:
                raise
            except Exception as error:  # an error of the converter; the run continues
                text = f"breaks: {type(error).__name__}: {error}"
        if text:
            return f"{variant.name}: {text}"
    return ""


def _wrong_shape(graph: RandomGraph) -> str:
    """Returns the value with a shape that differs from the parser's assumption before it reads the nodes."""
    model = ModelProto()
    model.CopyFrom(graph.model)
    try:
        types = load(model).types
    except ConversionError as error:
        return f"is not read: {error}"
    for name, value in graph.values.items():
        known = known_type(types[name])[1] if name in types else None
        for world in (EXACT, OTHER):
            shape = value.worlds[world].shape
            if known is not None and not _may_be(shape, known):
                return f"{name} has the shape {list(shape)}, and is taken for one of {list(known)}"
    return ""


def _may_be(shape: tuple[int, ...], known: tuple[int | None, ...]) -> bool:
    return len(shape) == len(known) and all(size in (None, own) for own, size in zip(shape, known, strict=True))


def _needs_sizes(model: ModelProto, refusal: str) -> bool:
    """Returns whether the converter requires sizes (for 3-D windows and some paddings) or ranks that are dynamic in the graph."""
    opened = any(node.op_type in _COUNTING for node in model.graph.node)
    batched = any(dim.HasField("dim_param") for value in model.graph.input for dim in value.type.tensor_type.shape.dim)
    branched = any(node.op_type == "If" for node in model.graph.node)  # branches may have different ranks
    fixed = {tensor.name for tensor in model.graph.initializer}
    reshaped = any(node.op_type == "Reshape" and node.input[1] not in fixed for node in model.graph.node)
    listed = any(node.op_type == "ConcatFromSequence" for node in model.graph.node)  # ONNX infers no rank for these
    if any(text in refusal for text in _UNKNOWN_RANK):
        return branched or reshaped or listed
    return (
        "Give --inputShape" in refusal
        and ("is not fixed" in refusal or "is dynamic" in refusal)
        and (opened or batched)
    )


def converted(model: ModelProto, folder: Path, variant: Variant) -> Path:
    """Returns the `.ms` file. Raises ConversionError."""
    source, target = folder / "model.onnx", folder / "model.ms"
    onnx.save(model, source)
    convert(Options(source, target, FmkType.ONNX, input_format=variant.input_format, fusion=variant.fusion))
    return target


def _first_problem(graph: RandomGraph, target: Path, variant: Variant) -> str:
    first = loaded(target, 1)
    several = loaded(target, 3)
    for number, sample in enumerate(graph.samples):
        inputs = sample.inputs if variant.input_format is Format.NCHW else _channels_last(sample.inputs)
        got = run(first, inputs)
        if text := difference(sample, got):
            return f"sample {number}: {text}"
        other = run(several, inputs)
        for name in got:
            if not np.array_equal(got[name], other[name], equal_nan=got[name].dtype.kind == "f"):
                return f"sample {number}: output {name}: three threads give other bits than one"
    return ""


def _channels_last(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns 4-D inputs as the converter declares them with --inputDataFormat=NHWC."""
    return {name: array.transpose(0, 2, 3, 1) if array.ndim == 4 else array for name, array in inputs.items()}


def loaded(path: Path, threads: int) -> Model:
    """Builds a `.ms` file for the given number of threads."""
    context = Context()
    context.cpu.thread_num = threads
    model = Model()
    model.build_from_file(str(path), ModelType.MINDIR_LITE, context)
    return model


def run(model: Model, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by name."""
    tensors = model.get_inputs()
    shapes = [list(inputs[tensor.name].shape) for tensor in tensors]
    if shapes != [list(tensor.shape) for tensor in tensors]:
        model.resize(tensors, shapes)
        tensors = model.get_inputs()
    for tensor in tensors:
        tensor.set_data_from_numpy(np.asarray(inputs[tensor.name], order="C"))
    return {tensor.name: tensor.get_data_to_numpy() for tensor in model.predict(tensors)}


def difference(sample: Sample, got: Mapping[str, Array]) -> str:
    """Returns "" if data types, shapes and values match the sample."""
    if set(got) != set(sample.outputs):
        return f"outputs {sorted(got)} instead of {sorted(sample.outputs)}"
    for name, wanted in sample.outputs.items():
        actual = got[name]
        if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
            return f"output {name} is {actual.dtype}{list(actual.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        if wanted.size == 0:
            continue
        if wanted.dtype.kind != "f":
            if not np.array_equal(actual, wanted):
                index = _first(actual != wanted)
                count = int(np.count_nonzero(actual != wanted))
                return f"output {name}: {count} of {wanted.size} differ, {actual[index]} instead of {wanted[index]} at {index}"
            continue
        one, two = actual.astype(np.float64), wanted.astype(np.float64)
        allowed = RELATIVE[str(wanted.dtype)] * float(np.max(np.abs(two))) + DRIFTS * sample.drifts[name] + VANISHING
        apart = np.abs(one - two)
        if not np.all(apart <= allowed):  # including NaN
            index = _first(~(apart <= allowed))
            return f"output {name}: {one[index]} instead of {two[index]} at {index}, tolerance {allowed:.3g}"
    return ""


def _first(wrong: Array) -> tuple[int, ...]:
    """Returns the index of the first True."""
    return tuple(int(axis) for axis in np.unravel_index(np.argmax(wrong), wrong.shape))
