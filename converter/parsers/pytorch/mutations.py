"""Run beside exporter.py, with PyTorch: what a program changes becomes inputs and outputs of its ONNX model.

torch's exporter makes a constant of a buffer that the program changes, and drops what it becomes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""What batch normalisation in training mode changes. The training graph keeps its own."""


def deliver_mutations(found: Any, folder: Path, trains: bool) -> None:
    """Makes an input and an output of each changed buffer; they are listed in `state.json`, their first values are in `state.onnx`.

    `found` is the exporter's result before any optimisation. Nothing is written where the program changes nothing.
    Raises ValueError with a text for the user where a change cannot be delivered.
    """
    kinds = {"BUFFER_MUTATION": "buffer", "PARAMETER_MUTATION": "parameter"}
    graph = found.model.graph
    named: dict[str, Any] | None = None
    records, first = [], []
    for spec in found.exported_program.graph_signature.output_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT_MUTATION":
            raise ValueError(
                f"it changes its input '{spec.target}' in place, which a converted model cannot do. Change a copy "
                "(x = x.clone()), return the new contents as an output where they are needed, and export again"
            )
        if kind not in kinds:
            if kind != "USER_OUTPUT":
                raise ValueError(f"it has an output of the kind {kind}. Export the model for inference (model.eval())")
            continue
        if trains and spec.target.rpartition(".")[2] in _STATISTICS:
            continue
        if trains:
            raise ValueError(
                f"it changes the {kinds[kind]} '{spec.target}', and models with a state cannot be trained. "
                "Make the state an input and an output of the model"
            )
        named = _values(graph) if named is None else named
        source, value = named.get(spec.arg.name), graph.initializers.get(spec.target)
        if source is None or value is None or value.const_value is None:
            raise ValueError(
                f"it changes the {kinds[kind]} '{spec.target}' in a way that cannot be followed. "
                "Make the state an input and an output of the model"
            )
        first.append(value.const_value)
        records.append({"variable": spec.target, **_deliver(graph, value, source, spec.target)})
    if records:
        _write(records, first, folder)


def _values(graph: Any) -> dict[str, Any]:
    """Name in the program → value of the ONNX graph."""
    found = {value.name: value for node in graph for value in node.outputs}
    found.update((value.name, value) for value in graph.inputs)
    for value in graph.initializers.values():
        found[value.metadata_props.get("pkg.torch.onnx.original_node_name", value.name)] = value
    return found


def _deliver(graph: Any, value: Any, source: Any, name: str) -> dict[str, str]:
    """Turns the initializer `value` into an input, and adds `source` to the outputs. Returns the names of both."""
    import onnx_ir as ir  # type: ignore[import-untyped, import-not-found, unused-ignore]

    del graph.initializers[name]
    value.name, value.const_value = f"{name}/state", None
    graph.inputs.append(value)
    node = ir.node("Identity", [source])
    (result,) = node.outputs
    result.name, result.shape, result.type = f"{name}/next", value.shape, value.type
    graph.append(node)
    graph.outputs.append(result)
    return {"input": value.name, "output": result.name}


def _write(records: list[dict[str, str]], first: list[Any], folder: Path) -> None:
    import onnx_ir as ir

    values = []
    for record, tensor in zip(records, first, strict=True):
        value = ir.Value(name=record["variable"], shape=tensor.shape, type=ir.TensorType(tensor.dtype))
        value.const_value = tensor
        values.append(value)
    ir.save(ir.Model(ir.Graph([], [], nodes=[], initializers=values), ir_version=10), folder / "state.onnx")
    (folder / "state.json").write_text(json.dumps(records))
