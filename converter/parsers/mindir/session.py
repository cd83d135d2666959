"""State that all graphs of one conversion share: names, parameters, subgraphs, unsupported nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.naming import Names
from mslite.converter.parsers.protobuf import Message

from .entries import Entry, Failed
from .messages import PRODUCER_VERSION
from .tensors import TensorError, TensorReader


@dataclass
class Session:
    """The state of one conversion."""

    name: str
    model: Message
    reader: TensorReader
    layout: Format
    trains: bool = False
    """Dropout and batch statistics are kept."""
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    graph_index: dict[str, int] = field(default_factory=dict)
    """Name of a subgraph -> its index in `graphs`."""
    primitives: dict[str, Message] = field(default_factory=dict)
    """Primitives that several nodes refer to."""
    parameters: dict[str, Entry] = field(default_factory=dict)
    """Parameters of the main graph; every graph may read them."""
    constants: dict[str, tuple[int, Message]] = field(default_factory=dict)
    """Name of a constant -> index of its graph, its node. Subgraphs may read constants of other graphs."""
    changed: set[str] = field(default_factory=set)
    """Names of parameters that the model writes."""
    produced: set[str] = field(default_factory=set)
    """Names of all inputs and results, of all graphs."""
    _symbols: int = 0

    @property
    def written_by_mslite(self) -> bool:
        """Whether mslite wrote the file: then the names of values are those of the source model."""
        return bool(self.model.producer_version == PRODUCER_VERSION)

    def symbol(self) -> int:
        """Returns a new symbol for a dynamic dimension."""
        self._symbols += 1
        return SYMBOL_LIMIT - self._symbols + 1

    def parameter(self, tensor: Message, name: str) -> Entry:
        """Returns the constant of a parameter; a parameter that cannot be read becomes a blocker."""
        try:
            return self.reader.constant(tensor, name)
        except TensorError as error:
            self.blockers.append(Blocker(name, "parameter", str(error), "Export the model again"))
            return Failed()

    def result_count(self, index: int) -> int:
        """Returns the number of results of a subgraph; 0 if it cannot be derived from the file."""
        seen: set[int] = set()
        while index not in seen:
            seen.add(index)
            proto = self.model.graph if index == 0 else self.model.functions[index - 1]
            if len(proto.output) != 1:
                return len(proto.output)
            node = {each.output[0]: each for each in proto.node if each.output}.get(proto.output[0].name)
            if node is None:
                return 1
            operator = node.op_type.removeprefix("REF::").partition(":")[0]
            if operator in ("MakeTuple", "MakeList"):
                return len(node.input)
            callee = self.graph_index.get(node.op_type.removeprefix("REF::"))
            if callee is None:
                return 1
            index = callee
        return 0
