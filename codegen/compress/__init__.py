"""Constants that lie in flash compressed and are unpacked, some output channels at a time, before a kernel reads them
(`--compress`)."""

from mslite.codegen.compress.choose import compressed

__all__ = ["compressed"]
