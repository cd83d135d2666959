"""Quantisation and cells."""

from __future__ import annotations

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
