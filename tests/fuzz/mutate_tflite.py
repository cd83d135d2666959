"""Structured mutations of TFLite files, in place through the file's tables."""

from __future__ import annotations

import random
import struct
from typing import Any

import tflite

from .mutate import DIMENSIONS

TYPES = (0, 1, 2, 4, 5, 6, 7, 8, 9, 17, 18, 19, 20, 21, 22, 99)


class _Editor:
    """Overwrites scalars of a FlatBuffers file at the offsets of its tables."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.model = tflite.Model.GetRootAsModel(self.data, 0)
        self.graph = self.model.Subgraphs(0)

    def scalar(self, table: Any, slot: int, form: str, value: int) -> None:
        """Sets field `slot` of a table if the file stores it."""
        offset = table._tab.Offset(4 + 2 * slot)
        if offset:
            struct.pack_into(form, self.data, table._tab.Pos + offset, value)

    def vector(self, table: Any, slot: int, rng: random.Random, form: str, pool: tuple[int, ...]) -> None:
        """Overwrites one entry, or the length, of an integer vector field."""
        offset = table._tab.Offset(4 + 2 * slot)
        if not offset:
            return
        length = table._tab.VectorLen(offset)
        start = table._tab.Vector(offset)
        if length == 0 or rng.random() < 0.2:
            struct.pack_into("<I", self.data, start - 4, rng.choice((0, length + 1, 1 << 20, 0xFFFFFFFF)))
        else:
            at = start + rng.randrange(length) * struct.calcsize(form)
            struct.pack_into(form, self.data, at, rng.choice(pool))


def _tensor(editor: _Editor, rng: random.Random) -> None:
    tensor = editor.graph.Tensors(rng.randrange(editor.graph.TensorsLength()))
    kind = rng.randrange(3)
    if kind == 0:
        editor.vector(tensor, 0, rng, "<i", DIMENSIONS)
    elif kind == 1:
        editor.scalar(tensor, 1, "<b", rng.choice(TYPES))
    else:
        editor.scalar(tensor, 2, "<I", rng.choice((0, 1, 1000, 0xFFFFFFFF)))


def _operator(editor: _Editor, rng: random.Random) -> None:
    operator = editor.graph.Operators(rng.randrange(editor.graph.OperatorsLength()))
    count = editor.graph.TensorsLength()
    kind = rng.randrange(4)
    if kind == 0:
        editor.scalar(operator, 0, "<I", rng.choice((0, 1, 99, 0xFFFFFFFF)))
    elif kind == 1:
        editor.vector(operator, 1, rng, "<i", (-1, -2, 0, count - 1, count, 1 << 30))
    elif kind == 2:
        editor.vector(operator, 2, rng, "<i", (-1, 0, count - 1, count, 1 << 30))
    else:
        editor.scalar(operator, 3, "<B", rng.randrange(256))  # the type of its options


def _whole(editor: _Editor, rng: random.Random) -> None:
    kind = rng.randrange(4)
    count = editor.graph.TensorsLength()
    if kind == 0:
        code = editor.model.OperatorCodes(rng.randrange(editor.model.OperatorCodesLength()))
        editor.scalar(code, 0, "<b", rng.randrange(-1, 127))
        editor.scalar(code, 3, "<i", rng.choice((*range(0, 160, 7), -1, 1 << 20)))
    elif kind == 1:
        editor.vector(editor.graph, rng.choice((1, 2)), rng, "<i", (-1, 0, count - 1, count, 1 << 30))
    elif kind == 2:
        editor.scalar(editor.model, 0, "<I", rng.choice((0, 1, 2, 4, 99)))
    else:
        buffer = editor.model.Buffers(rng.randrange(editor.model.BuffersLength()))
        offset = buffer._tab.Offset(4)
        if offset:
            struct.pack_into("<I", editor.data, buffer._tab.Vector(offset) - 4, rng.choice((0, 1, 3, 0xFFFFFFF0)))


def mutate(data: bytes, rng: random.Random) -> bytes:
    editor = _Editor(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        try:
            rng.choice((_tensor, _tensor, _operator, _operator, _whole))(editor, rng)
        except (struct.error, TypeError, AttributeError, IndexError):
            break  # an earlier change has made the tables unreadable
    return bytes(editor.data)
