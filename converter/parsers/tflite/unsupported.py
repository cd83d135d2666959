"""Operators that are not built: why, and what can be done."""

from __future__ import annotations

from mslite.converter.parsers.naming import OR_PLUGIN, Blocked

from .call import Call

_TABLE = (
    "tables between strings and numbers are not supported",
    "Move the processing of text out of the model, and give it numbers",
)
_COMPILED = ("the model was compiled for another engine", "Convert the model as it was before that")

_REASONS = {
    "HASHTABLE": _TABLE,
    "HASHTABLE_FIND": _TABLE,
    "HASHTABLE_IMPORT": _TABLE,
    "HASHTABLE_SIZE": _TABLE,
    "STABLEHLO_RNG_BIT_GENERATOR": ("its random bits are those of one library", "Give the model random numbers"),
    "DELEGATE": _COMPILED,
    "CUSTOM:edgetpu-custom-op": _COMPILED,
    "CONCAT_EMBEDDINGS": ("it has no definition that runs anywhere", "Replace it by GATHER and CONCATENATION"),
}


def unknown(call: Call) -> Blocked:
    """For an operator without a converter."""
    name = call.node.name
    if name in _REASONS:
        return call.block(*_REASONS[name])
    if name == "STABLEHLO_CUSTOM_CALL":
        target = call.options.text("target")
        return call.block(f"the function '{target}' that it calls is not known", "Replace it by builtin operators")
    if name.startswith("CUSTOM:Flex"):
        operator = name.removeprefix("CUSTOM:Flex")
        return call.block(
            f"it is TensorFlow's operator {operator}, which TensorFlow Lite does not have",
            "Convert the model without SELECT_TF_OPS, or convert the TensorFlow model itself",
        )
    if name.startswith("CUSTOM:"):
        return call.block(
            f"the custom operator '{name.removeprefix('CUSTOM:')}' is not known",
            f"Replace it by builtin operators, {OR_PLUGIN}",
        )
    if name.startswith("BUILTIN_"):
        return call.block("its number is newer than the schema that is known", "Export the model for older runtimes")
    return call.block("the operator is not supported", "Replace it in the model by other operators")
