"""Run beside exporter.py, with PyTorch: what a program changes becomes inputs and outputs of its ONNX model.

torch's exporter makes a constant of a buffer that the program changes, and drops what it becomes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {"BUFFER_MUTATION": "buffer", "PARAMETER_MUTATION": "parameter"}
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""What batch normalization in training mode changes. The training graph keeps its own."""
_REMEDY = "Make the state an input and an output of the model"


class Mutations:
    """What the program changes. Its signature says so only after the exporter has rewritten it without changes in place."""

    def __init__(self, program: Any, trains: bool) -> None:
        self._trains = trains
        self._changed: list[str] = []
        self.refusal = ""
        """Why a change cannot be delivered, as a text for the user."""
        _take_apart(program)
        rewrite = program.run_decompositions

        def rewrite_and_show(*args: Any, **kwargs: Any) -> Any:
            found = rewrite(*args, **kwargs)
            self._show(found.graph_signature)
            _without_numbers(found.graph.output_node())
            return found

        program.run_decompositions = rewrite_and_show

    def _show(self, signature: Any) -> None:
        """Lets the exporter see what the program changes as outputs; torch has these in front of the usual ones."""
        shown = []
        self._changed = []
        for spec in signature.output_specs:
            kind = spec.kind
            if kind.name == "USER_OUTPUT":
                shown.append(spec)
            elif self._is_kept(kind.name, spec.target):
                self._changed.append(spec.target)
                shown.append(type(spec)(type(kind).USER_OUTPUT, spec.arg, None))
        signature.output_specs[:] = shown

    def _is_kept(self, kind: str, name: str) -> bool:
        """Whether it becomes a variable; False for what nothing needs, and for what is refused."""
        if kind == "USER_INPUT_MUTATION":
            self.refusal = (
                f"it changes its input '{name}' in place, which a converted model cannot do. Change a copy (x = x.clone()), "
                "return the new contents as an output where they are needed, and export again"
            )
        elif kind not in _KINDS:
            self.refusal = f"it has an output of the kind {kind}. Export the model for inference (model.eval())"
        elif self._trains and name.rpartition(".")[2] not in _STATISTICS:
            self.refusal = (
                f"it changes the {_KINDS[kind]} '{name}', and models with a state cannot be trained. {_REMEDY}"
            )
        return not self.refusal and not self._trains

    def deliver(self, found: Any, folder: Path) -> None:
        """Makes an input and an output of each changed buffer in the exporter's result, before any optimization.

        They are listed in `state.json`, their first values are in `state.npz`; nothing is written where nothing is changed.
        Raises ValueError with a text for the user where a change cannot be delivered.
        """
        for spec in found.exported_program.graph_signature.output_specs:  # what was not shown, would be lost
            if spec.kind.name != "USER_OUTPUT" and self._is_kept(spec.kind.name, spec.target):
                self.refusal = f"it changes '{spec.target}', which this version of torch does not export. {_REMEDY}"
        if self.refusal:
            raise ValueError(self.refusal)
        if not self._changed:
            return
        graph = found.model.graph
        sources = list(graph.outputs)[: len(self._changed)]
        del graph.outputs[: len(self._changed)]
        read = {node.name for node in found.exported_program.graph.nodes if node.op == "placeholder" and node.users}
        inputs = found.exported_program.graph_signature.inputs_to_buffers.items()
        unread = {name for place, name in inputs if place not in read}
        records, first = [], []
        for name, source in zip(self._changed, sources, strict=True):
            value = graph.initializers.get(name)
            if value is None and name in unread:
                continue
            if value is None or value.const_value is None:
                raise ValueError(f"it changes the buffer '{name}' in a way that cannot be followed. {_REMEDY}")
            first.append(value.const_value.numpy())
            records.append({"variable": name, **_deliver(graph, value, source, name)})
        np.savez(folder / "state.npz", *first)
        (folder / "state.json").write_text(json.dumps(records))


def _without_numbers(node: Any) -> None:
    """Takes numbers and texts of Python out of the outputs, where the exporter stops at them; a model has tensors alone."""
    node.args = (type(node.args[0])(value if hasattr(value, "users") else None for value in node.args[0]),)


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


def _take_apart(program: Any) -> None:
    """Gives buffers that share their memory with another and that nothing reads memory of their own. A program reads a tensor
    that has two names by one of them; torch cannot follow changes of it while the other one is there."""
    unread = {node.name for node in program.graph.nodes if node.op == "placeholder" and not node.users}
    shared: dict[int, int] = {}
    for tensor in program.state_dict.values():
        shared[tensor.data_ptr()] = shared.get(tensor.data_ptr(), 0) + 1
    for place, name in program.graph_signature.inputs_to_buffers.items():
        tensor = program.state_dict.get(name)
        if place in unread and tensor is not None and shared[tensor.data_ptr()] > 1:
            program.state_dict[name] = tensor.clone()
