"""Quantization and recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .registry import case, raw, weight

case("fake_quant", (3, 4))(
    lambda x: (
        tf.quantization.fake_quant_with_min_max_args(x, -1.3, 2.1),
        tf.quantization.fake_quant_with_min_max_vars(x, -0.9, 1.4, num_bits=4, narrow_range=True),
        tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0, -0.5, 0.0, -2.0], [1.0, 0.7, 1.0, 0.5]),
    )
)
case("lstm_cell", (2, 3), (2, 4), (2, 4))(
    lambda x, c, h: tuple(
        raw.LSTMBlockCell(
            x=x,
            cs_prev=c,
            h_prev=h,
            w=weight(7, 16),
            wci=weight(4),
            wcf=weight(1, 4)[0],
            wco=weight(4) * 2,
            b=weight(16),
            forget_bias=0.5,
            cell_clip=0.4,
            use_peephole=True,
        )
    )
)
case("block_lstm", (3, 2, 3), (2, 4), (2, 4))(
    lambda x, c, h: tuple(
        raw.BlockLSTM(
            seq_len_max=tf.constant(3, tf.int64),
            x=x,
            cs_prev=c,
            h_prev=h,
            w=weight(7, 16),
            wci=weight(4),
            wcf=weight(4),
            wco=weight(4),
            b=weight(16),
        )
    )[1::5]
)
case("block_lstm_v2", (3, 2, 3), (2, 4), (2, 4))(
    lambda x, c, h: raw.BlockLSTMV2(
        seq_len_max=tf.constant(3, tf.int64),
        x=x,
        cs_prev=c,
        h_prev=h,
        w=weight(7, 16),
        wci=weight(4),
        wcf=weight(4),
        wco=weight(4),
        b=weight(16),
        cell_clip=0.0,
    )[6]
)
case("gru_cell", (2, 3), (2, 4))(
    lambda x, h: tuple(
        raw.GRUBlockCell(x=x, h_prev=h, w_ru=weight(7, 8), w_c=weight(7, 4), b_ru=weight(8), b_c=weight(4))
    )
)


def _block(x: Any, c: Any, h: Any, length: Any, version: str = "", **more: Any) -> Any:
    settings = {"wci": weight(4), "wcf": weight(1, 4)[0], "wco": weight(4) * 2, "b": weight(16), **more}
    return getattr(raw, f"BlockLSTM{version}")(
        seq_len_max=tf.cast(length, tf.int64), x=x, cs_prev=c, h_prev=h, w=weight(7, 16), **settings
    )


ANY_TIME = [(None, 2, 3), (2, 4), (2, 4)]
case("block_lstm_fused", (5, 2, 3), (2, 4), (2, 4), shapes=ANY_TIME)(
    lambda x, c, h: _block(x, c, h, tf.shape(x)[0], use_peephole=True, cell_clip=0.4, forget_bias=0.7).h
)
case("block_lstm_v2_fused", (5, 2, 3), (2, 4), (2, 4), shapes=ANY_TIME)(
    lambda x, c, h: _block(x, c, h, tf.shape(x)[0], "V2", cell_clip=0.0).h
)
case("block_lstm_every_gate", (5, 2, 3), (2, 4), (2, 4), shapes=ANY_TIME)(
    lambda x, c, h: tuple(_block(x, c, h, tf.shape(x)[0], use_peephole=True))
)
case("block_lstm_shorter", (5, 2, 3), (2, 4), (2, 4), np.array(3, np.int32), shapes=[*ANY_TIME, ()])(
    lambda x, c, h, n: (_block(x, c, h, n, "V2", cell_clip=0.3).cs, _block(x, c, h, n, cell_clip=-1.0).h)
)
