"""Expands nonstandard operators (onnxruntime's, QONNX's and some of ai.onnx.ml) into standard ONNX operators."""

from __future__ import annotations

from . import (  # noqa: F401  (each registers its expansions)
    ai_onnx_ml,
    labels,
    matmul_bnb4,
    microsoft_activation,
    microsoft_attention,
    microsoft_cache,
    microsoft_embedding,
    microsoft_fused,
    microsoft_normalization,
    microsoft_rotary,
    microsoft_signal,
    microsoft_tensor,
    ngrams,
    nonstandard,
    qonnx,
    quantized_elementwise,
    quantized_matmul,
    quantized_weights,
    unsupported,
)
from .expand import expand_nodes, is_expandable

__all__ = ["expand_nodes", "is_expandable"]
