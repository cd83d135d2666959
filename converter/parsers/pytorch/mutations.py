"""Turns buffers that a program changes into inputs and outputs of its ONNX model. Loaded by exporter.py.

torch's exporter would make such a buffer a constant, and drop its new value.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {"BUFFER_MUTATION": "buffer", "PARAMETER_MUTATION": "parameter"}
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""Buffers that batch normalization changes in training mode. The training graph has its own."""
_REMEDY = "Make the state an input and an output of the model"


class Mutations:
    """The buffers that a program changes. They are known after the exporter has removed in-place changes."""

    def __init__(self, program: Any, trains: bool) -> None:
        self._trains = trains
        self._changed: list[str] = []
        self.refusal = ""
        """Why a change cannot be converted, for the user."""
        _take_apart(program)
        rewrite = program.run_decompositions

        def rewrite_and_show(*args: Any, **kwargs: Any) -> Any:
            found = rewrite(*args, **kwargs)
            self._show(found.graph_signature)
            _without_numbers(found.graph.output_node())
            return found

        program.run_decompositions = rewrite_and_show

    def _show(self, signature: Any) -> None:
        """Declares changed buffers as outputs to the exporter; torch puts them before the user's outputs."""
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
        """Returns whether it becomes a variable; False if it is not needed, or not supported (`refusal`)."""
        if kind == "USER_INPUT_MUTATION":
            self.refusal = (
                f"it changes its input '{name}' in place, which a converted model cannot do. Change a copy (x = x.clone()), "
                "return the new contents as an output if they are needed, and export again"
            )
        elif kind not in _KINDS:
            self.refusal = f"it has an output of the kind {kind}. Export the model for inference (model.eval())"
        elif self._trains and name.rpartition(".")[2] not in _STATISTICS:
            self.refusal = (
                f"it changes the {_KINDS[kind]} '{name}', and models with a state cannot be trained. {_REMEDY}"
            )
        return not self.refusal and not self._trains

    def deliver(self, found: Any, folder: Path) -> None:
        """Adds an input and an output for each changed buffer to the exported model, before any optimization.

        Writes their names to `state.json` and their initial values to `state.npz`, if there are any. Raises ValueError,
        with a message for the user, if a change cannot be converted.
        """
        for spec in found.exported_program.graph_signature.output_specs:  # changes that `_show` did not see
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
                raise ValueError(f"it changes the buffer '{name}', and the change cannot be converted. {_REMEDY}")
            first.append(value.const_value.numpy())
            records.append({"variable": name, **_deliver(graph, value, source, name)})
        np.savez(folder / "state.npz", *first)
        (folder / "state.json").write_text(json.dumps(records))


def _without_numbers(node: Any) -> None:
    """Replaces Python numbers and strings in the outputs by None; the exporter fails for them."""
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
    """Copies unused buffers that share memory: torch cannot convert changes of a tensor with two names."""
    unread = {node.name for node in program.graph.nodes if node.op == "placeholder" and not node.users}
    shared: dict[int, int] = {}
    for tensor in program.state_dict.values():
        shared[tensor.data_ptr()] = shared.get(tensor.data_ptr(), 0) + 1
    for place, name in program.graph_signature.inputs_to_buffers.items():
        tensor = program.state_dict.get(name)
        if place in unread and tensor is not None and shared[tensor.data_ptr()] > 1:
            program.state_dict[name] = tensor.clone()
