"""Expands nonstandard operators (onnxruntime's, QONNX's and some of ai.onnx.ml) into standard ONNX operators."""

from __future__ import annotations

from . import (  # noqa: F401  (each registers its expansions)
    labels,
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
    qonnx,
    quantized_elementwise,
    quantized_products,
    quantized_tables,
    quantized_weights,
    refused,
    scikit,
    unofficial,
)
from .expand import expand_nodes, is_foreign

__all__ = ["expand_nodes", "is_foreign"]
