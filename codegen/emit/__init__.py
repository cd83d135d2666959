"""Writes the C code of a model from its program and memory plan."""

from mslite.codegen.emit.constants import Replaceable, variables_of
from mslite.codegen.emit.core import EmitOptions, emit_cores, for_threads

__all__ = ["EmitOptions", "Replaceable", "emit_cores", "for_threads", "variables_of"]
