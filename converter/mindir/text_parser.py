"""Reads the text form of a module (see `text`)."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, NoReturn

import numpy as np

from .graph import SYMBOL_LIMIT, Encoding, Graph, Module, Node, Value, numpy_type
from .ops import OPERATORS, Attribute
from .ops.enums import DataType, Format, QuantType, WeightQuantCompressType
from .ops.tables import TABLES, QuantParam
from .text import PLAIN_NAME

_TOKEN = re.compile(
    rf"""[ \t\r\n]+ | (?P<value>%(?:"(?:[^"\\]|\\.)*"|{PLAIN_NAME.pattern})(?:\#\d+)?)
    | (?P<hex>x"[0-9a-f]*") | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<number>-?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?![\w.]))
    | (?P<symbol>\?\d+) | (?P<word>[A-Za-z_]\w*) | (?P<mark>->|[{{}}()\[\]:,=*])""",
    re.VERBOSE | re.ASCII,
)


class TextError(Exception):
    """Invalid text; the message begins with the line number."""


def parse(text: str) -> Module:
    """Parses the text of `to_text(module, with_data=True)`. Raises TextError."""
    try:
        return _Parser(text).module()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise TextError(f"the text contains an invalid value: {error}") from None


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str, int]] = []
        self._next = 0
        self._values: dict[str, Value] = {}
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise TextError(f"line {line}: {text[at : at + 20]!r} is not understood")
            if match.lastgroup:
                self._tokens.append((match.lastgroup, match[0], line))
            line += match[0].count("\n")
            at = match.end()
        self._tokens.append(("end", "", line))

    # ---- tokens ----

    def _fail(self, message: str) -> NoReturn:
        raise TextError(f"line {self._tokens[self._next][2]}: {message}")

    def _peek(self, text: str) -> bool:
        return self._tokens[self._next][1] == text

    def _accept(self, text: str) -> bool:
        if self._peek(text) and self._tokens[self._next][0] in ("word", "mark"):
            self._next += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail(f"expected '{text}', found '{self._tokens[self._next][1]}'")

    def _take(self, kind: str) -> str:
        found, text, _ = self._tokens[self._next]
        if found != kind:
            self._fail(f"expected a {kind}, found '{text}'")
        self._next += 1
        return text

    def _string(self) -> str:
        return str(json.loads(self._take("string")))

    def _integer(self) -> int:
        text = self._take("number")
        if not re.fullmatch(r"-?\d+", text):
            self._fail(f"expected an integer, found '{text}'")
        return int(text)

    # ---- values of attributes ----

    def _literal(self) -> Any:
        kind, text, _ = self._tokens[self._next]
        if kind == "string":
            return self._string()
        if kind not in ("hex", "number", "word") and text != "[":
            self._fail(f"expected a value, found '{text}'")
        self._next += 1
        if kind == "hex":
            return bytes.fromhex(text[2:-1])
        if kind == "number":
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        if kind == "word":
            known = {"none": None, "true": True, "false": False, "inf": float("inf"), "nan": float("nan")}
            return known[text] if text in known else _Name(text)
        items = []
        while not self._accept("]"):
            items.append(self._literal())
            if not self._peek("]"):
                self._expect(",")
        return tuple(items)

    def _attributes(self, declared: tuple[Attribute, ...]) -> dict[str, Any]:
        by_name = {attribute.wire_name: attribute for attribute in declared}
        values: dict[str, Any] = {}
        if not self._accept("{"):
            return values
        while not self._accept("}"):
            name = self._take("word")
            if name not in by_name:
                self._fail(f"there is no attribute '{name}'")
            self._expect("=")
            attribute = by_name[name]
            value = self._literal()
            if attribute.enum:
                if not isinstance(value, _Name) or value not in attribute.enum.__members__:
                    self._fail(f"'{value}' is not a {attribute.enum.__name__}")
                value = attribute.enum[value]
            elif attribute.wire in ("float", "double"):
                value = float(value)
            elif attribute.wire == "[float]":
                value = None if value is None else tuple(float(item) for item in value)
            elif isinstance(value, _Name):
                self._fail(f"'{value}' is not a value of '{name}'")
            values[attribute.name] = value
            if not self._peek("}"):
                self._expect(",")
        return values

    # ---- structure ----

    def module(self) -> Module:
        self._expect("module")
        name = self._string()
        version = self._string() if self._accept("version") else ""
        self._expect("framework")
        module = Module([], name, version, self._integer())
        while self._accept("graph"):
            module.graphs.append(self._graph())
        while self._accept("value"):
            self._declaration()
        if self._accept("outputs"):
            module.outputs = []
            while self._tokens[self._next][0] == "value":
                module.outputs.append(self._known())
        if self._tokens[self._next][0] != "end":
            self._fail(f"'{self._tokens[self._next][1]}' follows the end of the module")
        return module

    def _graph(self) -> Graph:
        graph = Graph(self._string())
        self._expect("{")
        while not self._accept("}"):
            word = self._take("word")
            if word == "input":
                graph.inputs.append(self._declaration())
            elif word in ("const", "value"):
                self._declaration()
            elif word == "output":
                graph.outputs.append(self._known())
            elif word == "node":
                graph.nodes.append(self._node())
            else:
                self._fail(f"'{word}' is not allowed here")
        return graph

    def _known(self) -> Value:
        kind, name, _ = self._tokens[self._next]
        if kind == "value" and name not in self._values:
            self._fail(f"{name} is not declared before it is used")
        return self._values[self._take("value")]

    def _declaration(self) -> Value:
        """Parses a value with its type, or the name of a declared value."""
        identifier = self._take("value")
        if not self._accept(":"):
            self._next -= 1
            value = self._known()
        else:
            if identifier in self._values:
                self._fail(f"{identifier} is declared twice")
            text = identifier[1:]
            if text.startswith('"'):
                name = json.loads(re.sub(r"#\d+$", "", text))
            else:
                name = text.split("#")[0]
            value = self._values[identifier] = self._typed(name)
        if self._accept("="):
            self._data(value)
        return value

    def _typed(self, name: str) -> Value:
        type_name = self._take("word")
        if type_name not in DataType.__members__:
            self._fail(f"'{type_name}' is not an element type")
        shape: list[int] | None = []
        self._expect("[")
        if self._accept("*"):
            shape = None
            self._expect("]")
        while shape is not None and not self._accept("]"):
            if self._tokens[self._next][0] == "symbol":
                shape.append(SYMBOL_LIMIT - int(self._take("symbol")[1:]))
            else:
                shape.append(self._integer())
            if not self._peek("]"):
                self._expect(",")
        value = Value(name, DataType[type_name], None if shape is None else tuple(shape))
        if self._tokens[self._next][1] in Format.__members__:
            value.format = Format[self._take("word")]
        if self._accept("quant"):
            records = []
            self._expect("[")
            while not self._accept("]"):
                records.append(QuantParam(**self._attributes(TABLES["QuantParam"])))
                if not self._peek("]"):
                    self._expect(",")
            value.quant = tuple(records)
        return value

    def _data(self, value: Value) -> None:
        if self._accept("raw"):
            value.raw = self._bytes()
            if self._tokens[self._next][1] in WeightQuantCompressType.__members__:
                compression = WeightQuantCompressType[self._take("word")]
                value.encoding = Encoding(compression, bool(self._literal()), self._literal())
            return
        shape = value.shape or ()
        dtype = numpy_type(value.dtype)
        if self._peek("["):
            value.data = np.array(self._literal(), dtype=dtype).reshape(shape)
        else:
            value.data = np.frombuffer(self._bytes(), dtype).reshape(shape)

    def _bytes(self) -> bytes:
        if self._accept("digest"):
            self._fail("the text does not contain its constants; print it with data")
        self._expect("base64")
        try:
            return base64.b64decode(self._string(), validate=True)
        except binascii.Error as error:
            self._fail(f"invalid base64 data: {error}")

    def _node(self) -> Node:
        name = self._string()
        operator = self._take("word")
        if operator not in OPERATORS:
            self._fail(f"there is no operator '{operator}'")
        cls = OPERATORS[operator]
        self._expect("(")
        inputs = []
        while not self._accept(")"):
            inputs.append(self._known())
            if not self._peek(")"):
                self._expect(",")
        op = cls(**self._attributes(cls.declaration.attributes))
        quant_type = QuantType.QUANT_NONE
        if self._tokens[self._next][1] in QuantType.__members__:
            quant_type = QuantType[self._take("word")]
        source = self._string() if self._accept("from") else ""
        outputs = []
        if self._accept("->"):
            outputs.append(self._declaration())
            while self._accept(","):
                outputs.append(self._declaration())
        return Node(op, name, tuple(inputs), tuple(outputs), quant_type, source)


class _Name(str):
    """A word without quotes: the name of an enum value."""
