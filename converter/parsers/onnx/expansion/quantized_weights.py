"""Weights packed in blocks of 2, 4 or 8 bits, which are decoded at conversion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper

from mslite.converter.parsers.onnx.attributes import STATE_ROUNDING
from mslite.converter.parsers.onnx.blocks import blocks_repeated

from .body import Body
from .quantized_parts import dequantized, optional, output, set_first_output
from .registry import expands

_CONSTANT = "Export the model with the weights as initializers in the file"


def constant(body: Body, index: int, what: str) -> npt.NDArray[np.generic]:
    array = body.contents(body.input(index))
    if array is None:
        raise body.block(f"the {what} (input {index}) are not a constant in this file", _CONSTANT)
    return array


def _fields(packed: npt.NDArray[np.uint8], bits: int, count: int) -> npt.NDArray[np.uint8]:
    """Unpacks the first `count` values of `bits` bits in each row, the lowest bits of a byte first."""
    per_byte = 8 // bits
    parts = [(packed >> (bits * index)) & ((1 << bits) - 1) for index in range(per_byte)]
    return np.stack(parts, axis=-1).reshape(*packed.shape[:-1], -1)[..., :count]


@expands("MatMulNBits")
def matmul_nbits(body: Body) -> None:
    """Inputs: a, weights [N, K / block, block * bits / 8], scales [N, K / block], [zero points], [g_idx [K]], [bias].

    A weight is scale * (stored - zero point); the default zero point is half of the range. Scale and zero point are
    those of the block of k, or of the group g_idx[k] if given. onnxruntime's CPU kernel then ignores packed zero
    points.
    """
    rows, columns = body.integer("N"), body.integer("K")
    bits, block = body.integer("bits", 4), body.integer("block_size", 32)
    body.ignore("accuracy_level", "weight_prepacked")
    if bits not in (2, 4, 8):
        raise body.block(f"{bits} bits are not supported", "Quantize the weights to 4 or 8 bits", "bits")
    if rows < 1 or columns < 1 or block < 16 or rows > 2**31 or columns > 2**31:
        raise body.block(
            f"a weight of {rows} x {columns} in blocks of {block} is invalid", "Export the model again", "block_size"
        )
    blocks = (columns + block - 1) // block
    packed, scales = constant(body, 1, "weights"), constant(body, 2, "scales")
    if packed.size == 0 and body.integer("weight_prepacked") == 0:
        _without_weights(body, columns, rows)
        return
    if packed.dtype != np.uint8 or packed.size != rows * blocks * (block * bits // 8) or scales.size != rows * blocks:
        raise body.block(f"the weights and scales do not fit {rows} x {columns} in blocks of {block}", _CONSTANT)
    stored = _fields(packed.astype(np.uint8).reshape(rows, -1), bits, columns).astype(np.float32)
    points = np.full((rows, blocks), float(1 << (bits - 1)), np.float32)
    if body.has_input(3):
        points = _points(body, rows, blocks, bits)
    groups = _groups(body, columns, blocks) if body.has_input(4) else np.arange(columns) // block
    real = (stored - points[:, groups]) * scales.reshape(rows, blocks).astype(np.float32)[:, groups]
    weight = np.ascontiguousarray(real.T).astype(scales.dtype)
    _product(body, weight)


def _product(body: Body, weight: npt.NDArray[np.generic]) -> None:
    product = body.op("MatMul", body.input(0), body.const(weight))
    if body.has_input(5):
        set_first_output(body, product, "Add", body.input(5))
    else:
        set_first_output(body, product)


def _without_weights(body: Body, columns: int, rows: int) -> None:
    """Replaces empty weights by zeros, as onnxruntime does."""
    if columns * rows > 2**28:
        raise body.block(
            f"the file contains no values for {rows} x {columns} weights", "Remove the matmul from the model"
        )
    body.ignore_inputs(3, 4)
    kind = body.element_type(body.input(0), body.input(2))
    dtype = helper.tensor_dtype_to_np_dtype(kind) if kind else np.float32
    _product(body, np.zeros((columns, rows), dtype))


def _groups(body: Body, columns: int, blocks: int) -> npt.NDArray[np.int64]:
    """Returns the index of the scale for each k. The file may have more indices, up to whole blocks."""
    given = constant(body, 4, "groups (g_idx)")
    if given.dtype.kind not in "iu" or given.size < columns:
        raise body.block(f"{given.size} groups (g_idx) do not fit {columns} rows", "Export the model again")
    groups = given.reshape(-1)[:columns].astype(np.int64)
    if groups.size and not (groups.min() >= 0 and groups.max() < blocks):
        raise body.block(
            f"a group index (g_idx) is not one of the {blocks} groups with scales", "Export the model again"
        )
    return groups


def _points(body: Body, rows: int, blocks: int, bits: int) -> npt.NDArray[np.float32]:
    given = constant(body, 3, "zero points")
    if given.dtype.kind == "f":
        if given.size != rows * blocks:
            raise body.block(f"{given.size} zero points do not fit", "Export the model again")
        return given.reshape(rows, blocks).astype(np.float32)
    per_row = (blocks * bits + 7) // 8
    if given.dtype != np.uint8 or given.size != rows * per_row:
        raise body.block(f"{given.size} bytes of zero points do not fit", "Export the model again")
    return _fields(given.astype(np.uint8).reshape(rows, per_row), bits, blocks).astype(np.float32)


@expands("GatherBlockQuantized")
def gather_blocks(body: Body) -> None:
    """Inputs: table, indices, scales per block along `quantize_axis`, [zero points]. A byte holds 8 / bits values."""
    table, scales = constant(body, 0, "table"), constant(body, 2, "scales")
    bits, block = body.integer("bits", 4), body.integer("block_size", 128)
    if bits not in (2, 4, 8) or block < 1 or table.ndim < 1 or scales.ndim < 1:
        raise body.block(f"{bits} bits in blocks of {block} are not supported", "Export the model again", "bits")
    packed = body.element_type(body.input(0)) == TensorProto.UINT8 and bits < 8
    points = constant(body, 3, "zero points") if body.has_input(3) else None
    if packed:
        table = _fields(table.astype(np.uint8), bits, 8 // bits * table.shape[-1])
        points = None if points is None else _fields(points.astype(np.uint8), bits, scales.shape[-1])
    unsigned = body.element_type(body.input(0)) in (TensorProto.UINT8, TensorProto.UINT4)
    axis = body.integer("quantize_axis", 1) % max(table.ndim, 1)
    try:
        spread = blocks_repeated(scales, axis, block, table.shape)
        zero = np.float32(1 << (bits - 1) if unsigned and body.element_type(body.input(0)) == TensorProto.UINT8 else 0)
        origin = zero if points is None else blocks_repeated(points, axis, block, table.shape).astype(np.float32)
    except ValueError as error:
        raise body.block(str(error), "Export the model again") from None
    real = ((table.astype(np.float32) - origin) * spread.astype(np.float32)).astype(scales.dtype)
    set_first_output(body, body.const(real), "Gather", body.input(1), axis=body.integer("gather_axis", 0))


@expands("DynamicQuantizeLSTM")
def lstm(body: Body) -> None:
    """Inputs: those of LSTM with weights [directions, in, 4 * size], then scale and zero point of both weights.

    onnxruntime quantizes all of x to 8 bits, and the hidden state again in each step. Its range of the hidden state
    covers the sequences of a batch that one thread computes; here each sequence has its own range.
    """
    weights = []
    for index, first in ((1, 8), (2, 10)):
        stored, scale = constant(body, index, "weights"), constant(body, first, "scales")
        point = constant(body, first + 1, "zero points") if body.has_input(first + 1) else np.zeros_like(scale)
        if stored.ndim != 3 or stored.size < 1 or any(array.shape[:1] != stored.shape[:1] for array in (scale, point)):
            raise body.block(
                f"the scales {scale.shape} do not fit the weights {stored.shape}", "Export the model again"
            )
        directions = stored.shape[0]
        factors, origins = (array.astype(np.float32).reshape(directions, 1, -1) for array in (scale, point))
        if any(array.shape[2] not in (1, stored.shape[2]) for array in (factors, origins)):
            raise body.block(
                f"the scales {scale.shape} do not fit the weights {stored.shape}", "Export the model again"
            )
        real = (stored.astype(np.float32) - origins) * factors
        weights.append(body.const(np.ascontiguousarray(real.transpose(0, 2, 1))))
    rounded, step, zero = body.many("DynamicQuantizeLinear", [body.input(0)], 3)
    x = dequantized(body, rounded, step, zero)
    inputs = [x, *weights, *(optional(body, index) for index in range(3, 8))]
    body.ignore(*(entry.name for entry in body.node.attribute))
    node = helper.make_node("LSTM", inputs, list(body.node.output), name=output(body))
    node.attribute.extend(body.node.attribute)
    node.attribute.append(helper.make_attribute(STATE_ROUNDING, 3))
    body.nodes.append(node)


@expands("MatMulFpQ4", "QOrderedMatMul", "QOrderedAttention", "QOrderedGelu", "QOrderedLayerNormalization")  # fmt: skip
def refused(body: Body) -> None:
    raise body.block("this form of quantized weights is not supported", "Quantize the model with QDQ or MatMulNBits")
