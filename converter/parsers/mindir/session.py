"""What all graphs of one conversion share: names, parameters, subgraphs, blockers."""

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
    """One conversion."""

    name: str
    model: Message
    reader: TensorReader
    layout: Format
    trains: bool = False
    """Dropout and statistics of the batch stay."""
    graphs: list[Graph] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)
    nodes: Names = field(default_factory=Names)
    values: Names = field(default_factory=Names)
    graph_index: dict[str, int] = field(default_factory=dict)
    """Names of subgraphs -> their number."""
    primitives: dict[str, Message] = field(default_factory=dict)
    """Primitives that several nodes share."""
    parameters: dict[str, Entry] = field(default_factory=dict)
    """Parameters of the main graph, which every graph may read."""
    constants: dict[str, tuple[int, Message]] = field(default_factory=dict)
    """Constant nodes of all graphs, which subgraphs may share -> graph, node."""
    changed: set[str] = field(default_factory=set)
    """Names of parameters that the model changes."""
    produced: set[str] = field(default_factory=set)
    """Names that any graph produces."""
    _symbols: int = 0

    @property
    def own_file(self) -> bool:
        """Written by this converter: the names of values are those of the source."""
        return bool(self.model.producer_version == PRODUCER_VERSION)

    def symbol(self) -> int:
        """A dimension of unknown size."""
        self._symbols += 1
        return SYMBOL_LIMIT - self._symbols + 1

    def parameter(self, tensor: Message, name: str) -> Entry:
        """The constant of a parameter; one that cannot be read becomes a blocker."""
        try:
            return self.reader.constant(tensor, name)
        except TensorError as error:
            self.blockers.append(Blocker(name, "parameter", str(error), "Export the model again"))
            return Failed()

    def result_count(self, index: int) -> int:
        """How many results a subgraph has; 0 when that cannot be told from the file."""
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
