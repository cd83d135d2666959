"""Writes `docs/operators.md`: `python3 -m mslite.converter.operator_facts OUT.md`.

Front ends are found in the tables of the parsers. Element types, instruction sets and targets of generated C are found
in
the kernel tables of the native modules, with the test cases of the references.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mslite import _codegen, _native
from mslite.converter.element_type_facts import types_of_operators
from mslite.converter.mindir.generator import documentation
from mslite.converter.mindir.graph import SYMBOL_LIMIT, data_type_of
from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.reference import CASES, REFERENCES, Case
from mslite.converter.mindir.wire import primitive_bytes

_PLUMBING = frozenset(
    (
        *("BroadcastTo", "Cast", "Concat", "ConstantOfShape", "ExpandDims", "Fill", "Gather", "PadFusion", "Reshape"),
        *("Shape", "SliceFusion", "Squeeze", "Stack", "StridedSlice", "TileFusion", "Transpose", "Unsqueeze"),
    )
)
"""Operators that parsers also use to rearrange the inputs of other operators."""

_VECTOR_ISAS = ("scalar", "avx2", "avx512", "neon")
"""Instruction sets that the kernels of `kernels/simd/` are compiled for, on any machine."""

_TARGETS = {
    "x86": ("avx2",),
    "Arm": ("neon", "neon_dot"),
    "Cortex-M": ("micro", "dsp", "mve"),
}
"""Targets of generated C, with the instruction sets that only they have."""

_VARIABLES = ("ReadVariable", "AssignVariable")
"""Operators without a kernel: the runtime and generated C keep the tensor from one run to the next."""

_CONTROL = ("Call", "PartialFusion", "Switch", "SwitchLayer")
"""Operators without a kernel: the runtime's executor runs them; in generated C they are branches and loops."""

_DEPTH = 4


def tables() -> dict[str, Mapping[str, Callable[..., Any]]]:
    """Returns front end -> source operator -> the function that converts it."""
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


def front_ends() -> dict[str, dict[str, list[str]]]:
    """Returns operator -> front end -> source operators that are converted to it."""
    result: dict[str, dict[str, set[str]]] = {name: {} for name in OPERATORS}
    for front_end, converters in tables().items():
        others = frozenset(id(converter) for converter in converters.values())
        declared = _declared(front_end)
        for foreign, converter in converters.items():
            if foreign.startswith("_"):
                continue
            for name in declared.get(foreign, set()) or _direct(reached(converter, foreign, others)):
                result[name].setdefault(front_end, set()).add(foreign)
    for foreign, names in mindir_primitives().items():
        for name in names:
            result[name].setdefault("mindir", set()).add(foreign)
    return {name: {key: sorted(values) for key, values in found.items()} for name, found in result.items()}


def mindir_primitives() -> dict[str, set[str]]:
    """Returns MindIR primitive -> operators: those with a converter, and mslite's operators by their own names."""
    import mslite.converter.parsers.mindir.parser  # noqa: F401
    from mslite.converter.parsers.mindir.registry import REACHED, find_converter

    result = {name: {name} for name, cls in OPERATORS.items() if not cls.declaration.is_custom}
    for name, stated in REACHED.items():
        converter = find_converter(name)
        assert converter is not None
        result[name] = set(stated) & reached(converter, name) or set(stated)
    return result


def _declared(front_end: str) -> dict[str, set[str]]:
    """Returns source operator -> the operators that name it in their declarations."""
    result: dict[str, set[str]] = {}
    for name, cls in OPERATORS.items():
        for foreign in getattr(cls.declaration, front_end):
            result.setdefault(foreign, set()).add(name)
    return result


def _direct(names: set[str]) -> set[str]:
    return names - _PLUMBING or names


# ---- the operators that a converter emits: found in its source code ----


def reached(converter: Callable[..., Any], foreign: str, others: frozenset[int] = frozenset()) -> set[str]:
    """Returns the operators that are named in the code of a converter and of the functions of its front end that it
    calls.

    In a table, only the entry of the source operator counts, or all entries if it has none. `others` are the
    identities of
    the converters of other operators, which are not followed.
    """
    names: set[str] = set()
    _visit(converter, foreign, names, set(others) - {id(converter)}, 0)
    return names


def _visit(value: Any, foreign: str, names: set[str], seen: set[int], depth: int) -> None:
    if id(value) in seen or depth > _DEPTH:
        return
    seen.add(id(value))
    if isinstance(value, functools.partial):
        for each in (value.func, *value.args, *value.keywords.values()):
            _visit(each, foreign, names, seen, depth)
    elif isinstance(value, type):
        if issubclass(value, Operator) and value is not Operator:
            names.add(value.__name__)
    elif isinstance(value, Operator):
        names.add(value.name)
    elif isinstance(value, dict):
        for each in [value[foreign]] if foreign in value else value.values():
            _visit(each, foreign, names, seen, depth)
    elif isinstance(value, tuple | list):
        for each in value:
            _visit(each, foreign, names, seen, depth)
    elif isinstance(value, FunctionType) and ".parsers." in value.__module__:
        for each in _named(value):
            _visit(each, foreign, names, seen, depth + 1)


def _named(function: FunctionType) -> Iterable[Any]:
    """Yields the objects that the names in a function's source code refer to."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    scope = function.__globals__
    first = tree.body[0]
    body = first.body if isinstance(first, ast.FunctionDef) else tree.body  # not the decorators
    for node in (each for statement in body for each in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id in scope:
            yield scope[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.get(node.value.id)
            if isinstance(owner, ModuleType):
                yield getattr(owner, node.attr, None)


# ---- kernels ----


class _Call:
    """A test case of the references in the form that the native modules need."""

    def __init__(self, case: Case) -> None:
        arrays = [np.ascontiguousarray(array).reshape(array.shape) for array in case.inputs if array is not None]
        self.operator = case.op.name
        self.primitive = primitive_bytes(case.op)
        self.infos = [_native.TensorInfo(int(data_type_of(a)), list(a.shape), None, a) for a in arrays]
        self.constant = [index in case.constants for index in range(len(arrays))]
        with np.errstate(all="ignore"):
            self.outputs = len(REFERENCES[case.op.name](case.op, case.inputs))

    def has_known_shapes(self) -> bool:
        """Returns whether the output shapes depend on the input shapes and constants only."""
        infos = [
            info if is_constant else _native.TensorInfo(info.dtype, info.dims, None, None)
            for info, is_constant in zip(self.infos, self.constant, strict=True)
        ]
        try:
            outputs, _ = _native.infer(self.primitive, infos, self.outputs, SYMBOL_LIMIT)
        except _native.OperatorError:
            return False
        return all(output.dims is not None and min(output.dims, default=0) >= 0 for output in outputs)


def kernel_facts() -> dict[str, dict[str, list[str]]]:
    """Returns operator -> supported element types, those that need casts, instruction sets, and targets of generated C.

    A target ends in `*` if there are kernels for it.
    """
    kernels: dict[str, list[tuple[str, str]]] = {}
    for name, operator, isa, _ in _native.kernels():
        kernels.setdefault(operator, []).append((name, isa))
    isas = {operator: {isa for _, isa in entries} for operator, entries in kernels.items()}
    for _, operator, isa, _ in _codegen.kernels():
        isas[operator].add(isa)
    # Operators for quantized tensors only have no test case; the shapes of their outputs are those of their inputs.
    generated = set(kernels) - {case.op.name for case in CASES}
    types = types_of_operators()
    for call in map(_Call, CASES):
        if call.operator not in generated and call.has_known_shapes():
            generated.add(call.operator)
    return {
        operator: {
            "types": types.get(operator, ([], []))[0],
            "casts": types.get(operator, ([], []))[1],
            "isas": _isas({isa for _, isa in entries}),
            "generated": _targets(isas[operator]) if operator in generated else [],
        }
        for operator, entries in kernels.items()
    } | {
        operator: {"types": [], "casts": [], "isas": [], "generated": _targets(set())}
        for operator in (*_VARIABLES, *_CONTROL)
    }


def _targets(isas: set[str]) -> list[str]:
    return [target + ("*" if isas.intersection(own) else "") for target, own in _TARGETS.items()]


def _isas(found: set[str]) -> list[str]:
    return sorted(found | set(_VECTOR_ISAS), key=_order) if found - {"scalar"} else ["scalar"]


def _order(isa: str) -> tuple[int, str]:
    return (_VECTOR_ISAS.index(isa), "") if isa in _VECTOR_ISAS else (len(_VECTOR_ISAS), isa)


def facts() -> dict[str, dict[str, Any]]:
    """Returns operator -> `front_ends`, `types`, `casts`, `isas`, `generated`, for the page."""
    kernels, sources = kernel_facts(), front_ends()
    nothing: dict[str, list[str]] = {"types": [], "casts": [], "isas": [], "generated": []}
    return {name: {"front_ends": sources[name], **kernels.get(name, nothing)} for name in OPERATORS}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m mslite.converter.operator_facts OUT.md", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(documentation.emit(facts()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
