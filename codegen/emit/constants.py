"""Collects the constants of a program for flash or net<i>.bin, one after the other in one C struct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mslite.codegen.emit.c_values import c_values_of
from mslite.codegen.emit.fields import Field, Group, braced
from mslite.codegen.emit.names import Names, brief, comment, short
from mslite.codegen.emit.packed import packed_fields
from mslite.codegen.program import Array, Program, Step, Storage, Tensor, all_steps

_WIDEST = 8
"""Bytes of the widest element. The size of the struct is a multiple of it."""
_SIGNATURE = 4


@dataclass(eq=False)
class Constant:
    """A constant, which consists of one or more consecutive fields."""

    name: str
    comment: str
    fields: tuple[Field | Group, ...]
    data: bytes
    alignment: int
    offset: int = 0
    gap: str = ""
    """Declaration of padding before it, if its kernel needs more alignment than a compiler provides; else empty."""

    @property
    def width(self) -> int:
        """Bytes of the widest element, by which a compiler aligns the constant."""
        return max(field.width for field in self.fields)


@dataclass(eq=False)
class Constants:
    """All constants of a program, in the order of their offsets."""

    entries: list[Constant] = field(default_factory=list)
    of_tensor: dict[Tensor, Constant] = field(default_factory=dict)
    of_operand: dict[tuple[Step, int], Constant] = field(default_factory=dict)
    """Constants of packed inputs, by step and input index."""
    size: int = 0
    signature: bytes = b""
    """Signature after the replaceable constants, which come first; empty if there are none."""
    file_size: int = 0
    """Bytes of the replaceable constants and the signature."""

    @property
    def alignment(self) -> int:
        return max((entry.alignment for entry in self.entries), default=1)

    def image(self) -> bytes:
        """Returns the bytes of all constants and the signature."""
        image = bytearray(self.size)
        for entry in self.entries:
            image[entry.offset : entry.offset + len(entry.data)] = entry.data
        image[self.file_size - len(self.signature) : self.file_size] = self.signature
        return bytes(image)


@dataclass(frozen=True)
class Replaceable:
    """Constants that can be replaced at run time."""

    weights: Mapping[str, Array]
    """float32 values by name, in the order of net<i>.bin."""
    signature: int
    """Hash of their names and shapes, stored after them in four bytes."""


def constants_of(programs: Sequence[Program], isa: str, first: Replaceable | None = None) -> Constants:
    """Collects the constants that the steps of the programs read. Constants with equal contents are stored once.

    `isa`: instruction set of the target. `first`: replaceable constants; they come before all others, in their order,
    followed by their signature, and are not shared with equal constants.
    """
    found = Constants()
    replaceable = dict(first.weights) if first is not None else {}
    names = Names()
    same: dict[tuple[bytes, str, str], Constant] = {}

    def add(name: str, text: str, fields: tuple[Field | Group, ...], data: bytes, alignment: int) -> Constant:
        key = (data, "".join(field.declaration("") for field in fields), name if name in replaceable else "")
        if key not in same:
            same[key] = Constant(names.make(name, "constant"), text, fields, data, alignment)
            found.entries.append(same[key])
        same[key].alignment = max(same[key].alignment, alignment)
        return same[key]

    def add_tensor(tensor: Tensor, text: str, alignment: int = 1) -> None:
        while tensor.alias_of is not None:
            tensor = tensor.alias_of
        if tensor.storage is Storage.VARIABLE or tensor.data is None or not tensor.size or tensor in found.of_tensor:
            return
        numbers = c_values_of(tensor.data)
        found.of_tensor[tensor] = add(
            tensor.name, text, (Field("", numbers),), tensor.data.tobytes(), max(tensor.data.itemsize, alignment)
        )

    for program in programs:
        for step in all_steps(program):
            for place, data in sorted(step.packed.items()):
                operand = step.inputs[place]
                assert operand is not None
                fields, alignment = packed_fields(step, place, data, isa)
                sizes = "x".join(map(str, operand.shape))
                text = f"{operand.dtype.name.lower()}[{sizes}] of {step.operator} {brief(step.name)}, as {step.kernel} reads it"
                found.of_operand[step, place] = add(short(step.name, "step"), comment(text), fields, data, alignment)
            for place, tensor in enumerate(step.inputs):
                if tensor is not None and place not in step.packed:
                    sizes = "x".join(map(str, tensor.shape))
                    add_tensor(
                        tensor,
                        comment(f"{tensor.dtype.name.lower()}[{sizes}] {brief(tensor.name)}, of {brief(step.name)}"),
                        step.call.alignment if step.call is not None else 1,
                    )
        for output in program.outputs:
            add_tensor(output, "an output")
        for tensor in variables_of(program):
            assert tensor.data is not None
            if tensor.data.tobytes().strip(b"\0"):
                data = tensor.data.tobytes()
                found.of_tensor[tensor] = add(
                    f"{tensor.name}_first",
                    comment(f"initial value of {tensor.name}"),
                    (Field("", c_values_of(tensor.data)),),
                    data,
                    tensor.data.itemsize,
                )
    places = {name: place for place, name in enumerate(replaceable)}
    order = {found.of_tensor[tensor]: places[tensor.name] for tensor in found.of_tensor if tensor.name in places}
    unread = sorted(set(places.values()) - set(order.values()))
    for place in unread:  # no step reads them, but they are in the file
        name = list(replaceable)[place]
        text = comment(f"{brief(name)}, which is not used by any step")
        order[add(name, text, (Field("", c_values_of(replaceable[name])),), replaceable[name].tobytes(), 4)] = place
    if first is not None:
        found.signature = first.signature.to_bytes(_SIGNATURE, "little")
    _place(found, names, order)
    return found


def variables_of(program: Program) -> list[Tensor]:
    """Returns the variables of a program."""
    found: dict[Tensor, None] = {}
    for step in all_steps(program):
        for tensor in (*step.inputs, *step.outputs):
            while tensor is not None and tensor.alias_of is not None:
                tensor = tensor.alias_of
            if tensor is not None and tensor.storage is Storage.VARIABLE:
                found[tensor] = None
    return list(found)


def _place(constants: Constants, names: Names, first: Mapping[Constant, int]) -> None:
    """Sorts the constants and sets their offsets in the image: those of `first` in their order, then by decreasing
    alignment, so that little padding is needed.

    A compiler aligns a member of the struct by its elements only. `gap` adds padding if the kernel needs more
    alignment.
    """
    constants.entries.sort(key=lambda entry: (entry not in first, first.get(entry, 0), -entry.alignment))
    at = end = 0
    for place, entry in enumerate(constants.entries):
        if constants.signature and place == len(first):
            at = constants.file_size = at + len(constants.signature)
        at += -at % entry.alignment
        entry.offset = at
        at += len(entry.data)
        end += -end % entry.width
        if end % entry.alignment:
            entry.gap = f"uint8_t {names.make('gap', 'gap')}[{-end % entry.alignment}];"
            end += -end % entry.alignment
        end += len(entry.data) + (-len(entry.data) % entry.width)
    if constants.signature and len(constants.entries) == len(first):
        at = constants.file_size = at + len(constants.signature)
    constants.size = at + -at % min(constants.alignment, _WIDEST)


def declaration(entry: Constant) -> str:
    """Returns the declaration of the struct member, with a comment."""
    text = f"    /* {entry.comment} */\n"
    if entry.gap:
        text = f"    {entry.gap}\n{text}"
    if _is_plain(entry):
        numbers = entry.fields[0].numbers  # type: ignore[union-attr]
        return f"{text}    {numbers.ctype} {entry.name}[{len(numbers)}];"
    members = "\n".join(field.declaration("      ") for field in entry.fields)
    return f"{text}    struct {{\n{members}\n    }} {entry.name};"


def initializer(entry: Constant) -> str:
    """Returns the initializer of the struct member."""
    return entry.fields[0].initializer("      ") if _is_plain(entry) else braced(entry.fields, "      ")


def _is_plain(entry: Constant) -> bool:
    return len(entry.fields) == 1 and not entry.fields[0].name
