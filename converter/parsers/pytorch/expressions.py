"""Checks size expressions in a program before SymPy parses them with Python's `eval`."""

from __future__ import annotations

import ast
import re

from mslite.converter.text_shortening import quoted

_SYMBOL = re.compile(r"[a-z]{1,6}\d{1,6}")
_LONGEST = 1 << 15
_DEEPEST = 100
_LARGEST = 1 << 63
_LARGEST_POWER = 64
_FUNCTIONS = frozenset(
    [
        "Add",
        "Mul",
        "Pow",
        "Max",
        "Min",
        "Abs",
        "Mod",
        "Integer",
        "Float",
        "Rational",
        "Symbol",
        "And",
        "Or",
        "Not",
        "Xor",
        "ITE",
        "Piecewise",
        "ExprCondPair",
        "Tuple",
        "Equality",
        "Eq",
        "Ne",
        "Unequality",
        "StrictLessThan",
        "StrictGreaterThan",
        "LessThan",
        "GreaterThan",
        "Lt",
        "Le",
        "Gt",
        "Ge",
        "floor",
        "ceiling",
        "FloorDiv",
        "ModularIndexing",
        "Where",
        "PythonMod",
        "CleanDiv",
        "CeilToInt",
        "FloorToInt",
        "CeilDiv",
        "LShift",
        "RShift",
        "PowByNatural",
        "FloatPow",
        "FloatTrueDiv",
        "IntTrueDiv",
        "IsNonOverlappingAndDenseIndicator",
        "TruncToFloat",
        "TruncToInt",
        "RoundToInt",
        "RoundDecimal",
        "ToFloat",
        "Identity",
        "OpaqueUnaryFn_sqrt",
        "BitwiseFn_bitwise_and",
        "BitwiseFn_bitwise_or",
    ]
)
_POWERS = frozenset({"Pow", "PowByNatural", "FloatPow", "LShift"})
_WORDS = frozenset({"true", "false", "oo", "int_oo", "zoo", "nan"})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd, ast.Not, ast.And, ast.Or)


class UnsafeProgram(ValueError):
    """A program with contents that no exporter writes; `str()` describes them."""


def check_expression(text: object) -> None:
    """Raises UnsafeProgram if the text is not arithmetic on symbols and numbers."""
    if not isinstance(text, str) or len(text) > _LONGEST or not text.isascii():
        raise UnsafeProgram(f"the size expression {quoted(str(text)[:200])} is invalid")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnsafeProgram(f"the size expression {quoted(text)} cannot be parsed") from None
    if not _is_safe(tree.body, _DEEPEST):
        raise UnsafeProgram(f"the size expression {quoted(text)} is not arithmetic on sizes")


def _is_safe(node: ast.expr, depth: int) -> bool:
    if depth == 0:
        return False
    match node:
        case ast.Constant(value=bool()):
            return True
        case ast.Constant(value=int() | float() as number):
            return abs(number) <= _LARGEST
        case ast.Name(id=name):
            return name in _WORDS or _SYMBOL.fullmatch(name) is not None
        case ast.UnaryOp(op=operator, operand=operand):
            return isinstance(operator, _OPERATORS) and _is_safe(operand, depth - 1)
        case ast.BinOp(left=left, op=operator, right=right):
            if isinstance(operator, ast.Pow):
                return _is_power(left, right, depth)
            return isinstance(operator, _OPERATORS) and all(_is_safe(side, depth - 1) for side in (left, right))
        case ast.BoolOp(values=values):
            return all(_is_safe(value, depth - 1) for value in values)
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            return all(_is_safe(side, depth - 1) for side in (left, right))
        case ast.Tuple(elts=items):
            return all(_is_safe(item, depth - 1) for item in items)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=keywords):
            return function in _FUNCTIONS and _is_call(function, arguments, keywords, depth)
    return False


def _is_call(function: str, arguments: list[ast.expr], keywords: list[ast.keyword], depth: int) -> bool:
    if any(not isinstance(word.value, ast.Constant) or word.arg is None for word in keywords):
        return False
    if function == "Symbol":  # a name and assumptions
        name = arguments[0].value if len(arguments) == 1 and isinstance(arguments[0], ast.Constant) else None
        assumed = [word.value.value for word in keywords if isinstance(word.value, ast.Constant)]
        is_named = isinstance(name, str) and _SYMBOL.fullmatch(name) is not None
        return is_named and all(isinstance(value, bool) for value in assumed)
    if function == "Float":  # digits as text, and the precision
        return all(isinstance(one, ast.Constant) and len(str(one.value)) <= 64 for one in arguments) and all(
            isinstance(word.value, ast.Constant) and isinstance(word.value.value, int) and 0 < word.value.value <= 64
            for word in keywords
        )
    if keywords and any(word.arg != "evaluate" for word in keywords):
        return False
    if function in _POWERS:
        return len(arguments) == 2 and _is_power(arguments[0], arguments[1], depth)
    return all(_is_safe(argument, depth - 1) for argument in arguments)


def _is_power(base: ast.expr, exponent: ast.expr, depth: int) -> bool:
    """Returns whether the power is safe: nested powers could create huge numbers."""
    nested = any(
        isinstance(node, ast.Pow) or (isinstance(node, ast.Name) and node.id in _POWERS) for node in ast.walk(base)
    )
    return not nested and _is_safe(base, depth - 1) and _is_small_power(exponent)


def _is_small_power(node: ast.expr) -> bool:
    """Returns whether the exponent is small. Large ones could take unlimited time and memory."""
    match node:
        case ast.Call(func=ast.Name(id="Integer" | "Float" | "Rational"), args=arguments, keywords=[]):
            return all(_is_small_power(argument) for argument in arguments)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_small_power(operand)
        case ast.Constant(value=int() | float() as number):
            return abs(number) <= _LARGEST_POWER
    return False
