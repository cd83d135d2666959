"""Finds tensors that share memory: reshapes, and concats and splits that need no copy.

A base is a tensor with its own contents, which one step computes or the caller provides. A block is memory that gets
one offset: mostly a single base, or the output of a concat with the bases that are computed inside of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from mslite.codegen.memory.options import Inputs, MemoryOptions
from mslite.codegen.program import Program, Step, Storage, Tensor


@dataclass(eq=False)
class Block:
    """Memory that gets one offset. `bases`: the bases in it, each with its offset in the block."""

    name: str
    size: int
    bases: list[tuple[Tensor, int]] = field(default_factory=list)


@dataclass(eq=False)
class Layout:
    """Blocks of a program. `steps`: the steps that still have to run; `place`: block and offset in it of each tensor of
    the arena; `bases`: the bases that a tensor consists of. Tensors outside of the arena are in neither."""

    steps: list[Step]
    blocks: list[Block] = field(default_factory=list)
    place: dict[Tensor, tuple[Block, int]] = field(default_factory=dict)
    bases: dict[Tensor, tuple[Tensor, ...]] = field(default_factory=dict)

    def read(self, step: Step) -> list[Tensor]:
        """Returns the bases that a step reads, without duplicates."""
        found = [base for operand in step.inputs if operand is not None for base in self.bases.get(operand, ())]
        return list(dict.fromkeys(found))

    def written(self, step: Step) -> list[Tensor]:
        return [base for output in step.outputs for base in self.bases.get(output, ())]


def root(tensor: Tensor) -> Tensor:
    """Returns the tensor whose memory an alias uses."""
    while tensor.alias_of is not None:
        tensor = tensor.alias_of
    return tensor


def make_layout(program: Program, options: MemoryOptions) -> Layout:
    """Finds the blocks of a program."""
    roots = _roots(program, options)
    layout = Layout(list(program.steps))
    merged: dict[Tensor, tuple[Tensor, int]] = {}  # base -> (concat output that contains it, offset)
    views: dict[Tensor, tuple[Tensor, int]] = {}  # output of a split -> (input that contains it, offset)
    if options.no_copies:
        produced = {root(output) for step in program.steps for output in step.outputs}
        for step in reversed(program.steps):
            pieces = joined(step)
            if pieces is not None and _can_join(step, pieces, roots, merged, produced, options.alignment):
                merged |= {root(piece): (root(step.outputs[0]), at) for piece, at in pieces}
                layout.steps.remove(step)
        wholes = {whole for whole, _ in merged.values()}
        for step in program.steps:
            cut = parted(step)
            if cut is None or step not in layout.steps:
                continue
            whole, pieces = cut
            if (
                root(whole) in roots
                and root(whole).storage is not Storage.VARIABLE
                and all(
                    root(piece) in roots
                    and root(piece) not in merged
                    and root(piece) not in wholes
                    and at % options.alignment == 0
                    for piece, at in pieces
                )
            ):
                views |= {root(piece): (root(whole), at) for piece, at in pieces}
                layout.steps.remove(step)
    _fill(layout, roots, merged, views)
    for tensor in _all_tensors(program):
        if tensor.alias_of is not None and root(tensor) in layout.place:
            layout.place[tensor] = layout.place[root(tensor)]
            layout.bases[tensor] = layout.bases[root(tensor)]
    return layout


def _all_tensors(program: Program) -> list[Tensor]:
    found = dict.fromkeys([*program.inputs, *program.outputs])
    for step in program.steps:
        found |= dict.fromkeys([operand for operand in step.inputs if operand is not None] + step.outputs)
    return list(found)


def _roots(program: Program, options: MemoryOptions) -> dict[Tensor, None]:
    """Returns the tensors with their own memory in the arena."""
    homes = {Storage.ACTIVATION, Storage.VARIABLE}
    if options.inputs is not Inputs.CALLER:
        homes.add(Storage.INPUT)
    found, outside = dict.fromkeys(root(tensor) for tensor in _all_tensors(program)), program.outside_roots()
    return {tensor: None for tensor in found if tensor.storage in homes and tensor not in outside}


def _fill(
    layout: Layout,
    roots: dict[Tensor, None],
    merged: dict[Tensor, tuple[Tensor, int]],
    views: dict[Tensor, tuple[Tensor, int]],
) -> None:
    wholes = dict.fromkeys(whole for whole, _ in merged.values())
    blocks: dict[Tensor, Block] = {}

    def resolve(tensor: Tensor) -> tuple[Block, int]:
        if tensor in layout.place:
            return layout.place[tensor]
        parent = merged.get(tensor) or views.get(tensor)
        if parent is not None:
            block, at = resolve(parent[0])
            at += parent[1]
        else:
            block, at = blocks.setdefault(tensor, Block(tensor.name, tensor.size)), 0
        layout.place[tensor] = block, at
        return block, at

    for tensor in roots:
        block, at = resolve(tensor)
        if tensor not in wholes and tensor not in views:
            block.bases.append((tensor, at))
            layout.bases[tensor] = (tensor,)

    def bases(tensor: Tensor) -> tuple[Tensor, ...]:
        if tensor not in layout.bases:
            if tensor in views:
                layout.bases[tensor] = bases(views[tensor][0])
            else:
                parts = [base for base, (whole, _) in merged.items() if whole is tensor]
                layout.bases[tensor] = tuple(dict.fromkeys(found for part in parts for found in bases(part)))
        return layout.bases[tensor]

    for tensor in roots:
        bases(tensor)
    layout.blocks = list(blocks.values())


def joined(step: Step) -> list[tuple[Tensor, int]] | None:
    """Returns the inputs of a concat or stack with their offsets in its output, or None if they are not contiguous
    there."""
    pieces = [operand for operand in step.inputs if operand is not None]
    if step.operator not in ("Concat", "Stack") or len(pieces) != len(step.inputs) or len(step.outputs) != 1:
        return None
    return _follow(pieces, step.outputs[0], step.operator == "Stack")


def parted(step: Step) -> tuple[Tensor, list[tuple[Tensor, int]]] | None:
    """Returns the input of a split, unstack or slice, and its outputs with their offsets in it, or None if these are
    not contiguous."""
    whole = step.inputs[0] if step.inputs else None
    if whole is None:
        return None
    if step.operator in ("Split", "Unstack"):
        pieces = _follow(step.outputs, whole, step.operator == "Unstack")
        return None if pieces is None else (whole, pieces)
    if step.operator == "SliceFusion" and len(step.inputs) == 3:
        return _sliced(step, whole)
    return None


def _sliced(step: Step, whole: Tensor) -> tuple[Tensor, list[tuple[Tensor, int]]] | None:
    output, begin = step.outputs[0], step.inputs[1]
    if begin is None or begin.data is None or not same_quantization(output, whole) or not output.size or not whole.size:
        return None
    starts = [int(value) for value in np.asarray(begin.data).reshape(-1)]
    if len(starts) != len(whole.shape) or len(output.shape) != len(whole.shape):
        return None
    cut = [axis for axis, (a, b) in enumerate(zip(output.shape, whole.shape, strict=True)) if a != b]
    axis = cut[0] if cut else 0
    if len(cut) > 1 or any(start for place, start in enumerate(starts) if place != axis):
        return None
    if prod(whole.shape[:axis]) != 1 or not 0 <= starts[axis] <= whole.shape[axis] - output.shape[axis]:
        return None
    return whole, [(output, starts[axis] * (whole.size // whole.shape[axis]))]


def _follow(pieces: list[Tensor], whole: Tensor, stacked: bool) -> list[tuple[Tensor, int]] | None:
    if len(pieces) < 2 or not all(piece.size and same_quantization(piece, whole) for piece in pieces):
        return None
    if sum(piece.size for piece in pieces) != whole.size:
        return None
    if stacked:
        if any(piece.shape != pieces[0].shape for piece in pieces) or len(whole.shape) != len(pieces[0].shape) + 1:
            return None
        axes = [
            axis
            for axis, count in enumerate(whole.shape)
            if count == len(pieces) and whole.shape[:axis] + whole.shape[axis + 1 :] == pieces[0].shape
        ]
        if not axes or any(prod(whole.shape[:axis]) != 1 for axis in axes):
            return None
    else:
        if any(len(piece.shape) != len(whole.shape) for piece in pieces):
            return None
        differing = {
            axis for piece in pieces for axis, (a, b) in enumerate(zip(piece.shape, whole.shape, strict=True)) if a != b
        }
        if len(differing) != 1 or prod(whole.shape[: differing.pop()]) != 1:
            return None
    found, at = [], 0
    for piece in pieces:
        found.append((piece, at))
        at += piece.size
    return found


def same_quantization(one: Tensor, other: Tensor) -> bool:
    """Returns whether equal bytes are equal values: same data type and quantization parameters."""
    if one.dtype != other.dtype:
        return False
    records = [[(record.scale, record.zeroPoint) for record in tensor.quant] for tensor in (one, other)]
    return records[0] == records[1]


def _can_join(
    step: Step,
    pieces: list[tuple[Tensor, int]],
    roots: dict[Tensor, None],
    merged: dict[Tensor, tuple[Tensor, int]],
    produced: set[Tensor],
    alignment: int,
) -> bool:
    wholes = {whole for whole, _ in merged.values()}
    own = [root(piece) for piece, _ in pieces]
    if len(set(own)) != len(own) or root(step.outputs[0]) not in roots or root(step.outputs[0]) in own:
        return False
    for (piece, at), base in zip(pieces, own, strict=True):
        if base not in roots or base in merged or base in wholes or base.storage is Storage.VARIABLE:
            return False
        if (base not in produced and base.storage is not Storage.INPUT) or base.size != piece.size or at % alignment:
            return False
    return True
