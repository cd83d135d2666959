"""Makes steps that run on an Arm Ethos-U NPU by calls of Arm's driver (docs/ethosu.md)."""

from mslite.codegen.ethosu.calls import NPU_KERNEL, is_npu_step, npu_call

__all__ = ["NPU_KERNEL", "is_npu_step", "npu_call"]
