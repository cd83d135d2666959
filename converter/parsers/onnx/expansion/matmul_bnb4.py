"""4-bit weights that index a table of 16 values, as bitsandbytes stores them."""

from __future__ import annotations

import numpy as np

from .body import Body
from .quantized_parts import set_first_output
from .quantized_weights import constant
from .registry import expands

_FLOAT4 = (0.0, 0.0625 / 12, 8 / 12, 1.0, 4 / 12, 6 / 12, 2 / 12, 3 / 12)
"""Values of the lower three bits; the fourth bit is the sign."""
_NORMAL4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
    *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
    *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
"""Quantiles of the normal distribution."""
_TABLES = (np.array([*_FLOAT4, *(-value for value in _FLOAT4)], np.float32), np.array(_NORMAL4, np.float32))


@expands("MatMulBnb4")
def matmul_bnb4(body: Body) -> None:
    """Inputs: a, weights [N * K / 2] of the matrix [N, K] (first value in the upper bits), largest magnitudes [blocks].

    A weight is table[stored] * magnitude of its block. Blocks do not end at the ends of rows.
    """
    rows, columns, block = body.integer("N"), body.integer("K"), body.integer("block_size")
    body.ignore("training_mode")
    kind = body.integer("quant_type", -1)
    if kind not in (0, 1):
        raise body.block(f"{kind} is unknown", "Quantize the weights to FP4 (0) or NF4 (1)", "quant_type")
    if not body.boolean("transB", True):
        raise body.block("weights of shape [K, N] are not supported", "Export with transB = 1", "transB")
    packed, magnitudes = constant(body, 1, "weights"), constant(body, 2, "magnitudes")
    count = rows * columns
    if rows < 1 or columns < 1 or block < 1 or packed.dtype != np.uint8 or packed.size != (count + 1) // 2:
        raise body.block(f"{packed.size} bytes of weights do not fit {rows} x {columns}", "Export the model again")
    if magnitudes.size != (count + block - 1) // block:
        raise body.block(f"{magnitudes.size} magnitudes do not fit blocks of {block}", "Export the model again")
    stored = packed.astype(np.uint8).reshape(-1)
    chosen = np.stack([stored >> 4, stored & 15], axis=-1).reshape(-1)[:count]
    factors = np.repeat(magnitudes.reshape(-1).astype(np.float32), block)[:count]
    real = (_TABLES[kind][chosen] * factors).reshape(rows, columns)
    weight = np.ascontiguousarray(real.T).astype(magnitudes.dtype)
    set_first_output(body, body.op("MatMul", body.input(0), body.const(weight)))
