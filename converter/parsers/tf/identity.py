"""Nodes that return their input, and unsupported nodes with state."""

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
    """Converts ReadVariableOp to its operand. The converter of the variable raises Blocked."""
    return call.input(0)


@tf_operator("IdentityN")
def identity_n(call: Call) -> list[Value]:
    return call.inputs()


@tf_operator("Print")
def print_tensor(call: Call) -> Value:
    """Converts Print to its first input; nothing is printed."""
    return call.input(0)


@tf_operator("Variable", "VariableV2", "VarHandleOp", "TemporaryVariable")
def variable(call: Call) -> Value:
    raise call.block(
        "it is a variable, and its value is not in this file",
        "Freeze the model first (convert_variables_to_constants_v2, or freeze_graph of TensorFlow 1), or convert the"
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
    raise call.block("hash tables, queues and data sets are unsupported", "Move this part out of the model")
