"""Removes the kernels and shape inference functions that no model needs from a static library."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mslite.cropper.archive import CropError, Member, read_archive, write_archive
from mslite.cropper.need import FLOAT32, INT8, INT16, OTHER, Need, Needs
from mslite.cropper.objects import Kernel, ObjectFile, Reference, read_kernel

# Suffix of a kernel's name -> value of mslite_isa (kernels/kernel.h).
INSTRUCTION_SETS = {
    "scalar": 0, "avx2": 1, "avx512": 2, "vnni": 3, "neon": 8, "neon_dot": 9, "neon_fp16": 10, "neon_i8mm": 11
}  # fmt: skip
# Instruction set that every processor of this architecture has, so that its kernels replace the scalar ones.
_ALWAYS_THERE = {"EM_AARCH64": "neon"}
# Defaults of --instructionSets. neon_fp16 is not included: only programs that enable float16 use it.
_USUAL = {
    "EM_AARCH64": ("neon", "neon_dot", "neon_i8mm"),
    "EM_X86_64": ("scalar", "avx2", "avx512", "vnni"),
    "EM_ARM": ("scalar",),
}

_KERNELS, _RULES, _CROPPED = "mslite_kernels", "mslite_shape_rules", "mslite_cropped"
_LAYOUTS, _ENGINES = "mslite_layouts", "mslite_engines"
# Delegates and registered kernels, which the C API does not offer.
_EXTENSIONS = ("mslite_delegation", "mslite_registered", "mslite_part_binding")
# Training functions of the C API. A cropped library is for inference.
_TRAINING = "mslite_part_training"
# Selection of float16 kernels, only needed if these kernels are kept.
_HALF, _HALF_SET = "mslite_part_half", "neon_fp16"
# Features that programs use, so they cannot be derived from the models.
OPTIONAL_FEATURES = {"adapters": "mslite_part_adapters"}
# Parts of the loader that not every model needs; kPartNames of lite_runtime/model/parts.h.
PARTS = {name: f"mslite_part_{name}" for name in ("unpacking", "weights", "integers", "types")}
# Backends other than the CPU. The library calls them through the table mslite_engines.
ENGINES = ("opencl", "openvino", "nnapi", "nnrt", "coreml")
_TABLES = (
    _KERNELS, _RULES, _LAYOUTS, _ENGINES, *_EXTENSIONS, _TRAINING, _HALF, *OPTIONAL_FEATURES.values(), *PARTS.values(), _CROPPED
)  # fmt: skip
# Table -> (size of an entry in pointers, index of the pointer to remove). The first word of an entry is the operator.
_BY_OPERATOR = {_RULES: (2, 1), _LAYOUTS: (3, 1)}
_PREFIX = "mslite_kernel_"
_MAX_KEPT, _PURPOSE_BYTES = 384, 256
# MSLITE_CROPPED_... (kernels/cropped.h).
FOR_MODELS, FOR_OPERATORS = 1, 2


@dataclass(frozen=True)
class Library:
    """The object files of a static library."""

    name: str
    objects: Sequence[ObjectFile]

    @classmethod
    def read(cls, data: bytes, name: str) -> Library:
        """Reads an archive. Raises CropError if it is not a library of mslite, or was already cropped."""
        library = cls(name, [ObjectFile(member) for member in read_archive(data, name)])
        for table in _TABLES:
            library.owner(table)
        if struct.unpack_from("<i", library.owner(_CROPPED).contents(_CROPPED))[0] != 0:
            raise CropError(f"{name}: the library is already cropped; crop the complete library")
        return library

    @property
    def machine(self) -> str:
        """The processor architecture, as an ELF name: EM_AARCH64."""
        return self.objects[0].machine

    def owner(self, symbol: str) -> ObjectFile:
        """Returns the object file that defines a symbol. Raises CropError if there is none."""
        for one in self.objects:
            if symbol in one.defined:
                return one
        raise CropError(f"{self.name}: is not mslite's libmindspore-lite.a: it does not define '{symbol}'")

    def kernels(self) -> list[Kernel]:
        """Returns all kernels of the library, in the order of its table."""
        owners = {symbol: one for one in self.objects for symbol in one.defined if symbol.startswith(_PREFIX)}
        return [read_kernel(owners[one.symbol], one.symbol) for one in self.owner(_KERNELS).references(_KERNELS)]

    def write(self) -> bytes:
        """Returns the library as an archive."""
        return write_members(self.objects)


def write_members(objects: Iterable[ObjectFile]) -> bytes:
    """Returns an archive of object files."""
    by_member = {id(one.member): one for one in objects}
    return write_archive([one.member for one in by_member.values()], lambda member: by_member[id(member)].defined)


def instruction_sets(machine: str, wanted: Sequence[str]) -> frozenset[str]:
    """Returns the instruction sets whose kernels are kept: `wanted`, or the defaults. Raises CropError for unknown
    names."""
    for name in wanted:
        if name not in INSTRUCTION_SETS:
            raise CropError(f"'{name}' is not an instruction set; known are {', '.join(INSTRUCTION_SETS)}")
    return frozenset(wanted or _USUAL.get(machine, ("scalar",)))


def kernels_to_keep(library: Library, needs: Mapping[int, Need], isas: frozenset[str]) -> set[str]:
    """Returns the symbols of the kernels that are kept: those for the needed operators, data types and instruction
    sets.

    The kernels do not depend on shapes, so that the cropped library selects the same kernels as the complete one.
    Scalar kernels are kept, except those with a version for an instruction set that every processor has.
    """
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


def features_to_keep(wanted: Sequence[str]) -> frozenset[str]:
    """Returns the features in OPTIONAL_FEATURES to keep. Raises CropError for unknown names."""
    for name in wanted:
        if name not in OPTIONAL_FEATURES:
            raise CropError(f"--keep: '{name}' is unknown; known are {', '.join(OPTIONAL_FEATURES)}")
    return frozenset(wanted)


def backends_to_keep(wanted: Sequence[str]) -> frozenset[str]:
    """Returns the backends to keep. Raises CropError for unknown names."""
    for name in wanted:
        if name not in ENGINES:
            raise CropError(f"--engines: '{name}' is unknown; known are {', '.join(ENGINES)}")
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
    """Returns the library with only the needed kernels and parts, and without object files that are no longer
    referenced.

    Args:
        purpose: the models, or the group of operators, that the library is for; stored in the library for messages.
        with_engines: keeps the backends.
        c_only: keeps only the C API.
        kind: FOR_MODELS or FOR_OPERATORS.
        on_demand: the features in OPTIONAL_FEATURES to keep.
    """
    kept = kernels_to_keep(library, needs.operators, isas)
    changed = {id(one): one for one in library.objects}

    def change(table: str, edit: Callable[[ObjectFile], Member]) -> None:
        key = id(library.owner(table))
        changed[key] = ObjectFile(edit(changed[key]))

    change(_KERNELS, lambda one: one.without_references(_KERNELS, lambda entry: entry.symbol not in kept))
    for table, (words, function) in _BY_OPERATOR.items():
        change(table, partial(_without_operators, table=table, words=words, function=function, needs=needs.operators))
    # Backends need the code for delegates and registered kernels.
    emptied = [] if with_engines else [_ENGINES, *_EXTENSIONS] if c_only else [_ENGINES]
    emptied += [_TRAINING] if c_only else []
    emptied += [_HALF] if _HALF_SET not in isas else []
    emptied += [table for name, table in PARTS.items() if name not in needs.parts]
    emptied += [table for name, table in OPTIONAL_FEATURES.items() if name not in on_demand]
    for table in emptied:
        change(table, partial(ObjectFile.without_references, name=table, dropped=lambda _: True))
    record = _record(needs.operators, purpose, kind)
    change(_CROPPED, lambda one: one.overwrite(_CROPPED, record))
    return Library(library.name, _reachable(list(changed.values())))


def _without_operators(owner: ObjectFile, table: str, words: int, function: int, needs: Mapping[int, Need]) -> Member:
    """Returns the object file with the entries of other operators removed from its table."""
    entry, contents = words * owner.pointer_size, owner.contents(table)

    def is_unneeded(reference: Reference) -> bool:
        op: int = struct.unpack_from("<i", contents, reference.offset // entry * entry)[0]
        return reference.offset % entry == function * owner.pointer_size and op not in needs

    return owner.without_references(table, is_unneeded)


def _split(kernel: Kernel) -> tuple[str, str | None]:
    """Splits a kernel's symbol into base name and instruction set (None for portable kernels)."""
    for name, number in INSTRUCTION_SETS.items():
        if number == kernel.isa and kernel.symbol.endswith(f"_{name}"):
            return kernel.symbol.removesuffix(f"_{name}"), name
    return kernel.symbol, None


def _kinds(kernel: Kernel) -> int:
    """Returns the data types that a kernel may support. A quantized kernel supports int8 unless its name has
    `int16`."""
    if not kernel.is_quantized:
        return FLOAT32 | OTHER
    return INT16 if re.search(r"_int16(_|$)", kernel.symbol) else INT8 | INT16


def _record(needs: Mapping[int, Need], purpose: str, kind: int) -> bytes:
    """Returns the contents of `mslite_cropped` (kernels/cropped.h)."""
    if len(needs) > _MAX_KEPT:
        raise CropError(f"the models have {len(needs)} operators; a cropped library can have {_MAX_KEPT}")
    pairs = [number for op, need in needs.items() for number in (op, need.kinds)]
    record = struct.pack(f"<ii{len(pairs)}i", kind, len(needs), *pairs).ljust(8 + 8 * _MAX_KEPT, b"\0")
    return record + _shortened(purpose.encode("utf-8", "replace")).ljust(_PURPOSE_BYTES, b"\0")


def _shortened(text: bytes) -> bytes:
    if len(text) < _PURPOSE_BYTES:
        return text
    return text[: _PURPOSE_BYTES - 4].decode("utf-8", "ignore").encode() + b"..."


def _reachable(objects: Sequence[ObjectFile]) -> list[ObjectFile]:
    """Returns the C++ object files, which have the API, and all object files that they reference."""
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
