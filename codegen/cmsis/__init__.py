"""Calls CMSIS-NN instead of mslite's kernels (`--kernelLibrary=cmsis-nn`) if the results are bit-identical."""

from mslite.codegen.cmsis.replace import KERNEL_LIBRARY, with_cmsis_nn

__all__ = ["KERNEL_LIBRARY", "with_cmsis_nn"]
