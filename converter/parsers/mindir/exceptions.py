"""Exceptions of converters for nodes that they cannot convert."""

from __future__ import annotations

from mslite.converter.parsers.naming import Blocked

__all__ = ["Blocked", "UpstreamUnsupported"]


class UpstreamUnsupported(Exception):
    """The node reads the result of an unsupported node, which is already reported."""
