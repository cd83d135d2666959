"""Reads the ranges of dynamic input dimensions in [dynamic_dims] of the configuration, and bounds the peak memory.

    [dynamic_dims]
    inputs_shape=image:[batch,3,side,side];mask:[batch,1,side,side]
    dynamic_dim_params=batch:[1~8];side:[224,320~640]

Shapes are in the layout of the source model. A parameter is a list of sizes and ranges; only the largest size is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.graph import Module, Shape, Value
from mslite.converter.mindir.module_io import to_meta, to_module
from mslite.converter.mindir.ms_writer import contiguous
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import Options
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.memory import peak_activation_bytes
from mslite.converter.spelling import check_keys

SECTION = "dynamic_dims"
_SHAPES, _RANGES = "inputs_shape", "dynamic_dim_params"
_KEYS = (_SHAPES, _RANGES)
_LARGEST = (1 << 31) - 1
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ENTRY = re.compile(r"(?P<name>.+):\[(?P<items>[^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,10})(?:~(\d{1,10}))?", re.ASCII)


@dataclass(frozen=True)
class Bound:
    """The peak memory of the activations within the ranges."""

    shapes: Mapping[str, Shape]
    """Input names and their largest shapes, in the layout of the source model."""
    peak_bytes: int | None
    """Bytes; None if some shapes depend on the data."""


def _wrong(text: str) -> UsageError:
    return UsageError(f"INPUT ILLEGAL: [{SECTION}] {text}")


def parse_dynamic_dims(section: Mapping[str, str]) -> dict[str, Shape]:
    """Returns the largest shape of each input; -1 is a dimension that the model keeps.

    Raises UsageError for an unknown key, a syntax error, an invalid range, a parameter without a range, or an unused
    one.
    """
    check_keys(section, SECTION, _KEYS)
    for key in _KEYS:
        if not section.get(key):
            raise _wrong(f"{key} is missing")
    largest = {name: _largest(name, items) for name, items in _entries(section[_RANGES], _RANGES).items()}
    used: set[str] = set()
    shapes = {}
    for name, items in _entries(section[_SHAPES], _SHAPES).items():
        shapes[name] = tuple(_size(name, item, largest, used) for item in items)
    unused = sorted(set(largest) - used)
    if unused:
        raise _wrong(f"{_RANGES}: '{unused[0]}' is not used in {_SHAPES}")
    return shapes


def _entries(text: str, key: str) -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {}
    for part in filter(None, text.split(";")):
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise _wrong(f"{key}: '{part}' must be name:[...]")
        name = match.group("name")
        if name in entries:
            raise _wrong(f"{key} names '{name}' twice")
        entries[name] = match.group("items").split(",") if match.group("items") else []
    return entries


def _largest(name: str, items: list[str]) -> int:
    """Returns the largest size of a parameter."""
    if not _NAME.fullmatch(name):
        raise _wrong(f"{_RANGES}: '{name}' is not a valid parameter name")
    if not items:
        raise _wrong(f"{_RANGES}: '{name}' has no sizes")
    largest = 0
    for item in items:
        match = _RANGE.fullmatch(item)
        if match is None:
            raise _wrong(f"{_RANGES}: '{item}' of '{name}' must be a size or first~last")
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if not 1 <= first <= last <= _LARGEST:
            raise _wrong(f"{_RANGES}: the range '{item}' of '{name}' is empty or not within 1 to {_LARGEST}")
        largest = max(largest, last)
    return largest


def _size(name: str, item: str, largest: Mapping[str, int], used: set[str]) -> int:
    if item in largest:
        used.add(item)
        return largest[item]
    if item == "-1":
        return -1
    if item.isascii() and item.isdigit() and len(item) <= 10 and int(item) <= _LARGEST:
        return int(item)
    if _NAME.fullmatch(item):
        raise _wrong(f"{_SHAPES}: '{item}' of input '{name}' has no range in {_RANGES}")
    raise _wrong(f"{_SHAPES}: '{item}' of input '{name}' is neither a size nor a parameter")


def check_dynamic_dims(module: Module, options: Options) -> None:
    """Raises ConversionError if a shape of [dynamic_dims] does not match the input of that name."""
    inputs = {value.name: value for value in module.main.inputs}
    for name, shape in options.dynamic_dims.items():
        if name not in inputs:
            known = ", ".join(f"'{each}'" for each in inputs)
            raise _refused(f"{_SHAPES} names '{name}', which is not an input of the model; its inputs are {known}")
        if name in options.input_shapes:
            raise _refused(f"input '{name}' is also in --inputShape; leave it out of one of them")
        have = inputs[name].shape
        if have is None:
            continue
        if len(have) != len(shape):
            raise _refused(
                f"input '{name}' has {len(have)} dimensions, {len(shape)} {'was' if len(shape) == 1 else 'were'} given"
            )
        for axis, (model, given) in enumerate(zip(have, shape, strict=True)):
            if model >= 0 and given not in (-1, model):
                raise _refused(f"input '{name}': dimension {axis} is {model} in the model, not up to {given}")


def _refused(text: str) -> ConversionError:
    return ConversionError(f"configuration [{SECTION}]: {text}", code=ReturnCode.INPUT_PARAMETER_INVALID)


def memory_bound(result: Module, options: Options, source_layout: Format) -> Bound:
    """Returns the peak memory of the finished module at the largest input shapes; does not change `result`.

    Raises ConversionError if a shape cannot be inferred, or a tensor is too large.
    """
    meta = to_meta(result)
    for tensor in meta.allTensors or ():
        tensor.data = None if tensor.data is None else contiguous(tensor.data)
    module = to_module(meta)
    for value in module.main.inputs:
        shape = options.dynamic_dims.get(value.name)
        if shape is not None:
            value.shape = _in_file(value, shape, source_layout)
    context = Context()
    sizes = [size for value in module.main.inputs for size in value.shape or ()]
    context.next_symbol = min([context.next_symbol, *(size - 1 for size in sizes if size < 0)])
    infer_shapes(module, context)
    peaks = [peak_activation_bytes(graph) for graph in module.graphs]
    known = [peak for peak in peaks if peak is not None]
    return Bound(options.dynamic_dims, sum(known) if len(known) == len(peaks) else None)


def _in_file(value: Value, shape: Shape, source_layout: Format) -> Shape:
    """Converts a shape from the source's layout to that of the file's input; -1 is replaced by the file's dimension."""
    if len(shape) == 4 and source_layout is Format.NCHW and value.format is Format.NHWC:
        shape = (shape[0], shape[2], shape[3], shape[1])
    have = value.shape or shape
    return tuple(model if given < 0 else given for model, given in zip(have, shape, strict=True))
