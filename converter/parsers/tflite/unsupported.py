"""Operators that are known and not built: why, and what can be done."""

from __future__ import annotations

from .call import Blocked, Call
from .registry import tflite_operator

_TEXT = "Move the processing of text out of the model, and give it numbers"

_STRINGS = {
    "SKIP_GRAM": "it works on strings",
    "CUSTOM:Normalize": "it works on strings",
    "CUSTOM:ExtractFeatures": "it works on strings",
    "CUSTOM:Predict": "it works on strings",
    "HASHTABLE": "tables between strings and numbers are not supported",
    "HASHTABLE_FIND": "tables between strings and numbers are not supported",
    "HASHTABLE_IMPORT": "tables between strings and numbers are not supported",
    "HASHTABLE_SIZE": "tables between strings and numbers are not supported",
}


@tflite_operator(*_STRINGS)
def works_on_strings(call: Call) -> tuple[()]:
    raise call.block(_STRINGS[call.node.name], _TEXT)


@tflite_operator("DELEGATE", "CUSTOM:edgetpu-custom-op")
def for_another_engine(call: Call) -> tuple[()]:
    raise call.block("the model was compiled for another engine", "Convert the model as it was before that")


@tflite_operator("CONCAT_EMBEDDINGS")
def never_built(call: Call) -> tuple[()]:
    raise call.block("it has no definition that runs anywhere", "Replace it by GATHER and CONCATENATION")


def unknown(call: Call) -> Blocked:
    """For an operator without a converter."""
    name = call.node.name
    if name.startswith("CUSTOM:Flex"):
        operator = name.removeprefix("CUSTOM:Flex")
        return call.block(
            f"it is TensorFlow's operator {operator}, which TensorFlow Lite does not have",
            "Convert the model without SELECT_TF_OPS, or convert the TensorFlow model itself",
        )
    if name.startswith("CUSTOM:"):
        return call.block(
            f"the custom operator '{name.removeprefix('CUSTOM:')}' is not known", "Replace it by builtin operators"
        )
    if name.startswith("BUILTIN_"):
        return call.block("its number is newer than the schema that is known", "Export the model for older runtimes")
    return call.block("the operator is not supported", "Replace it in the model by other operators")
