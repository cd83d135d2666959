"""Errors of a conversion, MindSpore Lite's return codes, and exit statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from mslite.converter.text_shortening import quoted, readable, shortened

if TYPE_CHECKING:
    from mslite.converter.mac_shares import Share
    from mslite.converter.mindir.graph import Module


_MAX_LINES = 1000
"""Unsupported nodes that a message lists."""


class ReturnCode(IntEnum):
    """MindSpore Lite's codes, as printed after `Convert failed. Ret:`."""

    ERROR = -1
    FILE_ERROR = -10
    MEMORY_FAILED = -6
    NOT_SUPPORTED = -7
    GRAPH_FILE_ERROR = -200
    NOT_FIND_OP = -300
    INVALID_OP_ATTRIBUTE = -302
    SHAPE_ERROR = -500
    INPUT_PARAMETER_INVALID = -600


class ExitStatus(IntEnum):
    """Exit status of converter_lite and mslite-codegen."""

    OK = 0
    BAD_INPUT = 1
    WRONG_USAGE = 2
    NOT_CONVERTIBLE = 3
    INTERRUPTED = 130


@dataclass(frozen=True)
class Blocker:
    """A node that prevents the conversion: its name, operator, the reason, and a remedy."""

    node: str
    operator: str
    reason: str
    remedy: str
    attribute: str = ""

    def __str__(self) -> str:
        attribute = f", attribute '{self.attribute}'" if self.attribute else ""
        where = f"{shortened(self.operator)} {quoted(self.node)}{attribute}"
        return readable(f"{where}: {self.reason}. {self.remedy}")

    def shown(self, share: str) -> str:
        """Returns `str(self)` with the node's share of the model's floating-point operations."""
        amount = "share of the FLOPs unknown" if share == "not known" else f"{share} of the known FLOPs"
        return f"{self} ({amount})"


class Blocked(Exception):
    """Raised by the converter of an operator for an unsupported node."""

    def __init__(self, reason: str, remedy: str, attribute: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.attribute = attribute


class UnknownInput(Blocked):
    """Raised for a node with an input of unknown type, shape or value.

    Downstream of an unsupported node this is a consequence, and is not reported.
    """


class ConversionError(Exception):
    """A model that cannot be converted, with all unsupported nodes; `str()` is the text for the user."""

    def __init__(
        self,
        message: str,
        blockers: Sequence[Blocker] = (),
        code: ReturnCode = ReturnCode.ERROR,
        module: Module | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.blockers = tuple(blockers)
        self.code = code
        self.module = module
        """The part of the model that could be read, with stand-ins for the unsupported nodes, for a report."""
        self.shares: Mapping[str, Share] = {}
        """Name of a node -> its share of the model's multiply-accumulates, if they were counted."""

    def __str__(self) -> str:
        lines = [
            blocker.shown(str(self.shares[blocker.node])) if blocker.node in self.shares else str(blocker)
            for blocker in self.blockers[:_MAX_LINES]
        ]
        if len(self.blockers) > _MAX_LINES:
            lines.append(f"and {len(self.blockers) - _MAX_LINES} more")
        return "\n".join([readable(self.message), *(f"  {line}" for line in lines)])


class UsageError(Exception):
    """An invalid command line or configuration: exit status 2."""
