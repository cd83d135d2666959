"""Checks a pickle without running it: interprets every instruction on placeholder objects.

A pickle is a program that imports and calls functions. Here it may only use those that tensors in plain containers
need.
"""

from __future__ import annotations

import math
import pickletools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mslite.converter.memory_limit import spend
from mslite.converter.text_shortening import quoted

_ELEMENT_BYTES = {
    "Bool": 1,
    "Byte": 1,
    "Char": 1,
    "Short": 2,
    "Half": 2,
    "BFloat16": 2,
    "Int": 4,
    "Float": 4,
    "Long": 8,
    "Double": 8,
    "ComplexFloat": 8,
    "ComplexDouble": 16,
}
_DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "complex64",
    "complex128",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
_STORAGES = {f"torch {kind}Storage": size for kind, size in _ELEMENT_BYTES.items()}
"""Storage type -> element size in bytes."""

_TENSORS = frozenset({"torch._utils _rebuild_tensor", "torch._utils _rebuild_tensor_v2"})
_MADE_OF_TENSORS = frozenset({"torch._utils _rebuild_parameter"})
_WITH_ATTRIBUTES = "torch._tensor _rebuild_from_type_v2"
_TENSOR_TYPES = frozenset({"torch Tensor", "torch.nn.parameter Parameter"})
_ATTRIBUTE = re.compile(r"_specialize_on|_dynamo_\w{1,99}")
"""Attributes that torch.export sets on tensors of example inputs."""

_DICTIONARY = "collections OrderedDict"
_SETS = frozenset({"__builtin__ set", "builtins set"})
_CALLED = _TENSORS | _MADE_OF_TENSORS | _SETS | {_DICTIONARY, _WITH_ATTRIBUTES, "torch Size", "torch device"}
_NAMED = frozenset({f"torch {name}" for name in _DTYPES}) | frozenset(_STORAGES) | _TENSOR_TYPES | _CALLED
"""Module and name of everything that a pickle may import."""

_MAX_OBJECTS = 1 << 20
"""Limit of the objects of a pickle; shared ones count each time."""


class UnsafePickle(ValueError):
    """A pickle with instructions that tensors do not need, or a malformed one; `str()` is the reason."""


@dataclass(eq=False)
class _Object:
    """A placeholder for an object: its origin and its contents."""

    maker: str = ""
    """Module and name of the class or function that created it; empty for containers."""
    items: list[Any] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    """Keys of a dictionary."""


@dataclass(frozen=True)
class _Global:
    name: str
    """Module and name, separated by a blank."""


_MARK = object()


def check_pickle(data: bytes, what: str) -> dict[str, int]:
    """Checks the first pickle in `data`. `what`: its name in the message about the memory limit.

    Returns the storages that it loads: key -> size in bytes. Raises UnsafePickle, and ConversionError for tensors over
    the memory limit.
    """
    machine = _PickleInterpreter(len(data), what)
    try:
        for opcode, argument, _ in pickletools.genops(data):
            machine.step(opcode.name, argument)
    except UnsafePickle:
        raise
    except (ValueError, IndexError, OverflowError, UnicodeDecodeError) as error:
        raise UnsafePickle(f"it is damaged ({error})") from None
    machine.check_size()
    return machine.storages


class _PickleInterpreter:
    """The stack and the memo of one pickle."""

    def __init__(self, length: int, what: str) -> None:
        self._stack: list[Any] = []
        self._memory: dict[int, Any] = {}
        self._length = length
        self._what = what
        self._result: Any = None
        self.storages: dict[str, int] = {}

    def step(self, name: str, argument: Any) -> None:
        method = _METHODS.get(name)
        if method is None:
            raise UnsafePickle(f"it uses the instruction {name}, which tensors do not need")
        method(self, argument)

    # ---- instructions ----

    def push(self, argument: Any) -> None:
        self._stack.append(argument)

    def push_none(self, argument: Any) -> None:
        self._stack.append(None)

    def push_container(self, argument: Any) -> None:
        self._stack.append(_Object())

    def nothing(self, argument: Any) -> None:
        """PROTO and FRAME."""

    def mark(self, argument: Any) -> None:
        self._stack.append(_MARK)

    def stop(self, argument: Any) -> None:
        self._result = self._pop()

    def pop(self, argument: Any) -> None:
        if not self._stack:
            raise UnsafePickle("it is damaged (its stack is empty)")
        self._stack.pop()

    def pop_mark(self, argument: Any) -> None:
        self._slice()

    def put(self, argument: Any) -> None:
        index = len(self._memory) if argument is None else int(argument)
        if not 0 <= index <= self._length:
            raise UnsafePickle(f"it uses the invalid memo index {index}")
        self._memory[index] = self._top()

    def get(self, argument: Any) -> None:
        if int(argument) not in self._memory:
            raise UnsafePickle(f"it reads the memo index {int(argument)}, which is not set")
        self._stack.append(self._memory[int(argument)])

    def named(self, argument: Any) -> None:
        """GLOBAL; its argument is module and name, separated by a blank."""
        self._stack.append(_allowed(str(argument)))

    def stack_named(self, argument: Any) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise UnsafePickle("it imports a computed name")
        self._stack.append(_allowed(f"{module} {name}"))

    def tuple(self, argument: Any) -> None:
        self._stack.append(_Object(items=self._slice()))

    def short_tuple(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self._stack.append(_Object(items=items[::-1]))

    def append(self, argument: Any) -> None:
        item = self._pop()
        self._container().items.append(item)

    def extend(self, argument: Any) -> None:
        items = self._slice()
        self._container().items.extend(items)

    def set_item(self, argument: Any) -> None:
        item, key = self._pop(), self._pop()
        self._set(key, item)

    def set_items(self, argument: Any) -> None:
        items = self._slice()
        if len(items) % 2:
            raise UnsafePickle("it is damaged (a key without a value)")
        for key, item in zip(items[::2], items[1::2], strict=True):
            self._set(key, item)

    def persistent(self, argument: Any) -> None:
        """A storage: ('storage', type, member, device, number of elements)."""
        identity = self._pop()
        items = identity.items if isinstance(identity, _Object) and not identity.maker else []
        if (
            len(items) != 5
            or items[0] != "storage"
            or not (isinstance(items[1], _Global) and items[1].name in _STORAGES)
            or not isinstance(items[2], str)
            or not isinstance(items[4], int)
            or items[4] < 0
        ):
            raise UnsafePickle("it loads an object that is not a storage of a tensor")
        size = _STORAGES[items[1].name]
        self.storages[items[2]] = max(self.storages.get(items[2], 0), items[4] * size)
        self._stack.append(_Object("storage", [size]))

    def call(self, argument: Any) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(function, _Global) or function.name not in _CALLED:
            called = quoted(function.name) if isinstance(function, _Global) else "an object that it created"
            raise UnsafePickle(f"it calls {called}")
        if not isinstance(arguments, _Object):
            raise UnsafePickle("it is damaged (a call without arguments)")
        if function.name in _TENSORS:
            self._count(arguments.items)
        elif function.name == _WITH_ATTRIBUTES:
            self._check_attributes(arguments.items)
        elif function.name in _SETS and not all(map(_is_list_of_constants, arguments.items)):
            raise UnsafePickle("it creates a set with elements other than numbers and strings")
        self._stack.append(_Object(function.name, list(arguments.items)))

    def build(self, argument: Any) -> None:
        state = self._pop()
        target = self._top()
        if not isinstance(target, _Object) or target.maker != _DICTIONARY or not isinstance(state, _Object):
            raise UnsafePickle("it sets attributes of an object that is not a dictionary of weights")
        target.items.append(state)

    # ---- helpers ----

    def _count(self, arguments: list[Any]) -> None:
        """Counts the memory of the expanded tensor: its strides may repeat elements."""
        if len(arguments) < 3 or not all(isinstance(argument, _Object) for argument in arguments[0:3:2]):
            raise UnsafePickle("it creates a tensor without a storage or sizes")
        storage, sizes = arguments[0], arguments[2].items
        if storage.maker != "storage" or not all(isinstance(size, int) and 0 <= size < 1 << 48 for size in sizes):
            raise UnsafePickle("it creates a tensor without a storage or sizes")
        spend(math.prod(sizes) * storage.items[0], f"{self._what}: a tensor of shape {quoted(str(sizes))}")

    def _check_attributes(self, arguments: list[Any]) -> None:
        """Checks a tensor with attributes: function that creates it, type, arguments of the function, attributes."""
        if (
            len(arguments) != 4
            or not all(isinstance(named, _Global) for named in arguments[:2])
            or arguments[0].name not in _TENSORS
            or arguments[1].name not in _TENSOR_TYPES
            or not all(isinstance(held, _Object) and not held.maker for held in arguments[2:])
        ):
            raise UnsafePickle("it creates a tensor of an unsupported type")
        self._count(arguments[2].items)
        state = arguments[3]
        if len(state.keys) != len(state.items) or not all(_ATTRIBUTE.fullmatch(str(key)) for key in state.keys):
            raise UnsafePickle("it sets attributes of a tensor")

    def _pop(self) -> Any:
        if not self._stack or self._stack[-1] is _MARK:
            raise UnsafePickle("it is damaged (its stack is empty)")
        return self._stack.pop()

    def _top(self) -> Any:
        if not self._stack or self._stack[-1] is _MARK:
            raise UnsafePickle("it is damaged (its stack is empty)")
        return self._stack[-1]

    def _slice(self) -> list[Any]:
        """Pops everything above the last mark, and the mark."""
        items: list[Any] = []
        while self._stack:
            item = self._stack.pop()
            if item is _MARK:
                return items[::-1]
            items.append(item)
        raise UnsafePickle("it is damaged (a mark is missing)")

    def _container(self) -> _Object:
        target = self._top()
        if not isinstance(target, _Object) or target.maker not in ("", _DICTIONARY):
            raise UnsafePickle("it adds an item to an object that is not a list or dictionary")
        return target

    def _set(self, key: Any, item: Any) -> None:
        if not isinstance(key, str | int | float | bool | None):
            raise UnsafePickle("a key of a dictionary is neither a string nor a number")
        target = self._container()
        target.keys.append(key)
        target.items.append(item)

    def check_size(self) -> None:
        """Raises UnsafePickle for containers that contain themselves, or that have too many nested elements."""
        sizes: dict[int, int] = {}
        path: set[int] = set()
        work: list[tuple[_Object, Iterator[Any]]] = []
        root = _Object(items=[self._result])
        work.append((root, iter(root.items)))
        while work:
            node, items = work[-1]
            path.add(id(node))
            child = next((item for item in items if isinstance(item, _Object) and id(item) not in sizes), None)
            if child is not None:
                if id(child) in path:
                    raise UnsafePickle("it creates a container that contains itself")
                work.append((child, iter(child.items)))
                continue
            size = 1 + sum(sizes.get(id(item), 1) for item in node.items)
            if size > _MAX_OBJECTS:
                raise UnsafePickle(f"its nested containers have more than {_MAX_OBJECTS} elements")
            sizes[id(node)] = size
            path.discard(id(node))
            work.pop()


def _is_list_of_constants(value: Any) -> bool:
    return isinstance(value, _Object) and not value.maker and all(isinstance(one, str | int) for one in value.items)


def _allowed(name: str) -> _Global:
    if name.endswith("_rebuild_wrapper_subclass"):
        remedy = "Convert the float model and quantize it with mslite, or call torchao.utils.unwrap_tensor_subclass(model) before the export"
        raise UnsafePickle(f"its weights are tensor subclasses, as torchao's quantize_() creates them. {remedy}")
    if name not in _NAMED:
        raise UnsafePickle(f"it imports {quoted(name.replace(' ', '.'))}, which tensors do not need")
    return _Global(name)


_CONSTANTS = [
    "INT",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG",
    "LONG1",
    "LONG4",
    "FLOAT",
    "BINFLOAT",
    "UNICODE",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
]
_METHODS: dict[str, Any] = {
    **dict.fromkeys(_CONSTANTS, _PickleInterpreter.push),
    **dict.fromkeys(("PROTO", "FRAME"), _PickleInterpreter.nothing),
    **dict.fromkeys(("LIST", "TUPLE"), _PickleInterpreter.tuple),
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_DICT", "EMPTY_TUPLE"), _PickleInterpreter.push_container),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _PickleInterpreter.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _PickleInterpreter.get),
    "NONE": _PickleInterpreter.push_none,
    "NEWTRUE": lambda machine, argument: machine.push(True),
    "NEWFALSE": lambda machine, argument: machine.push(False),
    "TUPLE1": lambda machine, argument: machine.short_tuple(1),
    "TUPLE2": lambda machine, argument: machine.short_tuple(2),
    "TUPLE3": lambda machine, argument: machine.short_tuple(3),
    "MARK": _PickleInterpreter.mark,
    "STOP": _PickleInterpreter.stop,
    "POP": _PickleInterpreter.pop,
    "POP_MARK": _PickleInterpreter.pop_mark,
    "GLOBAL": _PickleInterpreter.named,
    "STACK_GLOBAL": _PickleInterpreter.stack_named,
    "APPEND": _PickleInterpreter.append,
    "APPENDS": _PickleInterpreter.extend,
    "SETITEM": _PickleInterpreter.set_item,
    "SETITEMS": _PickleInterpreter.set_items,
    "BINPERSID": _PickleInterpreter.persistent,
    "REDUCE": _PickleInterpreter.call,
    "BUILD": _PickleInterpreter.build,
}
"""Instructions in pickles of tensors. Unsupported: INST, OBJ, NEWOBJ, NEWOBJ_EX, EXT, PERSID, sets, buffers."""
