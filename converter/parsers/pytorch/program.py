"""Checks the JSON parts of a `torch.export` program. torch creates Python code, types and calls from them.

Names become part of code that is compiled and run; operators are looked up by name and called; container types import
modules; expressions are evaluated. So each text must match what exporters write.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from mslite.converter.memory_limit import spend
from mslite.converter.text_shortening import quoted

from .expressions import UnsafeProgram, check_expression

_IDENTIFIER = re.compile(r"[^\W\d]\w{0,999}")
_PLAIN = re.compile(r"[\w.\-:/+<>=~, ]{0,1000}")
"""Texts that are not names. None of them can end a Python string."""

_OPERATOR = re.compile(
    r"torch\.ops\.(aten|prims|quantized|quantized_decomposed|torchvision|onnx)\.[a-z]\w*\.\w+"
    r"|torch\.ops\.aten\._[a-z]\w*\.\w+"
    r"|torch\.ops\.aten\.__i?(and|or|xor|lshift|rshift)__\.(Tensor|Scalar)"
    r"|torch\.ops\.higher_order\.(cond|while_loop|scan|associative_scan|map_impl|wrap_with_set_grad_enabled|wrap_with_autocast)"
    r"|_operator\.(add|sub|mul|truediv|floordiv|mod|neg|pos|pow|abs|eq|ne|lt|le|gt|ge|and_|or_|not_|getitem|lshift|rshift)"
    r"|math\.(ceil|floor|trunc|sqrt)|torch\.sym_\w+|torch\._sym_\w+"
    r"|torch\._functorch\.predispatch\.(lazy_load_decompositions|_(add|remove)_batch_dim|_(vmap|jvp)_(in|de)crement_nesting"
    r"|_(make|unpack)_dual|_unwrap_for_grad|_(enter|exit)_dual_level)"
)
_FORBIDDEN_OPERATORS = frozenset({"from_file", "save", "_save", "load", "_load", "warn", "_debug_trace", "format"})
"""PyTorch operators that read or write files, or stop the program."""

_CONTAINERS = frozenset({None, "builtins.list", "builtins.tuple", "builtins.dict", "collections.OrderedDict"})
_FREE_TEXTS = frozenset({"metadata", "as_string", "as_strings"})
"""Fields that torch does not use, or only as quoted text."""

_NAMES = frozenset({"name", "as_name", "as_names", "forward_arg_names"})
_REFUSED = {
    "as_custom_obj": "it contains objects of custom classes",
    "custom_obj_values": "it contains objects of custom classes",
    "custom_obj": "it contains objects of custom classes",
}
_DEEPEST = 200
_MAX_SYMBOLS = 1 << 16
_ELEMENT_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 2, 7: 4, 8: 8, 9: 4, 10: 8, 11: 16, 12: 1, 13: 2, 28: 2}
"""Element type as a number in the program -> size in bytes."""


def checked_json(data: bytes) -> Any:
    """Parses JSON. Raises UnsafeProgram."""
    try:
        found = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise UnsafeProgram("it is damaged: it is not JSON") from None
    return found


def checked_program(data: bytes) -> bytes:
    """Returns the checked program without its guards, which torch would compile. Raises UnsafeProgram."""
    program = checked_json(data)
    if not isinstance(program, dict):
        raise UnsafeProgram("it is damaged: it is not a program")
    for symbol in _mapping(program.get("range_constraints")):
        digits = re.fullmatch(r"[a-z]{1,6}(\d{1,9})", symbol)
        if digits is None or int(digits[1]) > _MAX_SYMBOLS:
            raise UnsafeProgram(f"{quoted(symbol)} is not the name of a size")
    program["guards_code"] = []
    _check(program, "", _DEEPEST)
    return json.dumps(program).encode()


def payloads(data: bytes, what: str) -> tuple[bytes, dict[str, bool]]:
    """Returns the checked list of weights or constants in `data`, and file name -> whether it is a pickle.

    `what`: its name in the message about the memory limit. Raises UnsafeProgram, and ConversionError over the limit.
    """
    found = checked_json(data)
    if not isinstance(found, dict) or not isinstance(found.get("config"), dict):
        raise UnsafeProgram("it is damaged: it does not list weights")
    files: dict[str, bool] = {}
    for name, entry in found["config"].items():
        if not isinstance(entry, dict) or not _PLAIN.fullmatch(name):
            raise UnsafeProgram(f"{quoted(name)} is not the name of a weight")
        file, pickled = entry.get("path_name"), entry.get("use_pickle")
        if not isinstance(file, str) or not re.fullmatch(r"(weight|tensor)_\d{1,9}", file):
            if str(file).startswith(("custom_obj_", "opaque_obj_")):
                raise UnsafeProgram("it contains objects of custom classes")
            raise UnsafeProgram(f"{quoted(str(file)[:500])} is not the file of a weight")
        files[file] = files.get(file, False) or pickled is not False
        if pickled is False:
            _count(name, entry.get("tensor_meta"), what)
    _check(found, "", _DEEPEST)
    return json.dumps(found).encode(), files


def _count(name: str, meta: Any, what: str) -> None:
    """Counts the memory of the expanded weight: its strides may repeat elements."""
    sizes = meta.get("sizes") if isinstance(meta, dict) else None
    known = [size.get("as_int") if isinstance(size, dict) else None for size in sizes or ()]
    if not isinstance(sizes, list) or not all(isinstance(size, int) and 0 <= size < 1 << 48 for size in known):
        raise UnsafeProgram(f"the weight {quoted(name)} has no sizes")
    element = _ELEMENT_BYTES.get(meta.get("dtype"), 16) if isinstance(meta.get("dtype"), int) else 16
    spend(math.prod(size for size in known if size is not None) * element, f"{what}: the weight {quoted(name)}")


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnsafeProgram("it is damaged: it is not a program")
    return value


def _check(value: Any, key: str, depth: int) -> None:
    """Checks the value of a field recursively."""
    if depth == 0:
        raise UnsafeProgram("its parts are nested too deeply")
    if key in _FREE_TEXTS or value is None:
        return
    if key in _REFUSED and value not in ({}, []):
        raise UnsafeProgram(_REFUSED[key])
    if isinstance(value, dict):
        for name, item in value.items():
            if not _PLAIN.fullmatch(name) or (key.endswith("_values") and not _IDENTIFIER.fullmatch(name)):
                raise UnsafeProgram(f"{quoted(name)} is not a name")
            _check(item, name, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, key, depth - 1)
    elif isinstance(value, str):
        _check_text(value, key)


def _check_text(text: str, key: str) -> None:
    if key == "expr_str":
        check_expression(text)
    elif key in ("in_spec", "out_spec"):
        _check_containers(text)
    elif key in ("target", "as_operator"):
        if text.startswith("torch.ops.torchao."):
            remedy = "Convert the float model and quantize it with mslite"
            raise UnsafeProgram(f"it calls {quoted(text)}, of torchao's quantize_(). {remedy}")
        if not _OPERATOR.fullmatch(text) or (text.split(".")[3:4] and text.split(".")[3] in _FORBIDDEN_OPERATORS):
            raise UnsafeProgram(f"{quoted(text)} is not a supported operator")
    elif key in _NAMES:
        if text and not _IDENTIFIER.fullmatch(text):
            raise UnsafeProgram(f"{quoted(text)} is not a name")
    elif not _PLAIN.fullmatch(text):
        raise UnsafeProgram(f"the field '{key}' contains the invalid text {quoted(text)}")


def _check_containers(text: str) -> None:
    """Checks the structure of inputs or outputs: only lists, tuples and dictionaries; torch imports other types."""
    if not text:
        return
    spec = checked_json(text.encode(errors="replace"))
    if not isinstance(spec, list) or len(spec) != 2 or spec[0] != 1:
        raise UnsafeProgram("the structure of its inputs or outputs is invalid")
    work = [(spec[1], _DEEPEST)]
    while work:
        node, depth = work.pop()
        children = node.get("children_spec") if isinstance(node, dict) else None
        if not isinstance(children, list) or depth == 0:
            raise UnsafeProgram("the structure of its inputs or outputs is invalid")
        kind, context = node.get("type"), node.get("context")
        if not (kind is None or isinstance(kind, str)) or kind not in _CONTAINERS:
            raise UnsafeProgram(f"an input or output has the unsupported type {quoted(str(kind)[:500])}")
        keys = [] if context is None else checked_json(str(context).encode(errors="replace"))
        if keys is not None and not (isinstance(keys, list) and all(_is_key(item) for item in keys)):
            raise UnsafeProgram(f"an input or output has the unsupported keys {quoted(str(context)[:500])}")
        work.extend((child, depth - 1) for child in children)


def _is_key(key: Any) -> bool:
    return (isinstance(key, str) and _PLAIN.fullmatch(key) is not None) or type(key) is int
