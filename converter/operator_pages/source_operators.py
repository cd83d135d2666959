"""Which mslite operators each operator of a source format becomes, from the tables of the parsers."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeGuard

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.custom import Custom

Converter = Callable[..., Any]

FORMATS = {
    "onnx": "ONNX",
    "tflite": "TensorFlow Lite",
    "tensorflow": "TensorFlow",
    "caffe": "Caffe",
    "mindir": "MindSpore",
}
"""Source format -> its name in pages."""

_HELPERS = frozenset(
    (
        *("BroadcastTo", "Cast", "Concat", "ConstantOfShape", "ExpandDims", "Fill", "Gather", "PadFusion", "Reshape"),
        *("Shape", "SliceFusion", "Squeeze", "Stack", "StridedSlice", "TileFusion", "Transpose", "Unsqueeze"),
    )
)
"""Operators that converters also use to change the shape or type of inputs. They are named only if nothing else is."""

_NO_OPERATORS = (Operator, Custom)
"""Custom stands for nodes that are unsupported, in reports."""

_DEPTH = 4


def converter_tables() -> dict[str, Mapping[str, Converter]]:
    """Source format -> source operator -> its converter."""
    import mslite.converter.parsers.caffe
    import mslite.converter.parsers.onnx.parser
    import mslite.converter.parsers.tf
    import mslite.converter.parsers.tflite.parser  # noqa: F401
    from mslite.converter.parsers.caffe.registry import CONVERTERS as CAFFE
    from mslite.converter.parsers.onnx.registry import KNOWN_OPSET, find_converter, registered_operators
    from mslite.converter.parsers.tf.registry import CONVERTERS as TENSORFLOW
    from mslite.converter.parsers.tflite.registry import CONVERTERS as TFLITE

    onnx = {
        f"{domain}.{name}" if domain else name: converter
        for domain in ("", "com.microsoft")
        for name in registered_operators(domain)
        if (converter := find_converter(domain, name, KNOWN_OPSET)) is not None
    }
    return {"onnx": onnx, "tflite": TFLITE, "tensorflow": TENSORFLOW, "caffe": CAFFE}


def source_operators() -> dict[str, dict[str, list[str]]]:
    """Operator -> source format -> the source operators that become it, alone or together with others."""
    result: dict[str, dict[str, set[str]]] = {name: {} for name in OPERATORS}
    for source_format, converters in converter_tables().items():
        others = frozenset(id(converter) for converter in converters.values())
        declared = _declared(source_format)
        for source, converter in converters.items():
            if source.startswith("_"):
                continue
            named = named_operators(converter, source, others)
            stated = declared.get(source, set())
            for name in stated if stated & named or not named else _without_helpers(named):
                result[name].setdefault(source_format, set()).add(source)
    for source, names in mindspore_primitives().items():
        for name in names:
            result[name].setdefault("mindir", set()).add(source)
    return {name: {key: sorted(values) for key, values in found.items()} for name, found in result.items()}


def mindspore_primitives() -> dict[str, set[str]]:
    """MindSpore primitive -> operators. Operators of MindSpore Lite's schema are read by their own names, too."""
    import mslite.converter.parsers.mindir.parser  # noqa: F401
    from mslite.converter.parsers.mindir.registry import REACHED, find_converter

    result = {name: {name} for name, cls in OPERATORS.items() if not cls.declaration.is_custom}
    for name, stated in REACHED.items():
        converter = find_converter(name)
        assert converter is not None
        result[name] = set(stated) & named_operators(converter, name) or set(stated)
    return result


def _declared(source_format: str) -> dict[str, set[str]]:
    """Source operator -> the operators whose declarations name it."""
    result: dict[str, set[str]] = {}
    for name, cls in OPERATORS.items():
        for source in getattr(cls.declaration, source_format):
            result.setdefault(source, set()).add(name)
    return result


def _without_helpers(names: set[str]) -> set[str]:
    return names - _HELPERS or names


# ---- the operators that the source code of a converter names ----


def named_operators(converter: Converter, source: str, others: frozenset[int] = frozenset()) -> set[str]:
    """The operators that a converter, and the functions of its parser that it calls, name in their source code.

    If a table has the source operator as a key, only that entry counts, else the whole table. `others` are the identities
    of the converters of other source operators, which are not followed.
    """
    names: set[str] = set()
    _visit(converter, source, names, set(others) - {id(converter)}, 0)
    return names


def _visit(value: Any, source: str, names: set[str], seen: set[int], depth: int) -> None:
    if id(value) in seen or depth > _DEPTH:
        return
    seen.add(id(value))
    if isinstance(value, functools.partial):
        for each in (value.func, *value.args, *value.keywords.values()):
            _visit(each, source, names, seen, depth)
    elif isinstance(value, type):
        if issubclass(value, Operator) and value not in _NO_OPERATORS:
            names.add(value.__name__)
    elif isinstance(value, Operator):
        names.add(value.name)
    elif isinstance(value, dict):
        for each in [value[source]] if source in value else value.values():
            _visit(each, source, names, seen, depth)
    elif isinstance(value, tuple | list):
        for each in value:
            _visit(each, source, names, seen, depth)
    elif isinstance(value, FunctionType) and _is_of_parser(value):
        called = {node.attr for node in _body(value) if isinstance(node, ast.Attribute)}
        for each in _named(value):
            if isinstance(each, type) and _is_of_parser(each):
                for method in _called_methods(each, called):
                    _visit(method, source, names, seen, depth + 1)
            _visit(each, source, names, seen, depth + 1)


def _is_of_parser(value: FunctionType | type) -> bool:
    """Whether a function or class belongs to a parser. Importers are left out: they read graphs of any operators."""
    return ".parsers." in value.__module__ and not value.__name__.endswith("Importer")


def _called_methods(cls: type, called: set[str]) -> list[FunctionType]:
    """The methods of these names, and those that they call by `self`."""
    methods = {name: value for name, value in vars(cls).items() if isinstance(value, FunctionType)}
    found: dict[str, FunctionType] = {}
    waiting = [name for name in methods if name in called | {"__init__", "__post_init__"}]
    while waiting:
        name = waiting.pop()
        if name in methods and name not in found:
            found[name] = methods[name]
            waiting += [node.attr for node in _body(methods[name]) if _is_of_self(node)]
    return list(found.values())


def _is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


@functools.cache
def _body(function: FunctionType) -> tuple[ast.AST, ...]:
    """The syntax of a function, without its decorators and annotations; nothing if its source code is not there."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return ()
    first = tree.body[0]
    body = first.body if isinstance(first, ast.FunctionDef) else tree.body
    return tuple(each for statement in body for each in ast.walk(statement))


def _named(function: FunctionType) -> Iterator[Any]:
    """The objects that the names in a function's source code refer to."""
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    scope = function.__globals__
    for node in _body(function):
        if isinstance(node, ast.Name) and node.id in scope:
            yield scope[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.get(node.value.id)
            if isinstance(owner, ModuleType):
                yield getattr(owner, node.attr, None)
