"""Walks a source graph in order and builds the MindIR graph: converters, results, blockers."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.contradictions import contradictions_block
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.naming import OR_PLUGIN, Blocked
from mslite.converter.parsers.stand_in import stand_in

from .call import Call
from .model import ARGUMENT, Ref, SourceNode
from .order import ordered
from .plugin import plugin_converter
from .registry import CALL_BY_NAME, COMPLEX_PASSES, CONVERTERS, ON_COMPLEX, QUANTIZED, Converter
from .scope import Scope
from .session import Skipped

_COMPLEX = (DataType.COMPLEX64, DataType.COMPLEX128)
_PARTS = ("Real", "Imag", "ComplexAbs")
"""Operators that also have converters for values that are complex64 themselves."""


class GraphImporter(Scope):
    """Turns one source graph into nodes of `graph`: a new one, or that of the caller for a function that is inlined."""

    def run(self, results: Sequence[Ref], arguments: Sequence[Value] = ()) -> list[Value | None]:
        """Imports what `results` need and returns their values; None for those that a blocker prevents.

        `arguments` are the values of a function's arguments. Blockers are collected in the session; a damaged graph
        raises ConversionError.
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
            except Skipped:
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
            with contradictions_block():
                result = self._converter(call)(call)
        except Skipped:
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
        is_function = call.operator in self.session.model.functions  # which is called by its name
        if call.operator not in CONVERTERS and call.operator not in ON_COMPLEX and not is_function:
            raise self._unknown(call)
        if call.operator not in COMPLEX_PASSES and not is_function and self._reads_complex(call):
            if call.operator not in ON_COMPLEX:
                raise call.block("the operator is not supported on complex numbers", "Compute with float values")
            return ON_COMPLEX[call.operator]
        if call.operator in CONVERTERS:
            return CONVERTERS[call.operator]
        if is_function:
            return CONVERTERS[CALL_BY_NAME]
        raise self._unknown(call)

    def _reads_complex(self, call: Call) -> bool:
        """Whether an operand is a pair of a real and an imaginary part. Raises Skipped where one is not there."""
        return any(
            value in self.session.pairs or (value.dtype in _COMPLEX and call.operator not in _PARTS)
            for value in call.inputs()
        )

    def _unknown(self, call: Call) -> Blocked:
        if call.operator.startswith(QUANTIZED):
            remedy = "Convert the float model, and let the converter quantize it"
            return call.block("operators on TensorFlow's own quantized types are not supported", remedy)
        if call.operator == "XlaCallModule":
            return call.block(
                "StableHLO inside of a TensorFlow graph is not read", "Export the JAX function to ONNX (jax2onnx)"
            )
        if "String" in call.operator:
            return call.block("the operator is not supported", "Move text processing out of the model")
        return call.block("the operator is not supported", f"Replace it in the model by other operators, {OR_PLUGIN}")

    def bind(self, name: str, results: Sequence[Value], call: Call) -> None:
        """Makes these the outputs of a node, and gives what the node emitted its name."""
        self._results[name] = len(results)
        for position, value in enumerate(results):
            self._values[Ref(name, position)] = value
            if value.producer is not None and id(value.producer) in call.emitted and id(value) not in self._bound:
                self._bound.add(id(value))
                value.name = self.value_name(name if len(results) == 1 else f"{name}_o:{position}")
        if results and results[0].producer is not None and id(results[0].producer) in call.emitted:
            results[0].producer.name = call.name

    # ---- values ----
