"""Matrices, patches, sparse tensors and audio."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from .images import MANY
from .registry import case, normal, raw, rng

case("diagonals", (2, 3))(
    lambda x: (
        tf.linalg.diag(x),
        tf.linalg.diag(x, k=1),
        tf.linalg.diag(x, k=-2, num_rows=5, num_cols=4, padding_value=7.0),
    )
)
case("diagonal_parts", (2, 3, 5))(
    lambda x: (tf.linalg.diag_part(x), tf.linalg.diag_part(x, k=2), tf.linalg.diag_part(x, k=-1), tf.linalg.trace(x))
)
case("set_diagonal", (2, 3, 4), (2, 3), (2, 2))(
    lambda x, a, b: (tf.linalg.set_diag(x, a), tf.linalg.set_diag(x, b, k=-1), tf.linalg.set_diag(x, b, k=2))
)
case("patches", (1, 7, 6, 2))(
    lambda x: (
        tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "VALID"),
        tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"),
    )
)
case("contrast", (2, 4, 5, 3))(lambda x: tf.image.adjust_contrast(x, 1.7))
case("bucketize", (2, 6))(lambda x: raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5]))
case(
    "combined_suppression",
    np.stack([MANY, MANY[::-1]])[:, :, None],
    rng("combined").random((2, 12, 3)).astype(np.float32),
)(lambda b, s: tuple(tf.image.combined_non_max_suppression(b, s, 4, 6, 0.3, 0.4)))
case(
    "combined_suppression_classes",
    np.stack([MANY, MANY[::-1] * 1.2], 1)[None],
    rng("classes").random((1, 12, 2)).astype(np.float32),
)(lambda b, s: tuple(tf.image.combined_non_max_suppression(b, s, 3, 9, 0.3, 0.4, pad_per_class=True, clip_boxes=False)))
PLACES = np.array([[0, 1], [2, 3], [2, 0], [4, 2]], np.int64)
case("sparse_rows", PLACES, (4,))(
    lambda i, v: tuple(
        raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=tf.constant([6, 5], tf.int64), default_value=0.5)
    )
)
case("sparse_reshape", PLACES)(
    lambda i: tuple(
        raw.SparseReshape(
            input_indices=i, input_shape=tf.constant([5, 4], tf.int64), new_shape=tf.constant([2, -1, 5], tf.int64)
        )
    )
)
case("sparse_segments", (5, 3))(
    lambda x: raw.SparseSegmentSum(data=x, indices=tf.constant([0, 4, 4, 2]), segment_ids=tf.constant([0, 0, 2, 3]))
)
case("ragged_range", np.array([0, 3], np.int32), np.array([2, 9], np.int32))(
    lambda a, b: tuple(raw.RaggedRange(starts=a, limits=b, deltas=tf.constant([1, 2])))
)
case("spectrogram", np.clip(normal("spectrogram", 400, 1), -1, 1))(
    lambda x: raw.AudioSpectrogram(input=x, window_size=128, stride=64, magnitude_squared=True)
)
case("mfcc", np.abs(normal("mfcc", 1, 5, 129)))(
    lambda x: raw.Mfcc(spectrogram=x, sample_rate=tf.constant(8000), upper_frequency_limit=3800.0)
)
case("fourier", (2, 32))(
    lambda x: (tf.abs(tf.signal.rfft(x)), tf.math.real(tf.signal.rfft(x)), tf.math.imag(tf.signal.rfft(x, [16])))
)
case("complex_parts", (2, 5), (2, 5))(
    lambda a, b: (
        tf.abs(tf.complex(a, b) * tf.complex(b, b + 1.0)),
        tf.math.angle(tf.complex(a, b) / tf.complex(b, a)),
        tf.math.real(tf.exp(tf.complex(a, b)) + tf.cast(a, tf.complex64)),
        tf.math.imag(tf.math.conj(tf.complex(a, b[:1])) - 1j),
        tf.math.imag(tf.reduce_sum(tf.stack(tf.split(tf.transpose(tf.complex(a, b)), 5)), 1)),
    )
)
case("fourier_back", (2, 9), (2, 9))(
    lambda a, b: (
        tf.signal.irfft(tf.complex(a, b)),
        tf.signal.irfft(tf.complex(a, b), [12]),
        tf.signal.irfft(tf.complex(a, b), [20]),
        tf.math.real(tf.signal.ifft(tf.complex(a, b))),
        tf.math.imag(tf.signal.fft(tf.complex(a, b))),
    )
)
case("fourier_masked", (2, 3, 32), (2, 3, 17), shapes=[(None, None, 32), (None, None, 17)])(
    lambda x, mask: tf.signal.irfft(tf.signal.rfft(x) * tf.cast(mask, tf.complex64))
)
case("fourier_phase", (2, 32), (2, 17))(
    lambda x, m: tf.signal.irfft(
        tf.cast(m, tf.complex64) * tf.exp(1j * tf.cast(tf.math.angle(tf.signal.rfft(x)), tf.complex64))
    )
)
case("short_time", (1, 96), shapes=[(1, None)])(
    lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 16, 8), 16, 8, window_fn=tf.signal.inverse_stft_window_fn(8))
)
