"""Settings of the devices of a context: CPU, GPU and Ascend."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mslite.settings import Settings, checked, choice, integer, integers


class CPU(Settings):
    """Settings of the CPU. Wrong types raise TypeError, wrong values ValueError."""

    _names = (
        "precision_mode",
        "thread_num",
        "inter_op_parallel_num",
        "thread_affinity_mode",
        "thread_affinity_core_list",
        "provider",
    )

    def __init__(self) -> None:
        self._precision_mode = "enforce_fp32"
        self._thread_num = 0
        self._inter_op_parallel_num = 0
        self._thread_affinity_mode = 0
        self._thread_affinity_core_list: list[int] = []
        self._provider = ""

    @property
    def provider(self) -> str:
        """The provider whose registered kernels are preferred to the kernels of this library; "": none."""
        return self._provider

    @provider.setter
    def provider(self, name: str) -> None:
        self._provider = checked("provider", name, str)

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp32" or "preferred_fp16". The latter computes in float16 if the processor supports it."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, mode: str) -> None:
        self._precision_mode = choice("precision_mode", mode, ("enforce_fp32", "preferred_fp16"))

    @property
    def thread_num(self) -> int:
        """Number of threads of one operator; 0: chosen when the model is built."""
        return self._thread_num

    @thread_num.setter
    def thread_num(self, number: int) -> None:
        self._thread_num = integer("thread_num", number)

    @property
    def inter_op_parallel_num(self) -> int:
        """Number of operators that may run at the same time; 0 is the same as 1."""
        return self._inter_op_parallel_num

    @inter_op_parallel_num.setter
    def inter_op_parallel_num(self, number: int) -> None:
        self._inter_op_parallel_num = integer("inter_op_parallel_num", number)

    @property
    def thread_affinity_mode(self) -> int:
        """0: threads are not bound to cores, 1: bound to big cores first, 2: bound to middle cores first."""
        return self._thread_affinity_mode

    @thread_affinity_mode.setter
    def thread_affinity_mode(self, mode: int) -> None:
        if integer("thread_affinity_mode", mode) > 2:
            raise ValueError(f"thread_affinity_mode must be 0, 1 or 2, not {mode}")
        self._thread_affinity_mode = mode

    @property
    def thread_affinity_core_list(self) -> list[int]:
        """The cores that threads may use. It takes precedence over the mode."""
        return list(self._thread_affinity_core_list)

    @thread_affinity_core_list.setter
    def thread_affinity_core_list(self, cores: Sequence[int]) -> None:
        numbers = integers("thread_affinity_core_list", cores)
        limit = os.cpu_count() or 1
        for core in numbers:
            if core >= limit:
                raise ValueError(f"thread_affinity_core_list: core {core} does not exist on this machine")
        self._thread_affinity_core_list = numbers


class GPU(Settings):
    """Settings of a GPU with OpenCL."""

    _names = ("precision_mode", "device_id")

    def __init__(self) -> None:
        self._precision_mode = "enforce_fp32"
        self._device_id = 0

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp32" or "preferred_fp16". The latter stores float tensors as float16 unless they could overflow."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, mode: str) -> None:
        self._precision_mode = choice("precision_mode", mode, ("enforce_fp32", "preferred_fp16"))

    @property
    def device_id(self) -> int:
        """Index of the GPU."""
        return self._device_id

    @device_id.setter
    def device_id(self, number: int) -> None:
        self._device_id = integer("device_id", number)

    @property
    def rank_id(self) -> int:
        """Index of this device in its cluster: 0."""
        return 0

    @property
    def group_size(self) -> int:
        """Number of devices in the cluster: 1."""
        return 1


class Ascend(Settings):
    """Settings of an Ascend processor. They have no effect: this library has no backend for it."""

    _names = ("precision_mode", "device_id", "rank_id", "provider")

    def __init__(self) -> None:
        self._precision_mode = "enforce_fp16"
        self._device_id = 0
        self._rank_id = 0
        self._provider = ""

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp16", "enforce_fp32", "preferred_fp32", "enforce_origin" or "preferred_optimal"."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, mode: str) -> None:
        modes = ("enforce_fp32", "preferred_fp32", "enforce_fp16", "enforce_origin", "preferred_optimal")
        self._precision_mode = choice("precision_mode", mode, modes)

    @property
    def device_id(self) -> int:
        """Index of the processor."""
        return self._device_id

    @device_id.setter
    def device_id(self, number: int) -> None:
        self._device_id = integer("device_id", number)

    @property
    def rank_id(self) -> int:
        """Index of this device in its cluster."""
        return self._rank_id

    @rank_id.setter
    def rank_id(self, number: int) -> None:
        self._rank_id = integer("rank_id", number)

    @property
    def provider(self) -> str:
        """ "" or "ge"."""
        return self._provider

    @provider.setter
    def provider(self, name: str) -> None:
        self._provider = choice("provider", name, ("", "ge"))


__all__ = ["CPU", "GPU", "Ascend"]
