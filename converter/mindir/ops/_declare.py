"""The vocabulary in which operators and tables are declared.

    @operator(35, inputs="x weight [bias]", outputs="y")
    class Conv2DFusion(Operator):
        \"\"\"2-D convolution.\"\"\"

        format: Format = enum(0, Format.NCHW)
        kernel_size: Longs = longs(1)

The class *is* the Python parameter object (a frozen dataclass); its `declaration` feeds the generators of
the schema, the C parameter structs, the unpackers, the name tables and the operator pages.

`inputs` and `outputs` name the operands in wire order: `[name]` is optional (optional operands are trailing),
`name*` is repeated. Only the standard library is imported.
"""

from __future__ import annotations

import dataclasses
import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

from .enums import WireEnum

Longs = tuple[int, ...] | None
Ints = tuple[int, ...] | None
Floats = tuple[float, ...] | None
Vec2D = tuple[tuple[int, ...] | None, ...] | None
"""A list of integer lists. None means that the vector is absent from the file, () that it is there and empty."""

FIRST_CUSTOM_ID = 1000
"""Operators from here on are ours: on the wire they are Custom nodes of type `mslite.<Name>`."""


@dataclass(frozen=True)
class Attribute:
    """One declared attribute: Python name, name on the wire, slot, wire type, default."""

    name: str
    wire_name: str
    slot: int
    wire: str
    default: Any
    enum: type[WireEnum] | None = None
    always_stored: bool = False
    """Stored even where the value is the default: an older version of the format had another one."""

    @property
    def is_vector(self) -> bool:
        return self.wire.startswith("[")


@dataclass(frozen=True)
class Operand:
    """A declared input or output."""

    name: str
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class OperatorDeclaration:
    """All that the generators know of one operator."""

    name: str
    wire_id: int
    family: str
    """The module of its declaration, or the package of it, in `ops`."""
    module: str
    """The same down to the module: `training/losses`."""
    doc: str
    attributes: tuple[Attribute, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    layout: str
    training: bool
    since_1_3: bool
    onnx: tuple[str, ...]
    tflite: tuple[str, ...]
    tensorflow: tuple[str, ...]
    caffe: tuple[str, ...]
    custom_type: str | None

    @property
    def is_custom(self) -> bool:
        return self.custom_type is not None


class Operator:
    """Base of all declared operators. Instances are immutable; use `dataclasses.replace` to change one."""

    declaration: ClassVar[OperatorDeclaration]

    @property
    def name(self) -> str:
        """The operator's name (not a node's)."""
        return self.declaration.name


OPERATORS: dict[str, type[Operator]] = {}
OPERATORS_BY_ID: dict[int, type[Operator]] = {}

_OperatorType = TypeVar("_OperatorType", bound=type[Operator])


def _field(slot: int, wire: str, default: Any, enum_type: type[WireEnum] | None = None, name: str | None = None) -> Any:
    metadata = {"slot": slot, "wire": wire, "enum": enum_type, "wire_name": name}
    return dataclasses.field(default=default, metadata=metadata)


def boolean(slot: int, default: bool = False) -> Any:
    return _field(slot, "bool", default)


def integer(slot: int, default: int = 0) -> Any:
    """A 32-bit integer."""
    return _field(slot, "int", default)


def long(slot: int, default: int = 0) -> Any:
    """A 64-bit integer."""
    return _field(slot, "long", default)


def real(slot: int, default: float = 0.0) -> Any:
    """A float32 number."""
    return _field(slot, "float", default)


def text(slot: int) -> Any:
    return _field(slot, "string", None)


def longs(slot: int) -> Any:
    return _field(slot, "[long]", None)


def integers(slot: int) -> Any:
    return _field(slot, "[int]", None)


def reals(slot: int) -> Any:
    return _field(slot, "[float]", None)


def vec2d(slot: int) -> Any:
    return _field(slot, "Vec2D", None)


def enum(slot: int, default: WireEnum) -> Any:
    return _field(slot, type(default).__name__, default, type(default))


def named_bytes(slot: int) -> Any:
    """A list of (name, bytes) pairs: the attributes of a Custom node."""
    return _field(slot, "[Attribute]", None)


def _operands(spec: str) -> tuple[Operand, ...]:
    operands = []
    for word in spec.split():
        name = word.strip("[]*")
        operands.append(Operand(name, optional=word.startswith("["), repeated="*" in word))
    return tuple(operands)


def attributes_of(cls: type[Any]) -> tuple[Attribute, ...]:
    """The declared attributes of a dataclass, in slot order."""
    attributes = [
        Attribute(
            name=field.name,
            wire_name=field.metadata["wire_name"] or field.name.rstrip("_"),
            slot=field.metadata["slot"],
            wire=field.metadata["wire"],
            default=field.default,
            enum=field.metadata["enum"],
            always_stored=field.metadata.get("always_stored", False),
        )
        for field in dataclasses.fields(cls)
    ]
    for attribute in attributes:
        if keyword.iskeyword(attribute.name):
            raise TypeError(f"{cls.__name__}.{attribute.name} is a Python keyword; append an underscore")
    return tuple(sorted(attributes, key=lambda attribute: attribute.slot))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def operator(
    wire_id: int,
    *,
    inputs: str = "x",
    outputs: str = "y",
    layout: str = "any",
    training: bool = False,
    since_1_3: bool = True,
    onnx: str = "",
    tflite: str = "",
    tensorflow: str = "",
    caffe: str = "",
    custom_type: str | None = None,
) -> Callable[[_OperatorType], _OperatorType]:
    """Declares an operator.

    `layout` says what happens when the layout of the first input flips between NCHW and NHWC:
    `"nhwc"` the operator computes on NHWC only; `"nchw"` on NCHW, and another one that the layout pass knows on NHWC;
    `"elementwise"` it follows any layout; `"axis"` it follows and its axis attributes are remapped; `"any"` nothing is
    known and the layout pass keeps the source layout.
    `onnx`, `tflite`, `tensorflow`, `caffe` name the source operators that map to it, separated by blanks.
    """

    def declare(cls: _OperatorType) -> _OperatorType:
        for name in inspect.get_annotations(cls):
            if not isinstance(cls.__dict__.get(name), dataclasses.Field):
                raise TypeError(f"{cls.__name__}.{name} needs a field declaration such as long(0)")
        declared = cast(_OperatorType, dataclass(frozen=True, kw_only=True)(cls))
        package = __name__.removesuffix("_declare")
        place = cls.__module__.removeprefix(package).split(".")
        declaration = OperatorDeclaration(
            name=cls.__name__,
            wire_id=wire_id,
            family=place[0],
            module="/".join(place),
            doc=(cls.__doc__ or "").strip(),
            attributes=attributes_of(declared),
            inputs=_operands(inputs),
            outputs=_operands(outputs),
            layout=layout,
            training=training,
            since_1_3=since_1_3,
            onnx=tuple(onnx.split()),
            tflite=tuple(tflite.split()),
            tensorflow=tuple(tensorflow.split()),
            caffe=tuple(caffe.split()),
            custom_type=custom_type,
        )
        if cls.__name__ in OPERATORS or wire_id in OPERATORS_BY_ID:
            raise TypeError(f"operator {cls.__name__} or id {wire_id} is declared twice")
        declared.declaration = declaration
        OPERATORS[cls.__name__] = declared
        OPERATORS_BY_ID[wire_id] = declared
        return declared

    return declare
