"""Nodes that pass values on, and nodes that hold state."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value

from .call import Call
from .registry import tf_operator


@tf_operator(
    "CheckNumerics",
    "CheckNumericsV2",
    "DebugGradientIdentity",
    "DebugGradientRefIdentity",
    "DebugIdentity",
    "DeepCopy",
    "Dropout",
    "EnsureShape",
    "Identity",
    "PreventGradient",
    "RefIdentity",
    "Snapshot",
    "StopGradient",
)
def identity(call: Call) -> Value:
    return call.input(0)


@tf_operator("ReadVariableOp")
def read_variable(call: Call) -> Value:
    """What a variable holds; the variable itself says why it has no value."""
    return call.input(0)


@tf_operator("IdentityN")
def identity_n(call: Call) -> list[Value]:
    return call.inputs()


@tf_operator("Print")
def print_tensor(call: Call) -> Value:
    """Passes its first input on; nothing is printed."""
    return call.input(0)


@tf_operator("Variable", "VariableV2", "VarHandleOp", "TemporaryVariable")
def variable(call: Call) -> Value:
    raise call.block(
        "it is a variable whose value is not in this file",
        "Freeze the model first: convert_variables_to_constants_v2, or freeze_graph of TensorFlow 1; or give the"
        " SavedModel folder instead",
    )


@tf_operator(
    "HashTable",
    "HashTableV2",
    "LookupTableFind",
    "LookupTableFindV2",
    "MutableHashTable",
    "MutableHashTableV2",
    "QueueDequeueV2",
    "IteratorGetNext",
)
def state(call: Call) -> Value:
    raise call.block("tables, queues and data sets are not supported", "Move this part out of the model")
