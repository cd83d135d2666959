"""Fuses the nodes that TensorFlow writes for a dilated convolution with dynamic dimensions.

    BatchToSpaceND(Conv2D(SpaceToBatchND(x, rates, paddings)), rates, crops) → Conv2D(x) with dilation and padding

Paddings and crops are computed from the size of x, which the blocks must divide. Only their difference is needed,
which is constant. Convolutions of sequences have an ExpandDims before the convolution and a Squeeze after it.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Shape, Value, constant
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import PadMode
from mslite.converter.mindir.ops.rearrange import (
    BatchToSpace,
    BatchToSpaceND,
    ExpandDims,
    SpaceToBatch,
    SpaceToBatchND,
    Squeeze,
)
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator
from mslite.converter.passes.symbolic_offsets import Offset, differences, offsets

_BLOCKS = op("SpaceToBatchND SpaceToBatch", value("x"), name="blocks")


_IMAGE = op("BatchToSpaceND BatchToSpace", op("Conv2DFusion", _BLOCKS, name="conv"))
_SEQUENCE = op(
    "BatchToSpaceND BatchToSpace",
    op(
        "Squeeze Reshape",
        op("Conv2DFusion", op("ExpandDims Unsqueeze Reshape", _BLOCKS, name="wide"), name="conv"),
        name="narrow",
    ),
)


def _new_axis(narrow: Value, wide: Value) -> int | None:
    """Returns the axis of the additional dimension of size 1 in `wide`, height or width; None if there is none or it
    is ambiguous."""
    if narrow.shape is None or wide.shape is None:
        return None
    axes = [axis for axis in (1, 2) if wide.shape == _widened(narrow.shape, axis)]
    return axes[0] if len(axes) == 1 else None


def _widened(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis:])


def _sizes_and_borders(node: Node) -> tuple[list[int], list[Offset]] | None:
    """Returns the block sizes, and the padding or crop before and after each dimension; None if they are unknown."""
    if len(node.inputs) > 2:
        blocks, borders = node.inputs[1].data, offsets(node.inputs[2])
        return None if blocks is None or borders is None else (blocks.ravel().tolist(), borders)
    stored = node.op
    if isinstance(stored, SpaceToBatchND | SpaceToBatch):
        pairs = stored.paddings
    elif isinstance(stored, BatchToSpaceND | BatchToSpace):
        pairs = stored.crops
    else:
        return None
    own = stored.block_shape if isinstance(stored, SpaceToBatchND | BatchToSpaceND) else stored.block_size
    given = [Offset(None, number) for pair in pairs or () for number in pair or ()]
    return list(own or ()), given or [Offset(None, 0)] * (2 * len(own or ()))


def _dilation(match: Match) -> tuple[tuple[int, int], tuple[int, int, int, int]] | str:
    """Returns the dilation and padding of the equivalent convolution, or the reason why there is none."""
    blocks, conv, root = match.node("blocks"), match.node("conv").op, match.root
    assert isinstance(conv, Conv2DFusion)
    if tuple(conv.stride or ()) != (1, 1) or tuple(conv.dilation or ()) not in ((), (1, 1)):
        return "the convolution has strides or dilations"
    if conv.pad_mode is not PadMode.VALID and not (conv.pad_mode is PadMode.PAD and not any(conv.pad_list or ())):
        return "the convolution pads its blocks"
    there, back = _sizes_and_borders(blocks), _sizes_and_borders(root)
    if there is None or back is None:
        return "the block sizes are not constant"
    if there[0] != back[0] or len(there[1]) != 2 * len(there[0]) or len(back[1]) != len(there[1]):
        return "the block sizes before and after the convolution differ"
    margins = differences(there[1], back[1])
    if not margins or min(margins) < 0:
        return "the difference of paddings and crops is not constant and non-negative"
    axes = [1 + place for place in range(len(there[0]))]
    if "wide" in match.nodes:
        wide, narrow = match.node("wide"), match.node("narrow")
        axis = _new_axis(wide.inputs[0], wide.output)
        if axis is None or axis != _new_axis(narrow.output, match.node("conv").output):
            return "the sequence is not an image of one row or column"
        axes = [place + 1 if place >= axis else place for place in axes]
    rank = match.value("x").rank
    if rank != (3 if "wide" in match.nodes else 4) or any(axis not in (1, 2) for axis in axes):
        return "dimensions other than height and width are divided into blocks"
    rates, pads = [1, 1], [0, 0, 0, 0]
    for place, axis in enumerate(axes):
        rates[axis - 1] = there[0][place]
        pads[2 * axis - 2 : 2 * axis] = margins[2 * place : 2 * place + 2]
    return (rates[0], rates[1]), (pads[0], pads[1], pads[2], pads[3])


def _check(match: Match, context: Context) -> str | None:
    found = _dilation(match)
    return found if isinstance(found, str) else None


def _rewrite(match: Match, graph: Graph) -> None:
    found = _dilation(match)
    assert not isinstance(found, str)
    dilation, pads = found
    conv, root, x = match.node("conv"), match.root, match.value("x")
    new = changed(conv.op, dilation=dilation, pad_mode=PadMode.PAD, pad_list=pads)
    if "wide" not in match.nodes:
        replace_operator(root, new, [x, *conv.inputs[1:]], conv.name)
        return
    wide = match.node("wide")
    axis = _new_axis(wide.inputs[0], wide.output)
    assert axis is not None
    image, whole = (
        Value(f"{node.name}_whole", like.dtype, None if like.shape is None else _widened(like.shape, axis))
        for node, like in ((wide, x), (conv, root.output))
    )
    place = constant(f"{wide.name}_axis", np.array([axis], np.int32))
    position = graph.nodes.index(root)
    graph.nodes[position:position] = [
        Node(ExpandDims(), image.name, (x, place), (image,)),
        Node(new, whole.name, (image, *conv.inputs[1:]), (whole,)),
    ]
    replace_operator(root, Squeeze(axis=(axis,)), [whole])


RULE = Rule("DilatedConvFusion", (_IMAGE, _SEQUENCE), _rewrite, _check)
