"""Takes the kernels and shape rules that no model needs out of a static library."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mslite.cropper.archive import CropError, Member, read_archive, write_archive
from mslite.cropper.need import FLOAT32, INT8, INT16, OTHER, Need, Needs
from mslite.cropper.objects import Kernel, ObjectFile, Reference, read_kernel

# mslite_isa (kernels/kernel.h): what a suffix of a kernel's name means.
INSTRUCTION_SETS = {
    "scalar": 0, "avx2": 1, "avx512": 2, "vnni": 3, "neon": 8, "neon_dot": 9, "neon_fp16": 10, "neon_i8mm": 11
}  # fmt: skip
# Sets that every processor of the machine has, which a scalar kernel need not stand in for.
_ALWAYS_THERE = {"EM_AARCH64": "neon"}
# What is kept where nothing is said. float16 arithmetic is used where the program allows it, and is not exact.
_USUAL = {
    "EM_AARCH64": ("neon", "neon_dot", "neon_i8mm"),
    "EM_X86_64": ("scalar", "avx2", "avx512", "vnni"),
    "EM_ARM": ("scalar",),
}

_KERNELS, _RULES, _CROPPED = "mslite_kernels", "mslite_shape_rules", "mslite_cropped"
_LAYOUTS, _ENGINES = "mslite_layouts", "mslite_engines"
# What programs in C cannot reach: delegates and registered kernels.
_EXTENSIONS = ("mslite_delegation", "mslite_registered", "mslite_part_binding")
# What their functions of training do: a cropped library infers.
_TRAINING = "mslite_part_training"
# The choice of calls that compute in float16, for the kernels that do.
_HALF, _HALF_SET = "mslite_part_half", "neon_fp16"
# Parts that no model tells of, because programs ask for them.
ON_DEMAND = {"adapters": "mslite_part_adapters"}
# Parts of loading that not every model goes through; kPartNames of lite_runtime/model/parts.h.
PARTS = {name: f"mslite_part_{name}" for name in ("unpacking", "weights", "integers", "types")}
# Engines for other devices than the CPU, which the library reaches through the table of engines.
ENGINES = ("opencl", "openvino", "nnapi", "nnrt", "coreml")
_TABLES = (
    _KERNELS, _RULES, _LAYOUTS, _ENGINES, *_EXTENSIONS, _TRAINING, _HALF, *ON_DEMAND.values(), *PARTS.values(), _CROPPED
)  # fmt: skip
# Table -> pointers' sizes in an entry, which begins with an operator's number, and where what is taken out stands in it.
_BY_OPERATOR = {_RULES: (2, 1), _LAYOUTS: (3, 1)}
_PREFIX = "mslite_kernel_"
_MAX_KEPT, _PURPOSE_BYTES = 384, 256
# MSLITE_CROPPED_... (kernels/cropped.h).
FOR_MODELS, FOR_OPERATORS = 1, 2


@dataclass(frozen=True)
class Library:
    """A static library, taken apart."""

    name: str
    objects: Sequence[ObjectFile]

    @classmethod
    def read(cls, data: bytes, name: str) -> Library:
        """Raises CropError where it is none, or not one of mslite that can be cropped."""
        library = cls(name, [ObjectFile(member) for member in read_archive(data, name)])
        for table in _TABLES:
            library.owner(table)
        if struct.unpack_from("<i", library.owner(_CROPPED).contents(_CROPPED))[0] != 0:
            raise CropError(f"{name}: this library was cropped before; crop the whole one")
        return library

    @property
    def machine(self) -> str:
        """The processor it is for, as ELF names it."""
        return self.objects[0].machine

    def owner(self, symbol: str) -> ObjectFile:
        """The object that defines a symbol."""
        for one in self.objects:
            if symbol in one.defined:
                return one
        raise CropError(f"{self.name}: no libmindspore-lite.a of mslite: it has no '{symbol}'")

    def kernels(self) -> list[Kernel]:
        """All kernels of the library's table, in its order."""
        owners = {symbol: one for one in self.objects for symbol in one.defined if symbol.startswith(_PREFIX)}
        return [read_kernel(owners[one.symbol], one.symbol) for one in self.owner(_KERNELS).references(_KERNELS)]

    def write(self) -> bytes:
        """The library as a file."""
        return write_members(self.objects)


def write_members(objects: Iterable[ObjectFile]) -> bytes:
    """An archive of these objects."""
    by_member = {id(one.member): one for one in objects}
    return write_archive([one.member for one in by_member.values()], lambda member: by_member[id(member)].defined)


def instruction_sets(machine: str, wanted: Sequence[str]) -> frozenset[str]:
    """The sets to keep kernels of: those wanted, or the usual ones. Raises CropError for a name that is none."""
    for name in wanted:
        if name not in INSTRUCTION_SETS:
            raise CropError(f"'{name}' is no instruction set; there are {', '.join(INSTRUCTION_SETS)}")
    return frozenset(wanted or _USUAL.get(machine, ("scalar",)))


def kept_kernels(library: Library, needs: Mapping[int, Need], isas: frozenset[str]) -> set[str]:
    """Symbols of the kernels that stay: those of the needed operators and kinds of values, so that whatever shapes a model
    gets, the choice is that of the whole library; of the instruction sets `isas` those that processors may lack besides the
    scalar ones."""
    kernels = library.kernels()
    names = {kernel.symbol for kernel in kernels}
    always = _ALWAYS_THERE.get(library.machine)
    if always not in isas:
        always = None
    kept = set()
    for kernel in kernels:
        need = needs.get(kernel.op)
        if need is None:
            continue
        base, isa = _split(kernel)
        if not need.kinds or not (_kinds(kernel) & need.kinds or kernel.counts):
            continue
        is_plain_float = not kernel.is_quantized and not need.kinds & OTHER
        name = base.removeprefix(_PREFIX)
        if is_plain_float and isa != _HALF_SET and need.refusing & {name, f"{name}_scalar"}:
            continue
        if isa is None:
            kept.add(kernel.symbol)
        elif isa == "scalar":
            if always is None or f"{base}_{always}" not in names:
                kept.add(kernel.symbol)
        elif isa in isas:
            kept.add(kernel.symbol)
    return kept


def demands_named(wanted: Sequence[str]) -> frozenset[str]:
    """The parts of ON_DEMAND that stay. Raises CropError for a name that is none."""
    for name in wanted:
        if name not in ON_DEMAND:
            raise CropError(f"'{name}' is nothing to keep; there are {', '.join(ON_DEMAND)}")
    return frozenset(wanted)


def engines_named(wanted: Sequence[str]) -> frozenset[str]:
    """The engines that stay. Raises CropError for a name that is none."""
    for name in wanted:
        if name not in ENGINES:
            raise CropError(f"'{name}' is no engine; there are {', '.join(ENGINES)}")
    return frozenset(wanted)


def crop(
    library: Library,
    needs: Needs,
    purpose: str,
    isas: frozenset[str],
    with_engines: bool = False,
    c_only: bool = False,
    kind: int = FOR_MODELS,
    on_demand: Collection[str] = (),
) -> Library:
    """The library with only what is needed, and without the objects that nothing in it names any more. `purpose`: the models,
    or the group of operators, that it is for; `c_only`: for programs in C alone; `on_demand`: which of ON_DEMAND stay."""
    kept = kept_kernels(library, needs.operators, isas)
    changed = {id(one): one for one in library.objects}

    def change(table: str, edit: Callable[[ObjectFile], Member]) -> None:
        key = id(library.owner(table))
        changed[key] = ObjectFile(edit(changed[key]))

    change(_KERNELS, lambda one: one.without_references(_KERNELS, lambda entry: entry.symbol not in kept))
    for table, (words, function) in _BY_OPERATOR.items():
        change(table, partial(_without_operators, table=table, words=words, function=function, needs=needs.operators))
    # Engines are reached as delegates are, and run as registered kernels do.
    emptied = [] if with_engines else [_ENGINES, *_EXTENSIONS] if c_only else [_ENGINES]
    emptied += [_TRAINING] if c_only else []
    emptied += [_HALF] if _HALF_SET not in isas else []
    emptied += [table for name, table in PARTS.items() if name not in needs.parts]
    emptied += [table for name, table in ON_DEMAND.items() if name not in on_demand]
    for table in emptied:
        change(table, partial(ObjectFile.without_references, name=table, dropped=lambda _: True))
    record = _record(needs.operators, purpose, kind)
    change(_CROPPED, lambda one: one.overwrite(_CROPPED, record))
    return Library(library.name, _reachable(list(changed.values())))


def _without_operators(owner: ObjectFile, table: str, words: int, function: int, needs: Mapping[int, Need]) -> Member:
    """The object whose table has entries for needed operators only."""
    entry, contents = words * owner.pointer_size, owner.contents(table)

    def is_unneeded(reference: Reference) -> bool:
        op: int = struct.unpack_from("<i", contents, reference.offset // entry * entry)[0]
        return reference.offset % entry == function * owner.pointer_size and op not in needs

    return owner.without_references(table, is_unneeded)


def _split(kernel: Kernel) -> tuple[str, str | None]:
    """A kernel's symbol without its instruction set, and that; None for portable ones."""
    for name, number in INSTRUCTION_SETS.items():
        if number == kernel.isa and kernel.symbol.endswith(f"_{name}"):
            return kernel.symbol.removesuffix(f"_{name}"), name
    return kernel.symbol, None


def _kinds(kernel: Kernel) -> int:
    """The kinds of values that it may be offered. Only names with `int16` say that 8 bits are not among them."""
    if not kernel.is_quantized:
        return FLOAT32 | OTHER
    return INT16 if re.search(r"_int16(_|$)", kernel.symbol) else INT8 | INT16


def _record(needs: Mapping[int, Need], purpose: str, kind: int) -> bytes:
    """The contents of `mslite_cropped` (kernels/cropped.h)."""
    if len(needs) > _MAX_KEPT:
        raise CropError(f"{len(needs)} operators, where a cropped library can name {_MAX_KEPT}")
    pairs = [number for op, need in needs.items() for number in (op, need.kinds)]
    record = struct.pack(f"<ii{len(pairs)}i", kind, len(needs), *pairs).ljust(8 + 8 * _MAX_KEPT, b"\0")
    return record + _shortened(purpose.encode("utf-8", "replace")).ljust(_PURPOSE_BYTES, b"\0")


def _shortened(text: bytes) -> bytes:
    if len(text) < _PURPOSE_BYTES:
        return text
    return text[: _PURPOSE_BYTES - 4].decode("utf-8", "ignore").encode() + b"..."


def _reachable(objects: Sequence[ObjectFile]) -> list[ObjectFile]:
    """The C++ objects, which hold the API, and all that they name."""
    owners = {symbol: one for one in reversed(objects) for symbol in one.defined}
    found: set[int] = set()
    waiting = [one for one in objects if not one.member.name.endswith((".c.o", ".c.obj"))]
    while waiting:
        one = waiting.pop()
        if id(one) in found:
            continue
        found.add(id(one))
        waiting += [owners[symbol] for symbol in one.undefined if symbol in owners]
    return [one for one in objects if id(one) in found]
