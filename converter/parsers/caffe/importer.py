"""Imports the layers in order and builds the MindIR graph; unsupported layers are collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mslite.converter.errors import Blocker
from mslite.converter.input_shapes import unknown_input
from mslite.converter.mindir.graph import Graph, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.emitted_types import Inference
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.placeholder import stand_in
from mslite.converter.unexpected_errors import unexpected_errors_to_blocked

from .call import MAX_DIMENSION, Blob, Call
from .inputs import is_data_layer, layer_inputs
from .plugin import plugin_converter
from .prototxt import Network, SourceLayer, damaged
from .registry import CONVERTERS
from .scope import Scope
from .unsupported import DROPPED, LOSSES, explain
from .weights import Weights

_MADE_FOR_SIZES = frozenset(
    {"Crop", "Interp", "LSTM", "PriorBox", "Proposal", "PSROIPooling", "Reorg", "RNN", "SPP", "Upsample"}
)
"""Layers that are converted to nodes with constants or attributes computed from sizes of bottom blobs."""


class Importer(Scope):
    """Converts one network to a MindIR graph."""

    def __init__(
        self,
        network: Network,
        weights: Weights,
        input_shapes: Mapping[str, Sequence[int]],
        inference: Inference | None = None,
    ) -> None:
        super().__init__(network.name or "main_graph", weights, inference)
        self.network = network
        self.blockers: list[Blocker] = []
        self._stood_in: dict[str, Value] = {}
        """Blobs of failed layers -> the values that replace them in a report."""
        self._input_shapes = dict(input_shapes)
        self._inputs: dict[str, Value] = {}
        self._blobs: dict[str, Blob | None] = {}
        """Name -> blob; None if its layer, or one before it, is unsupported."""
        self._unshaped: dict[str, Blocker] = {}
        """Inputs without a shape -> the blocker that is reported if a layer reads the input."""
        self._available: set[str] = set()
        """Blobs that no layer has read since they were written."""
        self._named: set[int] = set()

    def run(self) -> Graph:
        """Imports the network. Collects unsupported layers; raises ConversionError for a damaged network."""
        layers = self.network.layers
        self._value_names.reserve(
            *(name for name, _ in self.network.inputs), *(top for layer in layers for top in layer.tops)
        )
        for name, shape in self.network.inputs:
            self._declare_input(name, shape, "Set --inputShape", "input")
        for layer in layers:
            self._import_layer(layer)
        unknown = sorted(set(self._input_shapes) - set(self._inputs))
        if unknown and self._inputs:
            raise unknown_input(str(self.network.file), unknown[0], self._inputs)
        for name in sorted(self._available):  # Caffe's order of outputs
            blob = self._blobs[name]
            if blob is not None and blob.mask is not None:
                self.notes.append(f"the mask '{name}' is left out: no layer reads it")
            elif blob is not None and not self._is_unused_input(blob):
                self.graph.outputs.append(self._output(name, blob.value))
        self.graph.inputs = [value for value in self._inputs.values() if self._is_read(value)]
        return self.graph

    def _is_read(self, value: Value) -> bool:
        return bool(value.users) or any(value is output for output in self.graph.outputs)

    def _is_unused_input(self, blob: Blob) -> bool:
        """Returns whether a blob is an input without readers, such as labels that only losses read."""
        return any(blob.value is value for value in self._inputs.values()) and not blob.value.users

    # ---- layers ----

    def _declare_input(self, name: str, shape: Sequence[int] | None, remedy: str, type_: str) -> None:
        if name in self._inputs:
            raise damaged(self.network.file, f"the network has two inputs with the name '{name}'")
        shape = self._input_shapes.get(name, shape)
        value = self._inputs[name] = Value(name, DataType.FLOAT32)
        self._blobs[name] = None
        self._available.add(name)
        if shape is None:
            self.blockers.append(Blocker(name, type_, "the shape of this input is not in the prototxt", remedy))
        elif not shape or any(not 1 <= dim <= MAX_DIMENSION for dim in shape):
            reason = f"the input has the shape {list(shape)}"
            self.blockers.append(Blocker(name, type_, reason, "Set --inputShape; every dimension must be at least 1"))
        else:
            value.shape = tuple(shape)
            self._blobs[name] = Blob(value, value.shape)

    def _import_layer(self, layer: SourceLayer) -> None:
        name = self._node_names.unique(layer.name or (layer.tops[0] if layer.tops else layer.type))
        if is_data_layer(layer):
            self._import_data_layer(layer, name)
            return
        if layer.type in LOSSES and not layer.tops:
            layer = replace(layer, tops=(layer.name or name,))  # as Caffe does
        plugin = plugin_converter(layer.type)
        dropped = DROPPED.get(layer.type) if plugin is None else None
        if dropped is not None:
            self.notes.append(f"{layer.type} '{name}' is left out: {dropped}")
            return
        blobs = self._read(layer, name)
        call = Call(self, layer, name, [blob for blob in blobs if blob is not None])
        results: Sequence[Blob] = ()
        first = len(self.graph.nodes)
        try:
            converter = plugin or CONVERTERS.get(layer.type)
            if converter is None:
                raise explain(call)
            if layer.problem and plugin is None:
                remedy = (
                    "The network is for a fork of Caffe: remove the field, or write the layer in the form of Caffe 1.0"
                )
                raise call.block(layer.problem, remedy)
            if layer.type != "Upsample" and any(blob.mask for blob in call.bottoms):
                raise call.block("it reads the mask of a pooling; only Upsample supports that", "Remove the layer")
            if None not in blobs:
                with unexpected_errors_to_blocked():
                    result = converter(call)
                    results = (result,) if isinstance(result, Blob) else tuple(result)
                    self._check_results(call, results)
                    self.depends_on_input_sizes |= layer.type in _MADE_FOR_SIZES
        except Blocked as blocked:
            self.blockers.append(call.blocker(blocked))
            del self.graph.nodes[first:]
            results = ()
        if not results:
            self._stand_in(layer, name, blobs)
        if results and results[0].value.producer in self.graph.nodes[first:]:
            producer = results[0].value.producer
            assert producer is not None
            producer.name = name
        for index, top in enumerate(layer.tops):
            self._write(top, results[index] if index < len(results) else None, layer, name)

    def _stand_in(self, layer: SourceLayer, name: str, blobs: Sequence[Blob | None]) -> None:
        known = dict(zip(layer.bottoms, blobs, strict=False))
        read = [self._stood_in.get(bottom) or (blob.value if blob else None) for bottom, blob in known.items()]
        outputs = [Value(top, DataType.FLOAT32) for top in layer.tops]
        self._stood_in.update(zip(layer.tops, outputs, strict=True))
        stand_in(self.graph, layer.type, name, [value for value in read if value is not None], outputs)

    def _check_results(self, call: Call, results: Sequence[Blob]) -> None:
        if len(results) < call.top_count:
            raise call.block(f"it has {call.top_count} top blobs; {len(results)} are supported")
        for blob in results:
            if any(not 1 <= dim <= MAX_DIMENSION for dim in blob.shape):
                raise call.block(f"its result would have the shape {list(blob.shape)}")

    def _import_data_layer(self, layer: SourceLayer, name: str) -> None:
        for top, shape, remedy in layer_inputs(layer):
            known = self._input_shapes.get(top, shape)
            if known is None:
                self._inputs[top] = Value(top, DataType.FLOAT32)
                self._blobs[top] = None
                self._unshaped[top] = Blocker(name, layer.type, f"the shape of '{top}' is not in the prototxt", remedy)
                self._available.add(top)
            else:
                self._declare_input(top, known, remedy, layer.type)

    def _read(self, layer: SourceLayer, name: str) -> list[Blob | None]:
        blobs = []
        for bottom in layer.bottoms[:1] if layer.type in LOSSES else layer.bottoms:
            if bottom not in self._blobs and bottom in self._input_shapes:  # its data layer is only for training
                self._declare_input(bottom, None, "", "input")
            if bottom not in self._blobs:
                reason = f"the layer '{name}' reads '{bottom}', which no earlier layer writes"
                remedy = f"Use the prototxt for deployment, or set --inputShape={bottom}:... if it is an input"
                raise damaged(self.network.file, f"{reason}. {remedy}")
            self._available.discard(bottom)
            blobs.append(self._blobs[bottom])
            if bottom in self._unshaped:
                self.blockers.append(self._unshaped.pop(bottom))
        return blobs

    def _write(self, top: str, blob: Blob | None, layer: SourceLayer, name: str) -> None:
        if top in self._blobs and top not in layer.bottoms:
            raise damaged(self.network.file, f"the layer '{name}' writes '{top}', which another layer has written")
        in_place = top in self._blobs
        self._blobs[top] = blob
        self._available.add(top)
        if blob is not None and blob.value.producer is not None and id(blob.value) not in self._named:
            self._named.add(id(blob.value))
            blob.value.name = self._value_names.unique(name) if in_place else top

    # ---- outputs ----

    def _output(self, name: str, value: Value) -> Value:
        if value.producer is None or any(value is other for other in self.graph.outputs):
            kind = self.constant(np.array(int(DataType.FLOAT32), np.int32), name)
            (value,) = self.emit(Cast(), (value, kind), 1)
        for other in self.graph.values():
            if other.name == name and other is not value:  # overwritten in place
                other.name = self._value_names.unique(name)
        value.name = name
        return value
