"""Finishes the model of a builder: declares inputs and outputs, with variations of exporters."""

from __future__ import annotations

import onnx
from onnx import ModelProto, helper

from mslite.converter.parsers.onnx.inference_guard import safe_for_inference

from .builder import Builder
from .evaluate import Rejected, imports, operand_names
from .values import Value


def assembled(builder: Builder) -> ModelProto:
    """Returns the graph with declared inputs and outputs and inferred shapes, after a check. Raises Rejected."""
    outputs = _outputs(builder)
    inputs = [_declared(builder, value) for value in builder.inputs]
    # Before IR version 4 every constant was also an input; later this makes it a default value.
    bodies = any(attribute.HasField("g") for node in builder.nodes for attribute in node.attribute)
    ir_version = 3 if builder.opset <= 8 and not bodies and builder.maybe() else 10
    if ir_version == 3 or builder.maybe(12):
        inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in builder.initializers]
    graph = helper.make_graph(
        builder.nodes,
        "random",
        inputs,
        [helper.make_tensor_value_info(v.name, v.element, None) for v in outputs],
        builder.initializers,
    )
    for node in graph.node:  # names of nodes are optional and may be equal
        if builder.node_names != "each":
            node.name = "" if builder.node_names == "none" else node.op_type
    model = helper.make_model(graph, opset_imports=imports(builder.nodes, builder.opset), ir_version=ir_version)
    return _inferred(model, {value.name: value.rank for value in outputs})


def _outputs(builder: Builder) -> list[Value]:
    """Selects the outputs: values without consumers, except some that stay unused, and some others. Outputs need a known rank."""
    used = {name for node in builder.nodes for name in operand_names(node)}
    made = {name for node in builder.nodes if node.op_type != "Constant" for name in node.output if name}
    values = [value for value in builder.values if value.name in made and value.fixed_rank]
    leaves = [value for value in values if value.name not in used]
    outputs = [value for value in leaves if not builder.maybe(12)] or leaves
    outputs += [value for value in values if value.name in used and builder.maybe(8)]
    if not outputs:
        raise Rejected("no outputs")
    if builder.maybe(12):  # with NHWC inputs, a 4-D input and an output of its name are different tensors
        outputs += [value for value in builder.inputs[:1] if value.rank != 4]
    constants = {tensor.name for tensor in builder.initializers}
    held = [value for value in builder.values if value.name in constants]
    if held and builder.maybe(3):
        outputs.append(builder.choose(held))
    return outputs


def _declared(builder: Builder, value: Value) -> onnx.ValueInfoProto:
    sizes: list[int | str | None] = list(value.shape)
    for axis, symbol in builder.open_axes.get(value.name, {}).items():
        sizes[axis] = symbol
    return helper.make_tensor_value_info(value.name, value.element, sizes)


def _inferred(model: ModelProto, ranks: dict[str, int]) -> ModelProto:
    """Returns the model with the shapes of its outputs. Raises Rejected, and ValidationError for an invalid graph."""
    try:
        inferred = onnx.shape_inference.infer_shapes(
            safe_for_inference(model), check_type=True, strict_mode=True, data_prop=True
        )
    except onnx.shape_inference.InferenceError as error:
        raise Rejected(f"onnx: {error}") from None
    for output in inferred.graph.output:
        tensor = output.type.tensor_type
        if not tensor.HasField("shape"):
            tensor.shape.SetInParent()
            for _ in range(ranks[output.name]):
                tensor.shape.dim.add()
    del model.graph.output[:]
    model.graph.output.extend(inferred.graph.output)
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        if "No Op registered" in str(error):  # onnxruntime supports some operators in opsets that do not have them yet
            raise Rejected(f"onnx: {error}") from None
        raise
    return model
