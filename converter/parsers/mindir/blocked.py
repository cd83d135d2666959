"""How a converter says that it cannot express a node."""

from __future__ import annotations

from mslite.converter.parsers.naming import Blocked

__all__ = ["Blocked", "Dependent"]


class Dependent(Exception):
    """The node reads the result of one that is already reported."""
