"""Reads the symbols of object files, and removes references from their tables in place.

Nothing is moved. To remove a table entry, its relocation is replaced by one without effect, so the entry is zero. An
undefined symbol without further references becomes weak, so that the linker does not need it.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any

from mslite.cropper.archive import CropError, Member
from mslite.extras import install_hint

_WEAK = 2 << 4


def check_packages() -> None:
    """Raises CropError with installation instructions if pyelftools is missing. `--help` works without it."""
    try:
        import elftools  # noqa: F401
    except ModuleNotFoundError as error:
        raise CropError(install_hint(error) or str(error)) from None


@dataclass(frozen=True)
class Place:
    """Location of a symbol: section of the object file, offset in the section, and size in bytes."""

    section: int
    offset: int
    size: int


@dataclass(frozen=True)
class Reference:
    """A table entry with the address of another symbol."""

    offset: int  # from the start of the table
    symbol: str
    symbol_index: int
    file_offset: int  # of the relocation entry
    entry_size: int


@dataclass
class ObjectFile:
    """The symbols of an archive's member. Raises CropError if it is not a relocatable ELF file."""

    member: Member
    undefined: dict[str, int] = field(default_factory=dict)  # undefined symbol -> index
    defined: dict[str, Place] = field(default_factory=dict)  # defined symbols

    def __post_init__(self) -> None:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        try:
            self._elf = ELFFile(BytesIO(self.member.contents))
            if self._elf["e_type"] != "ET_REL" or not self._elf.little_endian:
                raise CropError(f"{self.member.name}: is not an object file of a little-endian processor")
            self.machine: str = self._elf["e_machine"]
            self.pointer_size: int = self._elf.elfclass // 8
            self._read_symbols()
        except ELFError as error:
            raise CropError(
                f"{self.member.name}: is not an ELF object file ({error}); was it compiled with link-time optimization?"
            ) from None

    def _read_symbols(self) -> None:
        for index, symbol in enumerate(self._symbols.iter_symbols()):
            binding, section = symbol["st_info"]["bind"], symbol["st_shndx"]
            if binding == "STB_LOCAL" or not symbol.name:
                continue
            if section == "SHN_UNDEF":
                if binding == "STB_GLOBAL":
                    self.undefined[symbol.name] = index
            elif isinstance(section, int):
                self.defined[symbol.name] = Place(section, symbol["st_value"], symbol["st_size"])

    @cached_property
    def _symbols(self) -> Any:
        table = self._elf.get_section_by_name(".symtab")
        if table is None:
            raise CropError(f"{self.member.name}: the object file has no symbols")
        return table

    def renamed(self, name: str) -> ObjectFile:
        """Returns the object file with another name."""
        other = copy.copy(self)
        other.member = Member(name, self.member.contents)
        return other

    def contents(self, name: str) -> bytes:
        """Returns the bytes of a symbol that this object file defines."""
        begin = self._file_offset(name)
        return self.member.contents[begin : begin + self.defined[name].size]

    def references(self, name: str) -> Iterator[Reference]:
        """Yields the entries of the table `name` that have the address of another symbol."""
        from elftools.elf.relocation import RelocationSection

        table = self.defined[name]
        for section in self._elf.iter_sections():
            if not isinstance(section, RelocationSection) or section["sh_info"] != table.section:
                continue
            for index, relocation in enumerate(section.iter_relocations()):
                offset = relocation["r_offset"] - table.offset
                if 0 <= offset < table.size:
                    symbol = relocation["r_info_sym"]
                    size = section["sh_entsize"]
                    place = section["sh_offset"] + index * size
                    yield Reference(offset, self._symbols.get_symbol(symbol).name, symbol, place, size)

    def overwrite(self, name: str, contents: bytes) -> Member:
        """Returns the member with other contents of the symbol `name`, of the same size."""
        if len(contents) != self.defined[name].size:
            raise CropError(f"{self.member.name}: '{name}' is from another version of mslite")
        return self._patched([(self._file_offset(name), contents)])

    def without_references(self, name: str, dropped: Callable[[Reference], bool]) -> Member:
        """Returns the member with zeros in the entries of the table `name` for which `dropped` is true."""
        references = list(self.references(name))
        gone = {reference for reference in references if dropped(reference)}
        # Relocation type 0 has no effect on any processor.
        info, size = (8, 8) if self.pointer_size == 8 else (4, 4)
        patches = [(reference.file_offset + info, bytes(size)) for reference in gone]
        if self.pointer_size == 8:
            patches += [(reference.file_offset + 16, bytes(8)) for reference in gone if reference.entry_size == 24]
        # Several entries may reference the same function.
        kept = {reference.symbol_index for reference in references if reference not in gone}
        begin, entry = self._symbols["sh_offset"], self._symbols["sh_entsize"]
        for index in {reference.symbol_index for reference in gone} & set(self.undefined.values()) - kept:
            place = begin + index * entry + (4 if self.pointer_size == 8 else 12)
            patches.append((place, bytes([_WEAK | self.member.contents[place] & 0xF])))
        return self._patched(patches)

    def _file_offset(self, name: str) -> int:
        place = self.defined[name]
        section = self._elf.get_section(place.section)
        if section["sh_type"] == "SHT_NOBITS":
            raise CropError(f"{self.member.name}: '{name}' has no contents in the file")
        offset: int = section["sh_offset"] + place.offset
        return offset

    def _patched(self, patches: list[tuple[int, bytes]]) -> Member:
        contents = bytearray(self.member.contents)
        for place, replacement in patches:
            contents[place : place + len(replacement)] = replacement
        return Member(self.member.name, bytes(contents))


@dataclass(frozen=True)
class Kernel:
    """A kernel of the table of kernels, read from its constant (`mslite_kernel` of kernels/kernel.h)."""

    symbol: str
    op: int
    isa: int
    is_quantized: bool
    counts: bool  # whether it computes the shape of its outputs at run time


def read_kernel(owner: ObjectFile, symbol: str) -> Kernel:
    """Reads the kernel with this symbol. Raises CropError if the constant has an unexpected size."""
    contents, pointer = owner.contents(symbol), owner.pointer_size
    numbers = "<8xii56xi20x" if pointer == 8 else "<4xii28xi8x"
    if len(contents) != struct.calcsize(numbers):
        raise CropError(f"{owner.member.name}: '{symbol}' is from another version of mslite")
    op, isa, quantized = struct.unpack(numbers, contents)
    count = 11 * pointer if pointer == 8 else 48
    counts = any(reference.offset == count for reference in owner.references(symbol))
    return Kernel(symbol, op, isa, quantized != 0, counts)
