"""Every rule of the verifier catches its violation, and all violations are listed at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.control_flow import PartialFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs
from mslite.converter.mindir.verifier import VerificationError, verify


def valid() -> Module:
    x, y, z = (Value(name, DataType.FLOAT32, (2,)) for name in "xyz")
    nodes = [
        Node(Abs(), "abs", (x,), (y,)),
        Node(AddFusion(), "add", (y, constant("c", np.zeros(2, np.float32))), (z,)),
    ]
    return Module([Graph("main", [x], [z], nodes)])


def test_a_valid_module_passes() -> None:
    verify(valid())


def _swap(module: Module) -> None:
    module.main.nodes.reverse()


def _bad_use(module: Module) -> None:
    module.main.inputs[0].users.clear()


def _stale_use(module: Module) -> None:
    Node(Abs(), "ghost", (module.main.inputs[0],), ())


def _operands(module: Module) -> None:
    module.main.nodes[0].set_inputs(module.main.inputs * 3)


def _names(module: Module) -> None:
    module.main.nodes[1].name = "abs"


def _value_names(module: Module) -> None:
    module.main.outputs[0].name = "x"


def _no_output(module: Module) -> None:
    module.main.outputs.clear()


def _unproduced(module: Module) -> None:
    module.main.outputs.append(Value("w", DataType.FLOAT32))


def _shape(module: Module) -> None:
    module.main.inputs[0].shape = (-1, 2)


def _rank(module: Module) -> None:
    module.main.inputs[0].shape = (1,) * 9


def _data(module: Module) -> None:
    module.main.nodes[1].inputs[1].shape = (3,)


def _dtype(module: Module) -> None:
    module.main.nodes[1].inputs[1].dtype = DataType.INT32


def _input_type(module: Module) -> None:
    module.main.inputs[0].dtype = DataType.UNKNOWN


def _producer(module: Module) -> None:
    module.main.outputs[0].producer = None


def _partial(module: Module) -> None:
    module.main.nodes.append(Node(PartialFusion(sub_graph_index=4), "p", (), (Value("q", DataType.FLOAT32),)))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_swap, "reads 'y', which is not produced before"),
        (_bad_use, "node 'abs' reads value 'x' 1 times, recorded are 0"),
        (_stale_use, "has the user 'ghost', which is in no graph"),
        (_operands, "it has 3 inputs; 1 are declared"),
        (_names, "2 nodes are named 'abs'"),
        (_value_names, "2 values are named 'x'"),
        (_no_output, "the main graph has no output"),
        (_unproduced, "output 'w' is not produced"),
        (_shape, "dimension -1 is neither a size nor a symbol"),
        (_rank, "it has 9 dimensions"),
        (_data, r"its array has the shape \(2,\), not \(3,\)"),
        (_dtype, "its array has the type float32, not int32"),
        (_input_type, "input 'x' has no element type"),
        (_producer, "does not name it as its producer"),
        (_partial, "calls graph 4 of 1"),
    ],
)
def test_violation(spoil: Callable[[Module], None], message: str) -> None:
    module = valid()
    spoil(module)
    with pytest.raises(VerificationError, match=message):
        verify(module)


def test_all_violations_are_listed() -> None:
    module = valid()
    _names(module)
    _shape(module)
    with pytest.raises(VerificationError, match="after fusion") as caught:
        verify(module, "fusion")
    assert len(caught.value.violations) == 2
