"""References of operators that keep all elements."""

from __future__ import annotations

import math

import numpy as np

from ..ops import rearrange as ops
from ..ops.enums import DataType, Format
from ._declare import Array, Inputs, case, integers, normal, reference


@reference("Shape")
def shape(op: ops.Shape, inputs: Inputs) -> list[Array]:
    """The dimensions, int32."""
    assert inputs[0] is not None
    return [np.array(inputs[0].shape, np.int32)]


@reference("Rank")
def rank(op: ops.Rank, inputs: Inputs) -> list[Array]:
    """The number of dimensions, an int32 scalar."""
    assert inputs[0] is not None
    return [np.array(inputs[0].ndim, np.int32)]


@reference("Size")
def size(op: ops.Size, inputs: Inputs) -> list[Array]:
    """The number of elements, an int32 scalar."""
    assert inputs[0] is not None
    return [np.array(inputs[0].size, np.int32)]


@reference("Reshape")
def reshape(op: ops.Reshape, inputs: Inputs) -> list[Array]:
    """A 0 in the new shape copies the input's size, -1 is inferred."""
    x, wanted = inputs[:2]
    assert x is not None
    assert wanted is not None
    copied = [x.shape[i] if size == 0 and i < x.ndim else int(size) for i, size in enumerate(wanted)]
    return [x.reshape(copied)]


@reference("Flatten")
def flatten(op: ops.Flatten, inputs: Inputs) -> list[Array]:
    """Reshapes to two dimensions: the product of those before `axis`, and of the rest."""
    assert inputs[0] is not None
    return [inputs[0].reshape(math.prod(inputs[0].shape[: op.axis]), -1)]


@reference("ExpandDims")
def expand_dims(op: ops.ExpandDims, inputs: Inputs) -> list[Array]:
    """numpy.expand_dims."""
    x, axis = inputs[:2]
    assert x is not None
    assert axis is not None
    return [np.expand_dims(x, int(axis.item()))]


@reference("Squeeze")
def squeeze(op: ops.Squeeze, inputs: Inputs) -> list[Array]:
    """numpy.squeeze."""
    assert inputs[0] is not None
    return [np.squeeze(inputs[0], tuple(op.axis) if op.axis else None)]


@reference("Unsqueeze")
def unsqueeze(op: ops.Unsqueeze, inputs: Inputs) -> list[Array]:
    """numpy.expand_dims; axes refer to the output."""
    assert inputs[0] is not None
    return [np.expand_dims(inputs[0], tuple(op.axis or ()))]


@reference("Transpose")
def transpose(op: ops.Transpose, inputs: Inputs) -> list[Array]:
    """numpy.transpose; without a permutation all dimensions are reversed."""
    assert inputs[0] is not None
    perm = None if len(inputs) < 2 or inputs[1] is None else [int(axis) for axis in inputs[1]]
    return [np.transpose(inputs[0], perm)]


@reference("FormatTranspose")
def format_transpose(op: ops.FormatTranspose, inputs: Inputs) -> list[Array]:
    """Moves the channels."""
    assert inputs[0] is not None
    if op.src_format == op.dst_format:
        return [inputs[0]]
    return [np.moveaxis(inputs[0], *((1, -1) if op.dst_format == Format.NHWC else (-1, 1)))]


@reference("DepthToSpace")
def depth_to_space(op: ops.DepthToSpace, inputs: Inputs) -> list[Array]:
    """ONNX DepthToSpace in NHWC: in mode DCR the block is before the channel, in CRD after it."""
    assert inputs[0] is not None
    n, h, w, c = inputs[0].shape
    b = op.block_size
    if op.mode == "CRD":
        blocks = inputs[0].reshape(n, h, w, c // (b * b), b, b).transpose(0, 1, 4, 2, 5, 3)
    else:
        blocks = inputs[0].reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    return [blocks.reshape(n, h * b, w * b, c // (b * b))]


@reference("SpaceToDepth")
def space_to_depth(op: ops.SpaceToDepth, inputs: Inputs) -> list[Array]:
    """The inverse of DepthToSpace (DCR), in NHWC."""
    assert inputs[0] is not None
    n, h, w, c = inputs[0].shape
    b = op.block_size
    blocks = inputs[0].reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return [blocks.reshape(n, h // b, w // b, b * b * c)]


def _blocks(block: object, margins: object, inputs: Inputs) -> tuple[list[int], list[tuple[int, int]]]:
    if len(inputs) > 2:
        assert inputs[1] is not None
        assert inputs[2] is not None
        return inputs[1].tolist(), [(int(a), int(b)) for a, b in inputs[2].reshape(-1, 2)]
    sizes = list(block)  # type: ignore[call-overload]
    pairs = [tuple(pair) for pair in margins] if margins else [(0, 0)] * len(sizes)  # type: ignore[attr-defined]
    return sizes, pairs


@reference("BatchToSpace", "BatchToSpaceND")
def batch_to_space(op: ops.BatchToSpace | ops.BatchToSpaceND, inputs: Inputs) -> list[Array]:
    """TensorFlow's BatchToSpaceND."""
    x = inputs[0]
    assert x is not None
    block, crops = _blocks(op.block_size if isinstance(op, ops.BatchToSpace) else op.block_shape, op.crops, inputs)
    m = len(block)
    y = x.reshape(*block, x.shape[0] // math.prod(block), *x.shape[1:])
    order = [m, *(axis for i in range(m) for axis in (m + 1 + i, i)), *range(2 * m + 1, y.ndim)]
    sizes = [x.shape[0] // math.prod(block), *(x.shape[1 + i] * block[i] for i in range(m)), *x.shape[m + 1 :]]
    y = y.transpose(order).reshape(sizes)
    box = [slice(None), *(slice(begin, y.shape[1 + i] - end) for i, (begin, end) in enumerate(crops))]
    return [y[tuple(box)]]


@reference("SpaceToBatch", "SpaceToBatchND")
def space_to_batch(op: ops.SpaceToBatch | ops.SpaceToBatchND, inputs: Inputs) -> list[Array]:
    """TensorFlow's SpaceToBatchND."""
    x = inputs[0]
    assert x is not None
    block, pads = _blocks(op.block_size if isinstance(op, ops.SpaceToBatch) else op.block_shape, op.paddings, inputs)
    m = len(block)
    x = np.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - m - 1)])
    split = [size for i in range(m) for size in (x.shape[1 + i] // block[i], block[i])]
    y = x.reshape(x.shape[0], *split, *x.shape[m + 1 :])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, y.ndim)]
    sizes = [x.shape[1 + i] // block[i] for i in range(m)]
    return [y.transpose(order).reshape(x.shape[0] * math.prod(block), *sizes, *x.shape[m + 1 :])]


@reference("ReverseV2")
def reverse(op: ops.ReverseV2, inputs: Inputs) -> list[Array]:
    """numpy.flip."""
    assert inputs[0] is not None
    return [np.flip(inputs[0], op.axis or ())]


@reference("ReverseSequence")
def reverse_sequence(op: ops.ReverseSequence, inputs: Inputs) -> list[Array]:
    """Reverses the first lengths[i] steps of batch entry i."""
    x, lengths = inputs[:2]
    assert x is not None
    assert lengths is not None
    y = x.copy()
    moved, source = (np.moveaxis(a, (op.batch_dim, op.seq_dim), (0, 1)) for a in (y, x))
    for batch, length in enumerate(lengths):
        moved[batch, :length] = source[batch, :length][::-1]
    return [y]


@reference("InvertPermutation")
def invert_permutation(op: ops.InvertPermutation, inputs: Inputs) -> list[Array]:
    """numpy.argsort of a permutation."""
    assert inputs[0] is not None
    return [np.argsort(inputs[0]).astype(inputs[0].dtype)]


def _ints(*values: int) -> Array:
    return np.array(values, np.int32)


for _name, _op in (("shape", ops.Shape()), ("rank", ops.Rank()), ("size", ops.Size())):
    case("plain", _op, [normal(2, 3, 4)])
    case("scalar", _op, [normal()])
    case("empty", _op, [normal(2, 0, 4)])
case("copy-infer", ops.Reshape(), [normal(2, 3, 4), _ints(0, -1)], (1,))
case("plain", ops.Reshape(), [integers(0, 9, 2, 6, dtype=np.int8), _ints(3, 4)], (1,))
case("int64-shape", ops.Reshape(), [normal(2, 6), np.array([4, 1, -1])], (1,))
case("scalar", ops.Reshape(), [normal(1), np.zeros(0, np.int32)], (1,))
case("large", ops.Reshape(), [normal(3, 100, 101), _ints(-1)], (1,))
case("plain", ops.Flatten(axis=2), [normal(2, 3, 4, 5)])
case("negative", ops.Flatten(axis=-1), [normal(2, 3, 4)])
case("zero", ops.Flatten(axis=0), [normal(2, 3, 4)])
case("plain", ops.ExpandDims(), [normal(2, 3), np.array(-1, np.int32)], (1,))
case("all", ops.Squeeze(), [normal(1, 3, 1, 2)])
case("one", ops.Squeeze(axis=(-2,)), [normal(1, 3, 1, 2)])
case("two", ops.Unsqueeze(axis=(0, -1)), [normal(3, 2)])
for _shape, _perm in (
    ((5, 7), (1, 0)),
    ((65, 130), (1, 0)),
    ((2, 3, 17, 19), (0, 2, 3, 1)),
    ((2, 17, 19, 3), (0, 3, 1, 2)),
    ((1, 64, 9, 11), (0, 2, 3, 1)),
    ((2, 3, 4, 5, 6), (4, 2, 0, 3, 1)),
    ((2, 3, 4, 5), (0, 1, 3, 2)),
    ((3, 2, 29), (0, 2, 1)),
    ((2, 3, 1030), (0, 2, 1)),
    ((2, 4, 33), (0, 2, 1)),
    ((4, 5, 6), (1, 0, 2)),
    ((1, 5, 1, 6), (3, 2, 1, 0)),
    ((3, 4), (0, 1)),
    ((2, 3, 2, 3, 2, 3), (5, 3, 1, 0, 2, 4)),
    ((4, 0, 3), (2, 1, 0)),
):
    for _dtype in (np.float32, np.int8, np.int16, np.int64):
        _x = integers(-100, 100, *_shape, dtype=_dtype)
        _label = "-".join(map(str, [*_shape, "to", *_perm, np.dtype(_dtype).name]))
        case(_label, ops.Transpose(), [_x, _ints(*_perm)], (1,))
case("reversed", ops.Transpose(), [normal(2, 3, 4)])
case("to-last", ops.FormatTranspose(src_format=Format.NCHW, dst_format=Format.NHWC), [normal(2, 3, 4, 5)])
case("to-first", ops.FormatTranspose(src_format=Format.NHWC, dst_format=Format.NCHW), [normal(2, 3, 4, 5)])
for _mode in (None, "DCR", "CRD"):
    case(str(_mode), ops.DepthToSpace(block_size=2, format=Format.NHWC, mode=_mode), [normal(2, 3, 4, 12)])
case("three", ops.DepthToSpace(block_size=3, format=Format.NHWC), [integers(0, 99, 1, 2, 2, 9, dtype=np.uint8)])
case("plain", ops.SpaceToDepth(block_size=2, format=Format.NHWC), [normal(2, 4, 6, 3)])
case("attributes", ops.BatchToSpace(block_size=(2, 2), crops=((0, 0), (1, 0))), [normal(8, 3, 4, 2)])
case("no-crops", ops.BatchToSpaceND(block_shape=(3,)), [normal(6, 5, 2)])
case("inputs", ops.BatchToSpaceND(), [normal(12, 3, 4, 2), _ints(2, 3), _ints(1, 0, 2, 1)], (1, 2))
case("attributes", ops.SpaceToBatch(block_size=(2, 2), paddings=((0, 0), (1, 1))), [normal(2, 4, 6, 3)])
case("one", ops.SpaceToBatchND(block_shape=(4,), paddings=((1, 2),)), [normal(2, 5, 3)])
case("inputs", ops.SpaceToBatchND(), [normal(2, 4, 7, 3), _ints(2, 3), _ints(1, 1, 0, 2)], (1, 2))
case("plain", ops.ReverseV2(axis=(0, -1)), [normal(3, 4, 5)])
case("inner", ops.ReverseV2(axis=(1,)), [normal(3, 4, 50)])
case("batch-first", ops.ReverseSequence(seq_dim=1, batch_dim=0), [normal(3, 4, 5), _ints(2, 4, 0)])
case("time-first", ops.ReverseSequence(seq_dim=0, batch_dim=1), [normal(4, 3, 5), np.array([1, 3, 4])])
case("between", ops.ReverseSequence(seq_dim=3, batch_dim=1), [normal(2, 3, 2, 4, 2), _ints(2, 4, 3)])
case("plain", ops.InvertPermutation(), [_ints(3, 0, 2, 1)])


@reference("Bitcast")
def bitcast(op: ops.Bitcast, inputs: Inputs) -> list[Array]:
    """The same bytes in another type."""
    (x,) = (np.asarray(array) for array in inputs)
    dtype = {DataType.INT32: np.int32, DataType.FLOAT32: np.float32, DataType.INT16: np.int16}[DataType(op.data_type)]
    size = np.dtype(dtype).itemsize
    if size == x.itemsize:
        return [x.view(dtype)]
    return [x.reshape(*x.shape, 1).view(dtype) if size < x.itemsize else x.view(dtype)[..., 0]]


case("same-size", ops.Bitcast(data_type=int(DataType.INT32)), [normal(3, 4)])
case("smaller", ops.Bitcast(data_type=int(DataType.INT16)), [normal(3, 4)])
case("larger", ops.Bitcast(data_type=int(DataType.FLOAT32)), [integers(-99, 99, 3, 2, dtype=np.int16)])
