"""Operators on strings."""

from __future__ import annotations

import struct

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.text import CustomExtractFeatures, CustomNormalize, CustomPredict, SkipGram

from .call import Call
from .registry import tflite_operator


def _strings(call: Call) -> Value:
    if call.source(0).dtype is not DataType.STRING:
        raise call.block(f"the type of its input is {call.source(0).type_name}, not STRING")
    return call.input(0)


@tflite_operator("SKIP_GRAM")
def skip_gram(call: Call) -> Value:
    """Converts SKIP_GRAM: the n-grams of the words of the first string."""
    words, skip = call.options.integer("ngram_size"), call.options.integer("max_skip_size")
    if not 1 <= words <= 64 or skip < 0:
        raise call.block(
            f"n-grams of {words} words with up to {skip} skipped words are not valid", attribute="ngram_size"
        )
    everything = bool(call.options.integer("include_all_ngrams"))
    op = SkipGram(include_all_grams=everything, max_skip_size=skip, ngram_size=words)
    return call.emit(op, _strings(call))


@tflite_operator("CUSTOM:Normalize")
def normalize(call: Call) -> Value:
    return call.emit(CustomNormalize(), _strings(call))


@tflite_operator("CUSTOM:ExtractFeatures")
def extract_features(call: Call) -> tuple[Value, ...]:
    return call.emit_many(CustomExtractFeatures(), [_strings(call)], 2)


@tflite_operator("CUSTOM:Predict")
def predict(call: Call) -> tuple[Value, ...]:
    """Converts Predict. Its inputs are hashes, keys, labels, weights; its options are the number of results (int32) and
    the lowest weight (float32)."""
    options = bytes(call.node.custom_options)
    if len(options) < 8:
        raise call.block(f"its options have {len(options)} bytes, not 8")
    count, threshold = struct.unpack_from("<if", options)
    if not 0 <= count <= 1 << 20:
        raise call.block(f"a number of results of {count} is not valid")
    op = CustomPredict(output_num=count, weight_threshold=threshold)
    return call.emit_many(op, [call.int32(0), call.int32(1), call.int32(2), call.weight(3)], 2)
