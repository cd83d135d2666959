"""The text form of a module. `text_parser.parse` reads it.

    module "" version "MindSpore Lite 2.7.0" framework 4
    graph "main_graph" {
      input %x: FLOAT32[1, ?0, 8] NHWC
      const %perm: INT32[3] = [0, 2, 1]
      node "turn" Transpose(%x, %perm) -> %y: FLOAT32[1, 8, ?0]
      output %y
    }

Equal symbols have equal numbers after the question mark; `[*]` is an unknown rank; `#2` after a name marks a second
value of that name. Constants of more than 16 elements are shown by size and digest, or optionally in base64.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from enum import IntEnum
from typing import Any

import numpy as np

from .graph import SYMBOL_LIMIT, Array, Graph, Module, Node, Value, is_symbol
from .ms_writer import contiguous
from .ops.enums import Format, QuantType
from .ops.tables import TABLES, QuantParam

PLAIN_NAME = re.compile(r"[A-Za-z0-9_](?:[\w./:;+-]*[\w./;+-])?", re.ASCII)
_INLINE_ELEMENTS = 16


def to_text(module: Module, with_data: bool = False) -> str:
    """Returns the text form of a module; `with_data` includes all constants, so that it can be parsed."""
    return _Printer(module, with_data).text


def quoted(text: str) -> str:
    return json.dumps(text)


def literal(value: Any) -> str:
    """Formats an attribute value."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, bytes | memoryview):
        return f'x"{bytes(value).hex()}"'
    if isinstance(value, tuple | list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else repr(value)


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right) if isinstance(left, float) else bool(left == right)


def attributes_text(attributes: Any, record: Any) -> str:
    """Returns ` {name = value, ...}` with the attributes that differ from their defaults."""
    parts = []
    for attribute in attributes:
        value = getattr(record, attribute.name)
        if not _same(value, attribute.default):
            parts.append(f"{attribute.wire_name} = {literal(value)}")
    return f" {{{', '.join(parts)}}}" if parts else ""


def _elements(array: Array) -> str | None:
    """Returns the elements of a small array; None if the text would not be lossless."""
    flat = array.reshape(-1)
    if array.size > _INLINE_ELEMENTS or array.dtype.kind not in "biuf":
        return None
    if array.dtype.kind == "f":
        parts = [str(item) for item in flat]
        back = np.array([float(part) for part in parts]).astype(array.dtype)
        if back.tobytes() != np.ascontiguousarray(flat).tobytes():
            return None
        return "[" + ", ".join(parts) + "]"
    return literal(flat.tolist())


class _Printer:
    def __init__(self, module: Module, with_data: bool) -> None:
        self._with_data = with_data
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._declared: set[int] = set()
        version = f" version {quoted(module.version)}" if module.version else ""
        lines = [f"module {quoted(module.name)}{version} framework {module.framework}"]
        for graph in module.graphs:
            lines += self._graph(graph)
        if module.outputs is not None:
            for value in module.outputs:
                if id(value) not in self._declared:
                    lines.append(self._stored("value", value))
            lines.append("outputs" + "".join(f" {self._name(value)}" for value in module.outputs))
        self.text = "\n".join(lines) + "\n"

    def _name(self, value: Value) -> str:
        if id(value) not in self._names:
            plain = PLAIN_NAME.fullmatch(value.name)
            base = name = "%" + (value.name if plain else quoted(value.name))
            number = 1
            while name in self._taken:
                number += 1
                name = f"{base}#{number}"
            self._taken.add(name)
            self._names[id(value)] = name
        return self._names[id(value)]

    def _graph(self, graph: Graph) -> list[str]:
        lines = [f"graph {quoted(graph.name)} {{"]
        lines += [self._entering(value) for value in graph.inputs]
        for node in graph.nodes:
            lines += [self._stored("const", value) for value in node.inputs if self._is_new(value)]
            lines.append(self._node(node))
        lines += [self._stored("const", value) for value in graph.outputs if self._is_new(value)]
        lines += [f"  output {self._name(value)}" for value in graph.outputs]
        return [*lines, "}"]

    def _entering(self, value: Value) -> str:
        if self._is_new(value):
            return f"  input {self._declaration(value)}{self._data(value)}"
        return f"  input {self._name(value)}"

    def _is_new(self, value: Value) -> bool:
        if id(value) in self._declared:
            return False
        self._declared.add(id(value))
        return True

    def _stored(self, word: str, value: Value) -> str:
        if not value.is_constant:
            word = "value"
        return f"  {word} {self._declaration(value)}{self._data(value)}"

    def _declaration(self, value: Value) -> str:
        if value.shape is None:
            shape = "*"
        else:
            shape = ", ".join(f"?{SYMBOL_LIMIT - dim}" if is_symbol(dim) else str(dim) for dim in value.shape)
        text = f"{self._name(value)}: {value.dtype.name}[{shape}]"
        if value.format != Format.NCHW:
            text += f" {value.format.name}"
        if value.quant:
            text += " quant [" + ", ".join(_record(record) for record in value.quant) + "]"
        return text

    def _data(self, value: Value) -> str:
        if value.data is not None:
            elements = _elements(value.data)
            return " = " + (elements if elements is not None else self._bytes(value.data.data))
        if value.raw is None:
            return ""
        text = f" = raw {self._bytes(memoryview(value.raw))}"
        if value.encoding is not None:
            encoding = value.encoding
            text += f" {encoding.compression.name} {literal(encoding.huffman)} {literal(encoding.clusters)}"
        return text

    def _bytes(self, data: memoryview) -> str:
        view = contiguous(data)
        if self._with_data:
            return f'base64 "{base64.b64encode(view).decode()}"'
        return f'digest "{hashlib.sha256(view).hexdigest()[:16]}" {len(view)}'

    def _node(self, node: Node) -> str:
        inputs = ", ".join(self._name(value) for value in node.inputs)
        text = f"  node {quoted(node.name)} {node.op.name}({inputs})"
        text += attributes_text(node.op.declaration.attributes, node.op)
        if node.quant_type != QuantType.QUANT_NONE:
            text += f" {node.quant_type.name}"
        if node.source:
            text += f" from {quoted(node.source)}"
        outputs = []
        for value in node.outputs:
            declaration = self._declaration(value) if self._is_new(value) else self._name(value)
            outputs.append(declaration + self._data(value))
        return text + (" -> " + ", ".join(outputs) if outputs else "")


def _record(record: QuantParam) -> str:
    return attributes_text(TABLES["QuantParam"], record).strip() or "{}"
