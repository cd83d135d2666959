"""Variables: resource variables, which keep their values between runs, and state tensors of recurrent operators.

In the main graph, the first read of a variable becomes `ReadVariable`, later reads return the value that was assigned
last, and the last value is stored by `AssignVariable` at the end. Subgraphs of IF and WHILE have neither node: the
variables that they read are arguments, and those that they assign are results (`control_flow.py`).
"""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable

from .call import Call
from .quantization_parameters import is_quantized as is_quantized_tensor
from .quantization_parameters import quant_params, stored_type
from .registry import tflite_operator
from .scope import Scope
from .session import variable_name

_LARGEST = 1 << 30
"""Largest size of a variable in bytes."""


def read(call: Call, name: str, initial: Array | None, shape: tuple[int, ...], dtype: DataType) -> Value:
    """Returns the current value of a variable, which is `initial` (None: 0) before the first run. Raises Blocked."""
    if math.prod(shape) * numpy_type(dtype).itemsize > _LARGEST:
        raise call.block(f"the variable '{name}' has the shape {shape}, which is too large")
    _begins(call, name, np.zeros((), numpy_type(dtype)) if initial is None else initial, shape, dtype)
    return held(call.scope, name)


def _begins(call: Call, name: str, initial: Array, shape: tuple[int, ...], dtype: DataType) -> None:
    """Stores the value of a variable before the first run."""
    call.scope.session.starts.setdefault(name, (np.broadcast_to(initial, shape), dtype))


def held(scope: Scope, name: str) -> Value:
    """Returns the current value of a variable, after the nodes so far."""
    variables = scope.variables
    if name not in variables.current:
        variables.current[name] = _read(scope, name) if scope.index == 0 else argument(scope, name)
    return variables.current[name]


def _read(scope: Scope, name: str) -> Value:
    start, dtype = scope.session.starts[name]
    (value,) = scope.emit(ReadVariable(variable=name), (scope.constant(start, name),), 1)
    value.dtype = dtype
    return value


def argument(scope: Scope, name: str) -> Value:
    """Returns the input of a subgraph for a variable; adds it if it does not exist."""
    entered = scope.variables.entered
    if name not in entered:
        start, dtype = scope.session.starts[name]
        entered[name] = Value(scope.session.values.unique(f"{scope.graph.name}/{name}"), dtype, start.shape)
        scope.graph.inputs.append(entered[name])
    return entered[name]


def assign(call: Call, name: str, value: Value) -> None:
    """Assigns a new value to a variable."""
    call.scope.variables.current[name] = value
    call.scope.variables.assigned[name] = value


def store_assigned_variables(scope: Scope) -> None:
    """Ends the main graph with nodes that store the assigned variables for the next run."""
    for name, value in scope.variables.assigned.items():
        (result,) = scope.emit(AssignVariable(variable=name), (value,), 1)
        result.dtype, result.quant = value.dtype, value.quant


def state_name(call: Call, index: int) -> str:
    """Returns the variable name of the state tensor at input `index`."""
    return f"{call.scope.graph.name}/{call.source(index).name}"


def state(call: Call, index: int) -> Value:
    """Returns the state at input `index` in float: a variable that starts at 0, or a constant or computed input."""
    tensor = call.source(index)
    if not tensor.is_variable:
        return call.weight(index)
    return read(call, state_name(call, index), None, tensor.shape, DataType.FLOAT32)


def keep_state(call: Call, index: int, value: Value) -> None:
    """Assigns the new state, for the next run, if the state at input `index` is a variable."""
    if call.source(index).is_variable:
        assign(call, state_name(call, index), value)


# ---- resource variables ----


@tflite_operator("VAR_HANDLE")
def handle(call: Call) -> Value:
    """Converts VAR_HANDLE to a placeholder constant: variables are resolved at conversion."""
    session = call.scope.session
    name = variable_name(call.node)
    value = Value(session.values.unique(f"{call.name}/handle"), DataType.INT32, (1,))
    value.data = np.zeros(1, np.int32)
    session.handles[id(value)] = name or call.name
    session.kept.append(value)
    return value


def _variable(call: Call) -> str:
    name = call.scope.session.handles.get(id(call.input(0)))
    if name is None:
        raise call.block("the variable is an argument of the graph", "Export the model with variables used directly")
    return name


@tflite_operator("READ_VARIABLE")
def read_variable(call: Call) -> Value:
    """Converts READ_VARIABLE. A quantized variable has the quantization parameters of the result."""
    name, tensor = _variable(call), call.output()
    dtype, records = stored_type(tensor), quant_params(tensor)
    initial = call.scope.session.initial.get(name)
    if initial is None:
        if not call.scope.session.is_assigned(name):
            raise call.block(
                f"the file has no value for the variable '{name}'",
                "Export the model with its weights: tf.lite.TFLiteConverter.from_saved_model or from_keras_model",
            )
        point = records[0].zeroPoint if is_quantized_tensor(tensor) else 0
        initial = np.broadcast_to(np.array(point, numpy_type(dtype)), tensor.shape)
    if initial.dtype != numpy_type(dtype):
        raise call.block(f"the variable '{name}' has the type {initial.dtype}, not {numpy_type(dtype)}")
    value = read(call, name, initial, initial.shape, dtype)
    value.quant = value.quant or records
    return value


@tflite_operator("ASSIGN_VARIABLE")
def assign_variable(call: Call) -> tuple[Value, ...]:
    """Converts ASSIGN_VARIABLE. In the subgraph of CALL_ONCE, the value must be constant."""
    name, value, session = _variable(call), call.input(1), call.scope.session
    if not session.is_initializing:
        tensor = call.source(1)
        point = value.quant[0].zeroPoint if value.quant else 0
        first = session.initial.get(name, np.array(point, numpy_type(stored_type(tensor))))
        _begins(call, name, first, first.shape or tensor.shape, stored_type(tensor))
        assign(call, name, value)
        return ()
    array = value.data
    if array is None:
        raise call.block("the initial value of a variable is computed", "Export the model with constant initial values")
    session.initial[name] = array
    return ()
