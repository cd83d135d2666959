"""Unsupported operators, with the reason and the remedy."""

from __future__ import annotations

from mslite.converter.parsers.naming import OR_PLUGIN, Blocked

from .call import Call

_TABLE = (
    "hash tables between strings and numbers are unsupported",
    "Move text processing out of the model, and pass numbers as inputs",
)
_COMPILED = ("the model was compiled for another engine", "Convert the model from before that compilation")

_REASONS = {
    "HASHTABLE": _TABLE,
    "HASHTABLE_FIND": _TABLE,
    "HASHTABLE_IMPORT": _TABLE,
    "HASHTABLE_SIZE": _TABLE,
    "STABLEHLO_RNG_BIT_GENERATOR": ("its random bits are specific to one library", "Pass random values as an input"),
    "DELEGATE": _COMPILED,
    "CUSTOM:edgetpu-custom-op": _COMPILED,
    "CONCAT_EMBEDDINGS": ("no runtime implements it", "Replace it by GATHER and CONCATENATION"),
}


def unknown(call: Call) -> Blocked:
    """Returns the exception for an operator without a converter."""
    name = call.node.name
    if name in _REASONS:
        return call.block(*_REASONS[name])
    if name == "STABLEHLO_CUSTOM_CALL":
        target = call.options.text("target")
        return call.block(f"the function '{target}' that it calls is unknown", "Replace it by builtin operators")
    if name.startswith("CUSTOM:Flex"):
        operator = name.removeprefix("CUSTOM:Flex")
        return call.block(
            f"it is TensorFlow's operator {operator}, which TensorFlow Lite does not have",
            "Convert the model without SELECT_TF_OPS, or convert the TensorFlow model itself",
        )
    if name.startswith("CUSTOM:"):
        return call.block(
            f"the custom operator '{name.removeprefix('CUSTOM:')}' is unknown",
            f"Replace it by builtin operators, {OR_PLUGIN}",
        )
    if name.startswith("BUILTIN_"):
        return call.block(
            "its operator code is newer than mslite's version of the schema", "Export the model for older runtimes"
        )
    return call.block("the operator is unsupported", "Replace it in the model by other operators")
