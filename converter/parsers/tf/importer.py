"""Imports a source graph: calls converters in order, binds results, collects unsupported nodes."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.naming import OR_PLUGIN, Blocked
from mslite.converter.parsers.placeholder import stand_in
from mslite.converter.unexpected_errors import unexpected_errors_to_blocked

from .call import Call
from .model import ARGUMENT, Ref, SourceNode
from .plugin import plugin_converter
from .registry import CALL_BY_NAME, COMPLEX_PASSES, CONVERTERS, ON_COMPLEX, QUANTIZED, Converter
from .scope import Scope
from .session import UpstreamFailed
from .topological_order import ordered

_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)
_PARTS = ("Real", "Imag", "ComplexAbs")
"""Operators with converters for complex64 values, in addition to those for pairs."""


class GraphImporter(Scope):
    """Converts a source graph to nodes of `graph`: a new graph, or for an inlined function that of its caller."""

    def run(self, results: Sequence[Ref], arguments: Sequence[Value] = ()) -> list[Value | None]:
        """Imports the nodes that `results` depend on and returns their values; None for results of unsupported nodes.

        `arguments` are the values of a function's arguments. Unsupported nodes are collected in the session. Raises
        ConversionError for a damaged graph.
        """
        for name, value in zip(self.source.arguments, arguments, strict=True):
            self.preset(Ref(name), value)
        order = ordered(self.source, results, self.session.model.name)
        self._reads.update(results, *(node.inputs for node in order))
        for node in order:
            if (
                node.operator not in (ARGUMENT, "Const")
                and node.name not in self._results
                and node.name not in self._failed
            ):
                self._import_node(node)
        values: list[Value | None] = []
        for ref in results:
            try:
                values.append(self.lookup(ref))
            except UpstreamFailed:
                values.append(None)
            except Blocked as blocked:
                self._block(ref.node, blocked)
                values.append(None)
        return values

    def _block(self, name: str, blocked: Blocked) -> None:
        operator = self.source.nodes[name].operator
        self.session.blockers.append(
            Blocker(self.prefix + name, operator, blocked.reason, blocked.remedy, blocked.attribute)
        )

    def _import_node(self, node: SourceNode) -> None:
        call = Call(self, node, self.session.nodes.unique(self.prefix + node.name))
        try:
            with unexpected_errors_to_blocked():
                result = self._converter(call)(call)
        except UpstreamFailed:
            self._stand_in(call)
            return
        except Blocked as blocked:
            self.session.blockers.append(call.blocker(blocked))
            self._stand_in(call)
            return
        self.bind(node.name, (result,) if isinstance(result, Value) else tuple(result), call)

    def _stand_in(self, call: Call) -> None:
        name = call.node.name
        self._failed.add(name)
        known = [self._values.get(ref, self._stood_in.get(ref.node)) for ref in call.node.inputs]
        output = self._stood_in[name] = Value(self.value_name(name), DataType.UNKNOWN)
        stand_in(self.graph, call.operator, call.name, [value for value in known if value is not None], [output])

    def _converter(self, call: Call) -> Converter:
        plugin = plugin_converter(call.operator)
        if plugin is not None:
            return plugin
        is_function = call.operator in self.session.model.functions  # functions may be called by name
        if call.operator not in CONVERTERS and call.operator not in ON_COMPLEX and not is_function:
            raise self._unknown(call)
        if call.operator not in COMPLEX_PASSES and not is_function and self._reads_complex(call):
            if call.operator not in ON_COMPLEX:
                raise call.block("the operator is unsupported for complex numbers", "Compute with float values")
            return ON_COMPLEX[call.operator]
        if call.operator in CONVERTERS:
            return CONVERTERS[call.operator]
        if is_function:
            return CONVERTERS[CALL_BY_NAME]
        raise self._unknown(call)

    def _reads_complex(self, call: Call) -> bool:
        """Returns whether an operand is complex. Raises UpstreamFailed if an operand is missing."""
        return any(
            value in self.session.pairs or (value.dtype in _COMPLEX and call.operator not in _PARTS)
            for value in call.inputs()
        )

    def _unknown(self, call: Call) -> Blocked:
        if call.operator.startswith(QUANTIZED):
            remedy = "Convert the float model, and let the converter quantize it"
            return call.block("operators on TensorFlow's quantized types are unsupported", remedy)
        if call.operator == "XlaCallModule":
            return call.block(
                "StableHLO in a TensorFlow graph is unsupported", "Export the JAX function to ONNX (jax2onnx)"
            )
        if "String" in call.operator:
            return call.block("the operator is unsupported", "Move text processing out of the model")
        return call.block("the operator is unsupported", f"Replace it in the model by other operators, {OR_PLUGIN}")

    def bind(self, name: str, results: Sequence[Value], call: Call) -> None:
        """Binds the outputs of a node, and names the emitted nodes and values after it."""
        self._results[name] = len(results)
        for position, value in enumerate(results):
            self._values[Ref(name, position)] = value
            if value.producer is not None and id(value.producer) in call.emitted and id(value) not in self._bound:
                self._bound.add(id(value))
                value.name = self.value_name(name if len(results) == 1 else f"{name}_o:{position}")
        if results and results[0].producer is not None and id(results[0].producer) in call.emitted:
            results[0].producer.name = call.name

    # ---- values ----
