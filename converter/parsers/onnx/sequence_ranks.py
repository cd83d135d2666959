"""Infers the ranks of tensors in sequences. ONNX's type inference lacks them if a sequence was created empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from onnx import NodeProto

RankOf = Callable[[str], int | None]
_Ranks = frozenset[int | None]
"""Ranks of the tensors in a sequence: empty for an empty sequence, None for an unknown rank."""
_UNKNOWN: _Ranks = frozenset({None})


def ranks_out_of_sequences(nodes: Iterable[NodeProto], rank_of: RankOf) -> dict[str, int]:
    """Returns the ranks of the outputs of SequenceAt and ConcatFromSequence, by name. `nodes`: in execution order."""
    held: dict[str, _Ranks] = {}
    found: dict[str, int] = {}
    for node in nodes:
        if node.domain not in ("", "ai.onnx") or not node.output:
            continue
        given = held.get(node.input[0], _UNKNOWN) if node.input else _UNKNOWN
        if node.op_type in ("SequenceAt", "ConcatFromSequence"):
            rank = next(iter(given)) if len(given) == 1 else None
            if rank is not None:
                found[node.output[0]] = rank + _integer(node, "new_axis", 0) * (node.op_type == "ConcatFromSequence")
        else:
            held[node.output[0]] = _held(node, given, lambda name: found.get(name, rank_of(name)))
    return found


def _held(node: NodeProto, given: _Ranks, rank_of: RankOf) -> _Ranks:
    """Returns the ranks in the sequence that a node outputs. `given`: those of its input sequence."""
    match node.op_type:
        case "SequenceEmpty":
            return frozenset()
        case "SequenceConstruct":
            return frozenset(rank_of(name) for name in node.input)
        case "SequenceInsert" if len(node.input) > 1:
            return given | {rank_of(node.input[1])}
        case "SequenceErase":
            return given
        case "SplitToSequence" if node.input:
            rank = rank_of(node.input[0])
            has_sizes = len(node.input) > 1 and node.input[1] != ""
            dropped = not has_sizes and _integer(node, "keepdims", 1) == 0
            return frozenset({None if rank is None else rank - dropped})
        case _:
            return _UNKNOWN


def _integer(node: NodeProto, name: str, otherwise: int) -> int:
    return next((int(one.i) for one in node.attribute if one.name == name), otherwise)
