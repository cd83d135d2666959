"""Builds graphs of standard ONNX operators as expressions, and runs them in onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = npt.NDArray[Any]
OPSET = 20


class Graph:
    """A graph under construction: `graph("Add", x, 1.0)` adds a node and returns the name of its output.

    Operands are names, or arrays and numbers, which become constants (floats float32, integers int64); None is an omitted input.
    """

    def __init__(self, opset: int = OPSET) -> None:
        self.opset = opset
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: Any) -> str:
        """Returns the name of a constant."""
        array = np.asarray(value)
        if not isinstance(value, np.ndarray | np.generic):
            array = array.astype({"f": np.float32, "i": np.int64}.get(array.dtype.kind, array.dtype))
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def __call__(self, op_type: str, *operands: Any, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """Returns the name of the node's output, or a list of names if there are several."""
        names = ["" if x is None else x if isinstance(x, str) else self.constant(x) for x in operands]
        results = [f"n{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op_type, names, results, domain=domain, **attributes))
        return results[0] if outputs == 1 else results

    def run(self, *results: str) -> list[Array]:
        """Returns onnxruntime's results for the named outputs, without graph optimization."""
        onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, the foreign runtime, is not installed")
        infos = [onnx.ValueInfoProto(name=name) for name in results]
        graph = helper.make_graph(self.nodes, "foreign", [], infos, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        outputs: list[Array] = session.run(list(results), {})
        return outputs


def defined(op_type: str, *operands: Array | None, opset: int = OPSET, **attributes: Any) -> list[Array]:
    """Returns the results of the onnx package's reference for one node, for cases in which onnxruntime violates the standard."""
    names = ["" if value is None else f"x{index}" for index, value in enumerate(operands)]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    values = {name: value for name, value in zip(names, operands, strict=True) if value is not None}
    outputs: list[Array] = ReferenceEvaluator(node).run(["y"], values)
    return outputs


def run(op_type: str, *operands: Any, outputs: int = 1, opset: int = OPSET, **attributes: Any) -> list[Array]:
    """Returns onnxruntime's results for one node."""
    graph = Graph(opset)
    results = graph(op_type, *operands, outputs=outputs, **attributes)
    return graph.run(*([results] if outputs == 1 else results))
