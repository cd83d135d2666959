"""Reading of untrusted FlatBuffers: every offset, size and count is checked before it is used.

A `Source` is a buffer with a budget: tables may be shared, so a small malformed file could otherwise unfold into
gigabytes. Nothing here knows a schema; the callers say slot and type.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

SCALARS = {
    "bool": "<B",
    "byte": "<b",
    "ubyte": "<B",
    "int": "<i",
    "uint": "<I",
    "long": "<q",
    "ulong": "<Q",
    "float": "<f",
    "double": "<d",
    "short": "<h",
    "ushort": "<H",
}
"""struct code of each FlatBuffers scalar."""

Number = int | float


class FlatBufferError(Exception):
    """A buffer that is not what it claims to be."""


class Source:
    """A FlatBuffer of at least eight bytes, and how much may still be read from it."""

    def __init__(self, buffer: bytes | bytearray | memoryview) -> None:
        self.bytes = memoryview(buffer).cast("B").toreadonly()
        self.size = len(self.bytes)
        self._budget = 16 * self.size + (1 << 20)
        if self.size < 8:
            raise FlatBufferError(f"{self.size} bytes are too few for a FlatBuffer")

    @property
    def identifier(self) -> bytes:
        return bytes(self.bytes[4:8])

    def charge(self, amount: int) -> None:
        """Counts bytes that were unfolded. Raises FlatBufferError when that is more than any honest file needs."""
        self._budget -= amount
        if self._budget < 0:
            raise FlatBufferError("its tables refer to the same bytes over and over")

    def read(self, kind: str, at: int) -> Number:
        code = SCALARS[kind]
        if at < 0 or at + struct.calcsize(code) > self.size:
            raise FlatBufferError(f"offset {at} lies outside its {self.size} bytes")
        value: Number = struct.unpack_from(code, self.bytes, at)[0]
        return value

    def follow(self, at: int) -> int:
        """The target of the unsigned offset that is stored at `at`."""
        target = at + int(self.read("uint", at))
        if target == at or target >= self.size:
            raise FlatBufferError(f"the offset stored at {at} leads outside its {self.size} bytes")
        return target

    def root(self) -> Table:
        return Table(self, self.follow(0))


class Table:
    """One table of a source; fields are asked for by slot number."""

    def __init__(self, source: Source, at: int) -> None:
        self.source = source
        self.at = at
        source.charge(64)
        vtable = at - int(source.read("int", at))
        self._vtable = vtable
        self._vtable_size = int(source.read("ushort", vtable))
        if self._vtable_size < 4 or vtable + self._vtable_size > source.size:
            raise FlatBufferError(f"the table at {at} has a broken field list")

    def position(self, slot: int) -> int | None:
        """Where the field is stored, None when it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_size:
            return None
        offset = int(self.source.read("ushort", self._vtable + entry))
        return self.at + offset if offset else None

    def scalar(self, slot: int, kind: str, default: Number = 0) -> Number:
        at = self.position(slot)
        return default if at is None else self.source.read(kind, at)

    def table(self, slot: int) -> Table | None:
        at = self.position(slot)
        return None if at is None else Table(self.source, self.source.follow(at))

    def _vector(self, slot: int, item_size: int) -> tuple[int, int] | None:
        at = self.position(slot)
        return None if at is None else self._vector_at(self.source.follow(at), item_size)

    def _vector_at(self, at: int, item_size: int) -> tuple[int, int]:
        count = int(self.source.read("uint", at))
        if count * item_size > self.source.size - at - 4:
            raise FlatBufferError(f"the vector at {at} with {count} elements is longer than the rest of the buffer")
        return at + 4, count

    def bytes(self, slot: int) -> memoryview | None:
        """A vector of bytes as a view, not a copy."""
        found = self._vector(slot, 1)
        return None if found is None else self.source.bytes[found[0] : found[0] + found[1]]

    def text(self, slot: int) -> str | None:
        view = self.bytes(slot)
        if view is None:
            return None
        self.source.charge(len(view))
        try:
            return str(view, "utf-8")
        except UnicodeDecodeError as error:
            raise FlatBufferError(f"the table at {self.at} holds text that is not UTF-8") from error

    def texts(self, slot: int) -> list[str] | None:
        """A vector of strings."""
        found = self._vector(slot, 4)
        if found is None:
            return None
        result = []
        for index in range(found[1]):
            at, count = self._vector_at(self.source.follow(found[0] + 4 * index), 1)
            self.source.charge(count + 8)
            result.append(str(self.source.bytes[at : at + count], "utf-8", "replace"))
        return result

    def array(self, slot: int, kind: str) -> npt.NDArray[np.generic] | None:
        """A vector of scalars as a view of the buffer (possibly unaligned)."""
        dtype = np.dtype(SCALARS[kind])
        found = self._vector(slot, dtype.itemsize)
        if found is None:
            return None
        return np.frombuffer(self.source.bytes, dtype, found[1], found[0])

    def numbers(self, slot: int, kind: str) -> tuple[Number, ...] | None:
        """A vector of scalars as Python numbers."""
        array = self.array(slot, kind)
        if array is None:
            return None
        self.source.charge(array.nbytes)
        return tuple(array.tolist())

    def tables(self, slot: int) -> list[Table] | None:
        """A vector of tables."""
        found = self._vector(slot, 4)
        if found is None:
            return None
        self.source.charge(4 * found[1])
        return [Table(self.source, self.source.follow(found[0] + 4 * index)) for index in range(found[1])]
