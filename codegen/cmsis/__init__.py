"""Calls of CMSIS-NN in place of mslite's kernels (`--kernelLibrary=cmsis-nn`), where both compute the same bits."""

from mslite.codegen.cmsis.replace import KERNEL_LIBRARY, with_cmsis_nn

__all__ = ["KERNEL_LIBRARY", "with_cmsis_nn"]
