"""Makes steps of custom operators, which call the user's function CustomKernel (src/registered_kernel.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mslite.codegen.literals import c_string
from mslite.codegen.program import Call, Step, Storage, Tensor
from mslite.converter.mindir.ops.custom import Custom

CUSTOM_KERNEL = "CustomKernel"
"""`Step.kernel` of a custom operator's step."""

_STATIC = Path(__file__).parent / "static"
_FILES = {
    "registered_kernel.h": "src/registered_kernel.h",
    "nnacl/tensor_c.h": "src/nnacl/tensor_c.h",
    "nnacl/custom_parameter.h": "src/nnacl/custom_parameter.h",
    "custom.h": "src/custom/custom.h",
    "custom.c": "src/custom/custom.c",
}
_TENSOR_SIZE, _PARAMETER_SIZE = 104, 808
"""Bytes of TensorC and CustomParameter with 8-byte pointers; smaller on other targets. static/custom.c checks them."""
_MAXIMUM_TEXT, _MAXIMUM_NAME, _MAXIMUM_ATTRIBUTES = 63, 99, 8
_NHWC = 1
_WORD = 8


def custom_call(step: Step, kind: str, attributes: Sequence[tuple[str, bytes]]) -> Step:
    """Returns the step as a call of CustomKernel. `problem_of` must have returned ""."""
    tensors = [*step.inputs, *step.outputs]
    text = _initializer(step, kind, attributes)
    call = Call(
        function="mslite_custom_run",
        header="custom/custom.h",
        type="mslite_custom",
        numbers=lambda isa: text,
        files={path: _source(name) for name, path in _FILES.items()},
        more_instructions=None,
    )
    return replace(
        step,
        kernel=CUSTOM_KERNEL,
        derived=b"",
        shared_size=_TENSOR_SIZE * len(tensors) + _PARAMETER_SIZE,
        call=call,
        note=f"{kind}: custom operator, needs your function CustomKernel",
    )


def problem_of(kind: str, attributes: Sequence[tuple[str, bytes]]) -> str:
    """Returns the reason why the attributes of a custom operator do not fit into CustomParameter, or "" if they do."""
    if len(attributes) > _MAXIMUM_ATTRIBUTES:
        return f"it has {len(attributes)} attributes; CustomParameter has room for {_MAXIMUM_ATTRIBUTES}"
    for name in (kind, *(name for name, _ in attributes)):
        if len(name.encode()) > _MAXIMUM_TEXT:
            return f"the name '{name}' is longer than the {_MAXIMUM_TEXT} bytes that fit into CustomParameter"
    return ""


def _initializer(step: Step, kind: str, attributes: Sequence[tuple[str, bytes]]) -> str:
    """Returns the initializer of the C struct mslite_custom."""
    tensors = "".join(f"        {_tensor(tensor)},\n" for tensor in (*step.inputs, *step.outputs))
    name = step.name.encode()[:_MAXIMUM_NAME].decode(errors="ignore")
    lines = [
        f".op_parameter_ = {{.name_ = {_text(name)}, .type_ = {Custom.declaration.wire_id}, .thread_num_ = 1}}",
        f".type = {_text(kind)}",
        f".attr_name = {_list(_text(name) for name, _ in attributes)}",
        f".attr_data = {_list(_bytes(data) for _, data in attributes)}",
        f".attr_num = {len(attributes)}",
        f".attr_size = {_list(str(len(data)) for _, data in attributes)}",
    ]
    if not attributes:
        del lines[2:]
    parameter = "".join(f"        {line},\n" for line in lines)
    return (
        f"{{\n    .input_count = {len(step.inputs)},\n    .output_count = {len(step.outputs)},\n"
        f"    .tensors = (const TensorC[]){{\n{tensors}    }},\n"
        f"    .param = &(const CustomParameter){{\n{parameter}    }},\n}}"
    )


def _tensor(tensor: Tensor | None) -> str:
    assert tensor is not None
    category = "ConstTensor" if tensor.storage is Storage.CONSTANT else "VarTensor"
    shape = f", .shape_ = {_list(map(str, tensor.shape))}" if tensor.shape else ""
    return (
        f"{{.data_type_ = {int(tensor.dtype)}, .format_ = {_NHWC}, .category_ = {category}, "
        f".shape_size_ = {len(tensor.shape)}{shape}, .name_ = {_text(tensor.name)}}}"
    )


def _bytes(data: bytes) -> str:
    """Returns a C expression for these bytes, followed by at least one zero byte, at a multiple of 8."""
    padded = data + bytes(_WORD - len(data) % _WORD)
    words = (f"0x{word:x}U" for (word,) in struct.iter_unpack("<Q", padded))
    return f"(char *)(const uint64_t[]){_list(words)}"


def _text(text: str) -> str:
    return f'"{c_string(text)}"'


def _list(items: Iterable[str]) -> str:
    return "{" + ", ".join(items) + "}"


@cache
def _source(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
