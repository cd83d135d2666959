"""Messages for operators that have no converter."""

from __future__ import annotations

from typing import Any

import onnx

from mslite.converter.parsers.naming import OR_PLUGIN, Blocked

from .call import Call

_LAYOUT_DOMAINS = ("com.microsoft.nchwc", "com.ms.internal.nhwc")
_TEXT = "Move text processing out of the model"


def unknown(call: Call, domain: str, refusal: Blocked | None) -> Blocked:
    """Returns the message for an operator without a converter. `refusal`: why its expansion failed, if it was tried."""
    if refusal is not None:
        return refusal
    if domain == "" and onnx.defs.has(call.node.op_type, domain):
        return _standard(call)
    if domain in _LAYOUT_DOMAINS:
        what = "onnxruntime created this node for the kernels of one kind of processor"
        return call.block(what, "Convert the model as it was before optimization, or save it with ORT_ENABLE_EXTENDED")
    where = f"the domain '{domain}'" if domain else "the ONNX standard"
    return call.block(f"the operator is unknown in {where}", f"Replace it with standard operators, {OR_PLUGIN}")


def _standard(call: Call) -> Blocked:
    """Returns the message for an operator of the ONNX standard that has no converter."""
    operator, version = call.node.op_type, call.version
    if not onnx.defs.has(operator, version, ""):
        since = min(one.since_version for one in onnx.defs.get_all_schemas_with_history() if one.name == operator)
        if since > version:
            return call.block(f"operator set {version} does not define it", f"Export for opset {since} or later")
    else:
        schema: Any = onnx.defs.get_schema(operator, version, "")
        if schema.has_context_dependent_function:
            return call.not_known(
                "the types of its inputs are not known",
                "Give --inputShape, or export the model with fixed shapes",
            )
    remedy = _TEXT if "String" in operator or operator == "RegexFullMatch" else f"Replace it in the model, {OR_PLUGIN}"
    return call.block("the operator is not supported", remedy)
