"""Compresses constants in flash (`--compress`). They are decompressed before a kernel reads them, all at once or a few
output channels at a time."""

from mslite.codegen.compress.choose import compressed

__all__ = ["compressed"]
