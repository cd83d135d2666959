"""Strings and hashing."""

from __future__ import annotations

from ._declare import Operator, boolean, enum, long, operator, real
from .enums import LshProjectionType


@operator(40, inputs="text", outputs="labels weights", tflite="CUSTOM:ExtractFeatures")
class CustomExtractFeatures(Operator):
    """Hashes words to features."""


@operator(41, inputs="text", tflite="CUSTOM:Normalize")
class CustomNormalize(Operator):
    """Normalizes text."""


@operator(42, inputs="hashes keys labels weights", outputs="label weight", tflite="CUSTOM:Predict")
class CustomPredict(Operator):
    """Looks up the best labels of hashes."""

    output_num: int = long(0)
    weight_threshold: float = real(1)


@operator(73, inputs="ids keys values", outputs="y hits", tflite="HASHTABLE_LOOKUP")
class HashtableLookup(Operator):
    """Looks up rows by key."""


@operator(86, inputs="hash input [weight]", tflite="LSH_PROJECTION")
class LshProjection(Operator):
    """Locality-sensitive hash."""

    type: LshProjectionType = enum(0, LshProjectionType.UNKNOWN)


@operator(134, inputs="text", tflite="SKIP_GRAM")
class SkipGram(Operator):
    """Word n-grams with gaps."""

    include_all_grams: bool = boolean(0)
    max_skip_size: int = long(1)
    ngram_size: int = long(2)
